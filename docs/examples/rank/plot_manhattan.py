"""
Variants along the genome
=========================

Importances of simulated variants on three chromosomes. The trait depends on one of them; variants
that are linked with it stand beside the peak.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import duramen as dm

random = np.random.default_rng(0)
blocks = np.repeat(random.binomial(2, 0.4, (400, 30)), 4, axis=1)  # 30 blocks of four variants
redrawn = random.random(blocks.shape) < 0.05
snps = np.where(redrawn, random.binomial(2, 0.4, blocks.shape), blocks)
trait = snps[:, 42] + random.normal(size=400)
places = pd.DataFrame(
    {
        "name": [f"rs{j}" for j in range(120)],
        "chromosome": [str(1 + j // 40) for j in range(120)],
        "position": [10_000 * (1 + j % 40) for j in range(120)],
    }
)
table = pd.DataFrame(snps, columns=places["name"])
forest = dm.RandomForestRegressor(200, random_state=0).fit(table, trait)
_, ax = plt.subplots(figsize=(8, 5), layout="constrained")
dm.plots.manhattan(dm.importances.mdi(forest), places, ax=ax)
