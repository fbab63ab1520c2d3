"""The decision function: its pieces, attributes and saved form, and what is made of it without measurements."""

__all__ = ["attributes", "cutting", "decision", "flat", "improve", "nodes", "saved", "statistics", "text"]
