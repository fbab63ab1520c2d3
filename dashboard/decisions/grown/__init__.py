"""The ways of deciding: families of trees, and how each is grown."""
