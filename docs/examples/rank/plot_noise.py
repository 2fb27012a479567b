"""
Nothing to find
===============

Max-T where the classes of the wine set are shuffled: the verdict of every column is noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
shuffled = np.random.default_rng(0).permutation(data.target)
forest = dm.RandomForestClassifier(50)
test = dm.significance.max_t(forest, data.data, shuffled, n_permutations=39, random_state=0)
print(set(test.verdicts()))
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(test, ax=ax)
