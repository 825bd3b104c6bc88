"""Pages for people: what a model does, as one HTML file that needs nothing beside it."""
