"""Draws ranking.png, the picture of the README: the leukemia set's first genes."""

from pathlib import Path

from matplotlib.figure import Figure

import duramen as dm

leukemia = dm.datasets.load_leukemia()
table = dm.encode(leukemia.X, names=leukemia.names)
forest = dm.RandomForestClassifier(1000, criterion="entropy", random_state=0)
importances = dm.importances.mdi(forest.fit(table, leukemia.y), by_degree=True)
figure = Figure(figsize=(9, 4.2), dpi=110, layout="constrained")
left, right = figure.subplots(1, 2)
dm.plots.ranking(importances, k=12, ax=left)
dm.plots.by_degree(importances, k=12, ax=right)
best = importances.top(12)
numbers = {name: f"{value:.6g}" for name, value in zip(best.names, best.values, strict=True)}

if __name__ == "__main__":
    file = Path(__file__).with_name("ranking.png")
    figure.savefig(file, metadata={"Description": f"{numbers}"})
