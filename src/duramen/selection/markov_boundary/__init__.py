"""Markov boundaries of small categorical tables, and FOCUS."""
