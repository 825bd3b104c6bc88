"""The Transformer. It knows tensors, not text, files or search."""
