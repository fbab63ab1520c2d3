"""Measuring: ``colltune bench``."""
