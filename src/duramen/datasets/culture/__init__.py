"""Simulated cultures of neurons with known wiring, seen through calcium imaging."""
