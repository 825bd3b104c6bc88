"""What a hypothesis may and must hold: forbidden tokens, forced prefixes, required phrases."""
