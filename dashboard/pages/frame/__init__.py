"""What stands around the pages."""
