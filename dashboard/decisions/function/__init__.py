"""The decision function: its pieces, attributes and saved form, and what is made of it without measurements."""
