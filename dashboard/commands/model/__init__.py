"""Communication models: ``colltune model``."""
