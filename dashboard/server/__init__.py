"""Who reaches the server and what they may do there: listening addresses, log-in, permissions, headers, logs."""

__all__ = ["access", "login", "memory", "patches", "permission", "quiet", "reach", "warming"]
