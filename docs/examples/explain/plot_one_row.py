"""
One patient
===========

Local MDI: which measurements of one patient of the breast cancer set took how many bits from the
uncertainty about the class.
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
dm.plots.waterfall(local, row=0, ax=ax)
