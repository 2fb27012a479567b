"""Command `duramen compare`."""
