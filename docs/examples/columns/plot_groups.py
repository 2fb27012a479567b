"""
Importances of groups
=====================

The breast cancer set has ten measurements of cell nuclei, each as mean, standard error and worst
value. Added up by measurement, MDI says which measurement matters, whichever of its three forms.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import duramen as dm

data = load_breast_cancer(as_frame=True)
forest = dm.RandomForestClassifier(300, random_state=0).fit(data.data, data.target)
words = ("mean ", "worst ", " error")
groups = list(data.data.columns)
for word in words:
    groups = [name.replace(word, "") for name in groups]
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.ranking(dm.importances.group(dm.importances.mdi(forest), groups), ax=ax)
