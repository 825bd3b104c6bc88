"""Documents translated unit by unit: their codes and placeholders are carried over and verified."""
