"""Online tuning: ``colltune online``."""
