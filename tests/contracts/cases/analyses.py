"""The analyses of the commands as functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.contracts.inputs import estimator, jobs, table, target
from tests.contracts.registry import case

import duramen as dm


def _plain(report: Any) -> Any:
    """The numbers of a report, without times."""
    columns = {
        name: np.nan_to_num(values, nan=-1.0) if values.dtype.kind == "f" else values.tolist()
        for name, values in report.columns().items()
        if name not in ("seconds", "direction")
    }
    command = report.run.command.replace(f"n_jobs={jobs()}", "n_jobs=None")
    return columns, report.references, command


def _ranked(**options: Any) -> Any:
    report = dm.rank(
        table(),
        target("classification"),
        n_jobs=jobs(),
        **{"estimator": dm.RandomForestClassifier(10, criterion="entropy"), **options},
    )
    return _plain(report), report.verdicts, report.selected


for label, options in (
    ("default", {}),
    ("rows", {"test": False, "explain": [3, 4]}),
    ("no test", {"test": False, "measure": ("mda", "mdi")}),
    ("a forest", {"estimator": estimator("classification"), "test": "altmann"}),
    (
        "feature groups, clusters",
        {"feature_groups": {"g": ["a", "b"]}, "clusters": 0.3, "test": False},
    ),
):
    case(f"rank/{label}", dm.RankingReport, **options)(_ranked)


@case("select/default", dm.SelectionReport)
def _selected() -> Any:
    return _plain(dm.select(table(), target("classification"), n_jobs=jobs(), random_state=2))


@case("compare/default", dm.compare, dm.ComparisonReport)
def _compared() -> Any:
    report = dm.compare(
        table(), target("classification"), n_estimators=4, n_resamples=3, n_features=[1, 2]
    )
    return _plain(report)


@case("read/frame")
def _read() -> Any:
    data = dm.read(table(), target("classification"))
    return data.fingerprint, data.names, [str(one) for one in data.provenance.findings]


@case("exact/report", dm.ExactReport)
def _exact() -> Any:
    report = dm.exact(table(), target("classification"), n_bins=2, max_depth=2, max_degree=1)
    return _plain(report)


@case("context/report", dm.ContextReport)
def _context() -> Any:
    context = {"place": np.arange(len(target("classification"))) % 2}
    options = {"n_estimators": 10, "n_permutations": 9, "n_jobs": jobs(), "random_state": 2}
    return _plain(dm.context(table(), target("classification"), context, **options))


@case("plan/report", dm.PlanReport)
def _planned() -> Any:
    return _plain(dm.plan(n_rows=200, n_features=1000, memory=64_000, relevant={0: 3, 1: 2}))


@case("network/report", dm.NetworkReport)
def _network() -> Any:
    options = {"n_estimators": 4, "n_permutations": 2, "gold": [("a", "b")], "n_jobs": jobs()}
    report = dm.network(table(), **options)
    return _plain(report), report.scores.auroc


@case("connectome/report", dm.ConnectomeReport)
def _connectome() -> Any:
    from tests.contracts.cases.networks import _calcium

    gold = [("N1", "N2"), ("N4", "N3")]
    options = {"gold": gold, "positions": np.eye(6)[:, :2], "n_jobs": jobs()}
    report = dm.connectome(_calcium(), method="pearson", **options)
    return report.scores.auroc, report.ceiling.auroc, report.references


@case("AnalysisInterrupted")
def _interrupted() -> Any:
    forest = dm.RandomForestClassifier(3, criterion="entropy")
    report = dm.rank(table(), target("classification"), estimator=forest, test=False)
    return _plain(dm.AnalysisInterrupted(report).report)
