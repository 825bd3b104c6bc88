"""Text that a model makes, for another model to learn from: made once, whatever ends the work."""
