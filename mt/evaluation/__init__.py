"""Scores of translations that others can reproduce."""
