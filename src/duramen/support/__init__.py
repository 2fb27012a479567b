"""Foundations of all packages: argument checks, arrays, threads, signals, files, provenance."""
