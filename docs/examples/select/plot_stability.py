"""
Stability of selections
=======================

Agreement, corrected for chance, of the features that two rankings of the breast cancer set select
on different rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
result = dm.evaluate_selection(
    ["mdi", "mda"],
    data.data,
    data.target,
    n_features=[1, 2, 4, 8, 16],
    n_resamples=6,
    estimator=dm.RandomForestClassifier(30),
    learner="logistic_regression",
    random_state=0,
)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.selection_curves(result, "stability", ax=ax)
