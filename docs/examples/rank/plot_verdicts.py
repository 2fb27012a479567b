"""
Confirmed by a permutation test
===============================

Max-T grows forests on permuted labels, and confirms features with a family-wise error rate of .05.
Ten columns of noise are added to the wine set: none is confirmed. Features are in the order of the
verdicts and p-values.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import duramen as dm

data = load_wine(as_frame=True)
random = np.random.default_rng(0)
X = data.data.assign(**{f"noise {j}": random.normal(size=len(data.data)) for j in range(10)})
forest = dm.RandomForestClassifier(50)
test = dm.significance.max_t(
    forest, X, data.target, n_permutations=39, max_stages=1, random_state=0
)
print(dict(zip(test.names, test.verdicts(), strict=True)))
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(test, k=23, ax=ax)
