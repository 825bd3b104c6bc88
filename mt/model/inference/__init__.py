"""The models of `mt.model`, arranged for search: the same weights, fused and with KV caches."""
