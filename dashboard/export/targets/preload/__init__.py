"""A library to preload that decides every call."""
