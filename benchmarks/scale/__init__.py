"""Time and memory on large tables."""
