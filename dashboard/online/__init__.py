"""Online tuning: learning which methods to take from the programs that users run anyway."""
