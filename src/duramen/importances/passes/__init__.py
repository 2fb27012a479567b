"""Walks over trees that several measures share."""
