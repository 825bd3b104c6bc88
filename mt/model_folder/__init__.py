"""The model folder: what is in it, its card, the scores on it, averages of weights, lines seen."""
