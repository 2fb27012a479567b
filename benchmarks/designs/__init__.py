"""Simulated data sets that several benchmarks use."""
