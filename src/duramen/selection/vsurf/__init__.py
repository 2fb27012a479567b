"""VSURF: thresholding, interpretation and prediction."""
