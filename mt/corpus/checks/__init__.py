"""The corpus doctor: what is wrong with a corpus, how often, where, and what to do about it."""
