"""What stands around the pages."""

__all__ = ["connection", "first", "share", "views"]
