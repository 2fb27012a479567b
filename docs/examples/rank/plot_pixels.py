"""
Pixels of digits
================

Importances of the 64 pixels of handwritten digits, as an image. The corners are empty in every
digit.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import duramen as dm

X, y = load_digits(return_X_y=True)
forest = dm.RandomForestClassifier(100, criterion="entropy", random_state=0).fit(X, y)
image = plt.imshow(dm.importances.mdi(forest).values.reshape(8, 8))
plt.colorbar(image, label="importance (bits)")
