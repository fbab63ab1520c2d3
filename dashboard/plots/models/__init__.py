"""Plots of communication models."""
