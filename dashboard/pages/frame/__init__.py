"""What stands around the pages."""

__all__ = ["connection", "first", "follow", "look", "permalink", "share", "views", "weighed"]
