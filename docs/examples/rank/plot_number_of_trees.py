"""
Out-of-bag error and trees
==========================

The error of a forest on rows that its trees did not see, after 1, 2, ... trees.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
forest = dm.RandomForestClassifier(200, oob_score=True, random_state=0)
forest.fit(data.data, data.target)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.oob_error(forest.oob_error_curve_, ax=ax)
