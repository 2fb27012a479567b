"""Artificial contrasts with ensembles: features that exceed permuted copies in many forests."""
