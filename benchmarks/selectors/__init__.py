"""Selectors: error rates, power, stability, and time beside peers."""
