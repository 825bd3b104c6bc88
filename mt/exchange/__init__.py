"""Conversion: model folders in the forms of other programs."""
