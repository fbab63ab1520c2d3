"""Who reaches the server and what they may do there: addresses, log-in, permissions, headers; what comes first."""

__all__ = ["access", "login", "memory", "patches", "permission", "quiet", "reach", "template", "warming"]
