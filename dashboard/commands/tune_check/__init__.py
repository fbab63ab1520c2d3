"""Rules on the running library: ``colltune tune-check``."""
