"""What decisions cost, in sample and held out, and against each other."""
