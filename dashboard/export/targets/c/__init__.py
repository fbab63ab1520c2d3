"""C99: nested ifs or tables, with header and self-test."""
