"""C99: nested ifs or tables, with header and self-test."""

__all__ = ["header", "selftest", "text"]
