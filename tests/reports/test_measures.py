"""Reports of several measures."""

from itertools import chain

import numpy as np
import pytest
from tests.reports.test_reports import (
    HOSTILE,
    a_run,
    by_name,
    example,
    summarise,
)

from duramen import Importances, Significance
from duramen.analyses.ranking.report import table_columns

NULL = "The votes do not change."
TRUE = np.array([6.0, 9.0, 0.5, 0.0, 0.0, 1.0, 3.0])  # of the seven hostile names


def an_mda(values=None, names=HOSTILE, **changes):
    values = np.linspace(0.5, -0.1, len(names)) if values is None else values
    options = {"measure": "mda", "unit": "accuracy", **changes}
    return Importances(names=tuple(names), values=values, **options)


def a_test(names=HOSTILE, p_values=None, **changes):
    options = {
        "scores": TRUE[: len(names)],
        "p_values": np.exp(-TRUE[: len(names)]) if p_values is None else p_values,
        "method": "vote_change",
        "null": NULL,
        "metadata": {"n_trees": 1234},
    }
    return Significance(names=tuple(names), **{**options, **changes})


def several(**changes):
    return summarise(example(), a_run(), others=[an_mda(), a_test()], **changes)


def titles(report):
    return [section.title for section in report.walk()]


# --- the table -----------------------------------------------------------------------------------


def test_table_has_a_column_a_measure_and_p_and_q():
    table = several().section("Ranking")
    assert [column.title for column in table.columns] == [
        *("rank", "feature", "MDI, bits", "std. error", "MDA, accuracy"),
        *("J_chi2", "p", "q"),
    ]
    tested = a_test()
    assert table.column("feature") == HOSTILE
    assert table.column("p") == tuple(f"{p:.2g}" for p in tested.p_values)
    assert table.column("q") == tuple(f"{q:.2g}" for q in tested.q_values)
    assert table.column("p") != table.column("q")
    assert [float(cell) for cell in table.column("J_chi2")] == TRUE.tolist()


def test_rows_are_those_of_the_first_measure_whatever_the_order_of_the_others():
    names = ("a", "b", "c", "d")
    first = Importances(names, [1.0, 4.0, 2.0, 3.0], "mdi", "bits")
    other = an_mda(np.array([10.0, 20.0, 30.0, 40.0]), ("d", "c", "b", "a"))
    tested = a_test(("b", "a", "d", "c"), np.array([0.02, 0.01, 0.04, 0.03]))
    table = summarise(first, a_run(), others=[other, tested]).section("Ranking")
    assert table.column("feature") == ("b", "d", "c", "a")
    assert [float(cell) for cell in table.column("MDA, accuracy")] == [30, 10, 20, 40]
    assert table.column("p") == ("0.02", "0.04", "0.03", "0.01")
    parts = chain(*table_columns(by_name(first, other, tested)))
    columns = {column.name: column.values for column in parts}
    assert columns["name"] == ["b", "d", "c", "a"]
    assert columns["mda"].tolist() == [30, 10, 20, 40]
    assert columns["vote_change_p_value"].tolist() == [0.02, 0.04, 0.03, 0.01]


def test_other_features_are_refused():
    with pytest.raises(ValueError, match="features"):
        summarise(example(), a_run(), others=[an_mda(names=HOSTILE[:5])])
    with pytest.raises(ValueError, match="lacks 'x'"):
        table_columns(
            by_name(Importances(("x", "y"), [1, 2], "mdi", "bits"), an_mda(names=("y", "z")))
        )


# --- words ---------------------------------------------------------------------------------------


def test_headline_counts_what_is_significant():
    results = dict(several().headline)
    n = int((a_test().q_values <= 0.05).sum())
    assert 0 < n < len(HOSTILE)
    assert results["with q up to 0.05 by J_chi2"] == str(n)
    alone = dict(summarise(example(), a_run()).headline)
    assert not any("q up to" in name for name in alone)


# --- charts ------------------------------------------------------------------------------------


def test_a_test_can_rank():
    report = summarise(a_test(), a_run(), others=[an_mda()])
    assert report.section("Ranking").column("feature")[0] == HOSTILE[1]
    lengths = [bar.length for bar in report.section("Ranking").columns[2].drawn()]
    assert lengths == (np.sort(TRUE)[::-1] / 9).tolist()
    assert "By interaction degree" not in titles(report)
