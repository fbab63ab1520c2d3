"""Export targets, one module or folder each."""
