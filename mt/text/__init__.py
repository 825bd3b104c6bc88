"""From text to token ids and back. It knows neither files nor models."""
