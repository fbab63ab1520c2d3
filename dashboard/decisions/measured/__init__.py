"""What is decided on: maps, problems and cases, and what is known of the times in them."""
