"""Search over a step model. It knows token ids and scores, not the model's insides nor text."""
