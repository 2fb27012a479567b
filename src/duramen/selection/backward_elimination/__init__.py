"""Backward elimination: the least important features are dropped as long as errors allow."""
