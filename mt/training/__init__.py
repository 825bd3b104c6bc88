"""Training: from a token store to weights. It knows neither search nor scores nor consoles."""
