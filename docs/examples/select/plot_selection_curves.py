"""
How many features are enough
============================

Accuracy on held-out rows against the number of features, by two rankings of the breast cancer set.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
result = dm.evaluate_selection(
    ["mdi", "mda"],
    data.data,
    data.target,
    n_features=[1, 2, 4, 8, 16, 30],
    n_resamples=4,
    estimator=dm.RandomForestClassifier(30),
    learner="logistic_regression",
    random_state=0,
)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.selection_curves(result, ax=ax)
