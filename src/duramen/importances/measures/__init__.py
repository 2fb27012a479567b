"""Importance measures, one a file: of fitted forests, and of forests that a measure refits."""
