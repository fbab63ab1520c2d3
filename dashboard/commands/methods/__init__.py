"""Methods and their schedules: ``colltune methods``."""
