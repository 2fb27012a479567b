"""Importance measures that refit the forests of an estimator."""
