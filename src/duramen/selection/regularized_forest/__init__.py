"""Regularized forests: features used for the first time must gain more than others."""
