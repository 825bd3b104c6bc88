"""Translation: lines in, lines out, by a model from a folder."""
