"""
All patients
============

Local MDI of all patients of the breast cancer set: a point a patient, colored by the value of the
feature, blue where it is low.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
forest = dm.RandomForestClassifier(200, criterion="entropy", random_state=0).fit(
    data.data, data.target
)
local = dm.importances.local_mdi(forest, data.data, data.target)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.beeswarm(local, k=10, X=data.data, ax=ax)
