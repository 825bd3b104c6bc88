"""From files to batches: reading, cleaning, holding out, storing, sampling."""
