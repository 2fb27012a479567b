"""Tests of a feature given all others: samplers, cross-fitted forests, the tests themselves."""
