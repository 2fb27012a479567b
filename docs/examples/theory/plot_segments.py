"""
A display of seven segments, exactly
====================================

Importances of infinitely many totally randomized trees for the segments of a digit (Louppe et al.
2013), by interaction degree: numbers of a formula, without a sample.
"""

import matplotlib.pyplot as plt

import duramen as dm

digits = dm.datasets.digits7()
population = dm.theory.FiniteDistribution.from_table(digits.X, digits.y, names=digits.names)
importances = dm.theory.population_importances(population)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.by_degree(importances, ax=ax)
