"""
Two populations
===============

Simulated variants, none of which has an effect. The first five are markers of a population in which
the disease is more frequent: if rows are permuted freely, their adjusted p-values are small; within
populations they are not.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import duramen as dm

random = np.random.default_rng(0)
population = np.repeat([0, 1], 200)
ill = random.random(400) < np.where(population == 0, 0.25, 0.75)
frequency = random.uniform(0.1, 0.5, 12) + np.zeros((2, 1))
frequency[1, :5] += 0.35
snps = pd.DataFrame(
    random.binomial(2, frequency[population]), columns=[f"marker {j}" for j in range(12)]
)
forest = dm.RandomForestClassifier(50)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for label, strata, marker in (
    ("permuted freely", None, "o"),
    ("within populations", population, "x"),
):
    test = dm.significance.max_t(
        forest, snps, ill, n_permutations=39, max_stages=1, strata=strata, random_state=0
    )
    adjusted = dict(zip(test.names, test.p_adjusted, strict=True))
    ax.scatter([adjusted[name] for name in snps], snps.columns, marker=marker, label=label)
ax.axvline(0.05, color="black", linestyle="--", linewidth=1)
ax.invert_yaxis()
ax.set_xlabel("adjusted p-value")
ax.legend()
