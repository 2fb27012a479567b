"""Draws direct.png: which features of the primary tumor set are direct, by `dm.rank`."""

from pathlib import Path

import duramen as dm

data = dm.datasets.load_primary_tumor()
report = dm.rank(data.X, data.y, test=False, direct=True, random_state=0)
print(report.direct)
ax = dm.plots.direct_features(report.direct, clusters=report.direct_clusters, k=17)
ax.figure.savefig(Path(__file__).parent / "direct.png", dpi=120)
