"""mt: train, run and score neural machine translation from one command line."""

__version__ = "0.1.0"
