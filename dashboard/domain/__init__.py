"""What all rooms speak of: options, errors of choices; light enough for a command's help."""

__all__ = ["adaptive", "arrays", "campaign", "errors", "jobs", "models", "options", "tuning", "units", "unmeasured"]
