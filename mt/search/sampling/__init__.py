"""Drawing translations at random: temperature, top-k, top-p, and reproducible random numbers."""
