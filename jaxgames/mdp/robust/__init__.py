"""Interval models: nature chooses probabilities between bounds, for or against us."""
