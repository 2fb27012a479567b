"""
p-values of many genes
======================

Where no gene is associated with the class, p-values are spread evenly; here many are small. 2000
genes of the leukemia set, by the test of Janitza et al. (2018), which needs one forest.
"""

import matplotlib.pyplot as plt

import duramen as dm

leukemia = dm.datasets.load_leukemia()
forest = dm.ExtraTreesClassifier(500, random_state=0)
test = dm.significance.janitza(dm.importances.air(forest, leukemia.X[:, :2000], leukemia.y))
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.p_values(test, ax=ax)
