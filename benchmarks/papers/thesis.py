"""Sutera (2019), thesis."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import duramen as dm
from benchmarks.papers.entries import Entry, Value, row

DEGREES = [f"degree {k}" for k in range(7)]
TABLE_5_1 = {
    "X1": "0.103 0.085 0.068 0.053 0.042 0.033 0.029 0.413",
    "X2": "0.139 0.126 0.105 0.082 0.060 0.042 0.029 0.582",
    "X3": "0.103 0.091 0.081 0.073 0.066 0.061 0.057 0.531",
    "X4": "0.126 0.114 0.097 0.077 0.058 0.042 0.029 0.542",
    "X5": "0.139 0.123 0.106 0.090 0.076 0.065 0.057 0.657",
    "X6": "0.067 0.056 0.043 0.031 0.020 0.010 0.000 0.226",
    "X7": "0.126 0.098 0.070 0.045 0.025 0.010 0.000 0.372",
    "sum": "0.802 0.692 0.568 0.450 0.347 0.262 0.200 3.322",
}
TABLE_6_3 = {
    "Imp": "0.5727 0.7514 0.5528 0.687 0.1746 0.0753 0.1073 0.0",
    "Imp(.|0)": "0.4127 0.5815 0.5312 0.5421 0.6566 0.2258 0.372 0.0",
    "Imp(.|1)": "0.6243 0.8057 0.5577 0.7343 0.0 0.0 0.0 0.0",
    "Imp^|0|": "0.2263 0.2431 0.1181 0.2241 0.4139 0.1961 0.2861 0.0",
    "Imp^|1|": "0.0987 0.0611 0.021 0.0736 0.1746 0.0753 0.1073 0.0",
    "Imp_s^0": "0.2179 0.2422 0.1111 0.2190 -0.3839 -0.1389 -0.2346 0.0",
    "Imp_s^1": "-0.0516 -0.0543 -0.0049 -0.0473 0.1746 0.0753 0.1073 0.0",
}
# Imp, Imp(.|xc) twice, Imp^|xc| twice, Imp_s twice; context 0 is female.
TABLE_6_E_1 = {
    "age": "0.2958 0.3386 0.2885 0.1382 0.1505 -0.0095 -0.0156",
    "histologic-type": "0.3522 0.1389 0.4366 0.2087 0.114 0.1988 -0.0569",
    "degree-of-diffe": "0.4413 0.4175 0.4208 0.1653 0.158 0.0561 0.0157",
    "bone": "0.2429 0.2502 0.2367 0.0933 0.0755 -0.0043 0.0165",
    "bone-marrow": "0.0192 0.0201 0.0148 0.0126 0.0101 0.0009 0.0041",
    "lung": "0.1627 0.2059 0.1370 0.1038 0.0949 -0.0259 0.0172",
    "pleura": "0.1485 0.1496 0.1015 0.0590 0.09 0.0313 0.0234",
    "peritoneum": "0.3184 0.3459 0.1979 0.0861 0.138 0.0147 0.0956",
    "liver": "0.2285 0.2138 0.2630 0.0786 0.1279 0.0375 -0.0602",
    "brain": "0.0465 0.0349 0.0548 0.0378 0.0254 0.0114 -0.0104",
    "skin": "0.0677 0.0362 0.0923 0.0314 0.0403 0.0252 -0.0133",
    "neck": "0.2215 0.0690 0.2582 0.1466 0.0692 0.1316 -0.0081",
    "supraclavicular": "0.1676 0.1915 0.1448 0.0845 0.067 -0.0198 0.0269",
    "axillar": "0.1393 0.1457 0.1068 0.0655 0.0629 -0.0067 0.0447",
    "mediastinum": "0.1838 0.2050 0.1716 0.1016 0.0806 -0.0059 0.0140",
    "abdominal": "0.2553 0.3296 0.1372 0.1346 0.1379 -0.0330 0.0898",
}
CUT = {"bone": "0.2430"}  # the one importance that is cut, and how it would be rounded


def degrees() -> Iterator[Value]:
    """Table 5.1."""
    importances = dm.theory.population_importances(dm.theory.examples.digits7())
    table = np.vstack([importances.by_degree, importances.by_degree.sum(axis=0)])
    table = np.column_stack([table, table.sum(axis=1)])
    for (name, printed), ours in zip(TABLE_5_1.items(), table, strict=True):
        yield from row(name, printed, ours, [*DEGREES, "sum"])


def example_5_1() -> list[Value]:
    """Three importances at alpha = .8."""
    importances = dm.theory.population_importances(dm.theory.examples.example_5_1(0.8))
    printed, right = ["0.296", "0.296", "0.408"], ["0.323", "0.323", "0.354"]
    pairs = zip(importances.names, importances.values, printed, right, strict=True)
    return [
        Value(name, text, float(ours), erratum="tables-and-examples", corrected=correct)
        for name, ours, text, correct in pairs
    ]


def example_5_2() -> list[Value]:
    """A feature of three values and its indicator, multiway and binary."""
    example = dm.theory.examples.example_5_2()
    multiway = dm.theory.population_importances(example)
    binary = dm.theory.population_importances(example, splits="ordered")
    return [
        *row("multiway", "0.459 0.459", multiway.values, multiway.names),
        *row("binary", "0.376 0.542", binary.values, binary.names),
    ]


def problem_2() -> Iterator[Value]:
    """Table 6.3, where cells without rows of the context count as 0."""
    effects = dm.theory.population_context_importances(dm.theory.examples.problem_2(), empty="zero")
    table = [effects.importances, *effects.within, *effects.absolute, *effects.signed]
    for (name, printed), ours in zip(TABLE_6_3.items(), table, strict=True):
        yield from row(name, printed, ours, effects.names)


def primary_tumor() -> Iterator[Value]:
    """Table 6.E.1, where cells without rows of the context are left out."""
    tumor = dm.datasets.load_primary_tumor()
    findings = tumor.X.to_pandas()
    complete = findings.notna().all(axis=1).to_numpy()
    patients = dm.theory.FiniteDistribution.from_table(
        findings[complete].drop(columns="sex"), tumor.y[complete], context=findings[complete]["sex"]
    )
    effects = dm.theory.population_context_importances(patients)
    labels = ["Imp", "Imp(.|0)", "Imp(.|1)", "Imp^|0|", "Imp^|1|", "Imp_s^0", "Imp_s^1"]
    table = np.vstack([effects.importances, effects.within, effects.absolute, effects.signed]).T
    for (name, printed), ours in zip(TABLE_6_E_1.items(), table, strict=True):
        for value in row(name, printed, ours, labels):
            if value.what == f"{name}, Imp" and name in CUT:
                yield Value(
                    value.what, value.printed, value.ours, erratum="context", corrected=CUT[name]
                )
            else:
                yield value


ENTRIES = (
    Entry("thesis-table-5-1", "Importances by interaction degree", "Table 5.1", degrees),
    Entry("thesis-example-5-1", "A noisy copy of an exclusive or", "Example 5.1", example_5_1),
    Entry("thesis-example-5-2", "Multiway and binary splits", "Example 5.2", example_5_2),
    Entry("thesis-table-6-3", "Effects of a context, problem 2", "Table 6.3", problem_2),
    Entry("thesis-table-6-e-1", "Effects of sex, primary tumor", "Table 6.E.1", primary_tumor),
)
