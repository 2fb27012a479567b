"""Finite distributions: how they are made, specified and asked."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts import extracts
from tests.contracts.inputs import N, classes, mixed, mixed_target, numbers, uniform
from tests.contracts.registry import case

from duramen import theory
from duramen.theory import examples
from duramen.theory.distributions import specification

Distribution = theory.FiniteDistribution

for name in examples.__all__:
    case(
        f"theory.examples/{name}",
        getattr(examples, name),
        Distribution,
        make=getattr(examples, name),
    )(lambda make: extracts.distribution(make()))
for name, options in (
    ("digits7", {"first_in_four": True}),
    ("chain", {"r": 4}),
    ("noisy_copy", {"flip": 0.2}),
):
    case(
        f"theory.examples/{name} with options",
        getattr(examples, name),
        make=getattr(examples, name),
        options=options,
    )(lambda make, options: extracts.distribution(make(**options)))


def empirical(context: bool = False, y: Any = None) -> Any:
    """Rows of four small columns, taken for all there is."""
    X = (uniform(N, 4, seed=2) * 3).astype(int)
    y = (X[:, 0] + X[:, 1] * (X[:, 2] > 1)) % 3 if y is None else y
    options = np.where(X[:, 3] > 0, "in", "out") if context else None
    return Distribution.from_table(X[:, : 3 if context else 4], y, context=options)


@case("FiniteDistribution/from_table", Distribution)
@case("FiniteDistribution/from_table with a context", Distribution, context=True)
@case("FiniteDistribution/from_table of numbers", Distribution, y=numbers().round(0))
def _from_table(**options: Any) -> Any:
    return extracts.distribution(empirical(**options))


@case("FiniteDistribution/from_table, data frame and weights", Distribution)
def _from_frame() -> Any:
    weights = 1.0 + np.arange(N) % 3
    frame = mixed()[["color", "count", "flag"]]
    return extracts.distribution(Distribution.from_table(frame, mixed_target(), weights=weights))


def _given() -> Any:
    probabilities = np.arange(1.0, 13).reshape(2, 3, 2) / 78
    return Distribution.from_probabilities(probabilities, names=["u", "v", "Y"])


@case("FiniteDistribution/from_probabilities", Distribution)
def _from_probabilities() -> Any:
    return extracts.distribution(_given())


@case("FiniteDistribution/information", Distribution, theory.TARGET, theory.CONTEXT)
def _information() -> Any:
    dist = empirical(context=True)
    return (
        dist.entropy(),
        dist.entropy(theory.TARGET, [0, 1]),
        dist.entropy(theory.CONTEXT, unit="nats"),
        dist.mutual_information(0),
        dist.mutual_information([0, 1], given=2),
        dist.mutual_information(0, other=theory.CONTEXT),
        dist.multivariate_information(0, 1, theory.TARGET),
        dist.impurity(criterion="gini"),
        dist.impurity_decrease(0, criterion="gini"),
        dist.cardinalities,
        dist.probabilities([0, 1]),
        dist.n_contexts,
        dist.values(0).tolist(),
    )


@case("FiniteDistribution/derived", Distribution)
def _derived() -> Any:
    dist = empirical(context=True)
    value = str(dist.context_values[0])
    return (
        extracts.distribution(dist.marginal([0, 2])),
        extracts.distribution(dist.conditioned({theory.CONTEXT: value})),
        extracts.distribution(dist.conditioned({0: 1})),
    )


@case("FiniteDistribution/sample", Distribution, theory.distributions.Sample)
def _sample() -> Any:
    drawn = empirical(context=True).sample(30, 3)
    return (np.asarray(drawn.X).tolist(), drawn.y.tolist(), [str(text) for text in drawn.context])


@case("FiniteDistribution/save and load", Distribution)
def _kept() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        _given().save(Path(folder) / "dist.npz")
        again = Distribution.load(Path(folder) / "dist.npz")
    return (extracts.distribution(again), again.equals(_given()))


@case("FiniteDistribution/from_codes", Distribution)
def _from_codes() -> Any:
    made = Distribution.from_codes(
        codes=[np.array([0, 1, 1, 0], np.uint32), np.array([0, 0, 1, 1], np.uint32)],
        target=np.array([0, 1, 1, 0], np.uint32),
        weights=np.full(4, 0.25),
        names=("u", "v"),
        labels=[np.array([0, 1]), np.array(["a", "b"])],
        classes=np.array(["no", "yes"]),
        target_name="Y",
    )
    return extracts.distribution(made)


@case("specify", *(getattr(specification, name) for name in specification.__all__))
def _specified() -> Any:
    s = specification
    made = theory.specify(
        {
            "a": s.uniform(3),
            "b": s.bernoulli(0.25),
            "c": s.categorical({"u": 0.5, "v": 0.3, "w": 0.2}),
            "d": s.copy("a", 0.9),
            "e": s.function(lambda a, b: a * b, "a", "b"),
            "f": s.table({0: {0: 0.5, 1: 0.5}, 1: {0: 0.1, 1: 0.9}}, "b"),
            "hid": s.bernoulli(0.5),
            "Y": s.xor("b", "hid"),
        },
        hidden=["hid"],
    )
    return extracts.distribution(made)


@case("discretize/quantile", theory.distributions.Discretized, n_bins=3)
@case("discretize/uniform", method="uniform", n_bins=4)
@case("discretize/mdl", method="mdl", y=classes())
def _discretized(y: Any = None, **options: Any) -> Any:
    X = uniform(N, 5)
    result = theory.discretize(X, y, **options)
    return (
        [np.asarray(column) for column in result.columns],
        [[str(column) for column in labels] for labels in result.labels],
        dict(result.cuts),
        result.names,
    )
