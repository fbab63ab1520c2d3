"""Who reaches the server and what they may do there: listening addresses, log-in, permissions, headers, logs."""
