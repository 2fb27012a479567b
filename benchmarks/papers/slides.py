"""Geurts (2016), slides on random subspaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

import duramen as dm
from benchmarks.papers.entries import Claim, Entry, Scale, Value, row
from benchmarks.srs.madelon import LEARN, SUBSPACE, problem, staged
from benchmarks.srs.model import sample
from duramen.forests import GrowthSettings
from duramen.selection.subspace_search import DecoyTest, Evidence, Grower, among_found, stream
from duramen.theory.subspaces import (
    blind_probability,
    companions_probability,
    random_conditionings,
    simulate,
)
from duramen.theory.subspaces.convergence import kept_places

TREES = {
    "ET": dm.ExtraTreesClassifier(max_features=None),
    "DT": dm.RandomForestClassifier(bootstrap=False, max_features=None),
}
FEATURES = (500, 1500, 3000, 5500)
KEEP = 0.5
EXCEPTION = "explanation/experiments/srs.md#the-probe-of-the-slides"


def relevance() -> list[Value]:
    """Importances of an exclusive or and a noisy copy of the target."""
    noisy = dm.theory.examples.noisy_copy(0.05)
    importances = dm.theory.population_importances(noisy)
    information = noisy.mutual_information
    return [
        *row("", "0.262 0.262 0.476", importances.values, importances.names),
        Value("I(Y;X3)", "0.714", information("X3")),
        Value("I(Y;X3|X1)", "0.714", information("X3", given=["X1"])),
        Value("I(Y;X1|X2,X3)", "0.286", information("X1", given=["X2", "X3"])),
    ]


def draws() -> list[Value]:
    """Trees that hold a feature of degree 1 with its companion; trees without relevant features."""
    together = companions_probability(10_000, 50, degree=1)
    return [
        Value("probability of both, in units of 1e-5", "2.5", together * 1e5, "rounded"),
        Value("trees to find it", "40812", 1 / together),
        Value("trees without any of 10, in %", "95", 100 * blind_probability(10_000, 50, 10)),
    ]


def approximations() -> Iterator[Claim]:
    """Formulas for the numbers of trees until all k features are found."""
    p, q = 10_000, 100
    formulas: dict[tuple[Literal["chain", "clique"], int], Callable[[int], float]] = {
        ("chain", 0): lambda k: (p / q) ** k,
        ("chain", 1): lambda k: k * p / q,
        ("clique", 0): lambda k: k * (np.log(k) + 1) * (p / q) ** k,
        ("clique", 1): lambda k: (p / q) ** k,
    }
    for (scenario, keep), formula in formulas.items():
        for k in range(2, 6):
            exact = dm.theory.expected_trees(
                scenario, n_features=p, subspace=q, n_relevant=k, keep=keep
            )
            name = f"{scenario}, {('RS', 'SRS')[keep]}, k = {k}, |exact / formula - 1|"
            yield Claim(name, abs(exact / formula(k) - 1), "<", 0.15)


# --- the mixed setting ----------------------------------------------------------------------------


def mixed(scale: Scale) -> Any:
    """Numbers of features found among 500, 20 of them relevant, with degrees up to 5."""
    conditionings = random_conditionings(20, max_degree=5, random_state=3)
    n_trees = scale.of(40, 1000)
    result = []
    for q in (25, 50):
        for fraction in (0.0, 0.25, 0.5, 0.75, 1.0):
            for keep in (0, 1):
                curve = simulate(
                    conditionings,
                    n_features=500,
                    subspace=q,
                    keep=keep,
                    n_trees=n_trees,
                    max_features=max(1, int(fraction * q)),
                    n_repeats=scale.of(2, 50, 500),
                    random_state=0,
                ).curve
                every = curve[:: n_trees // 20]
                numbers = [round(float(number), 3) for number in every]
                result.append({"q": q, "K": fraction, "alpha": keep, "found": numbers})
    return {"trees": n_trees, "rows": result}


def mixed_values(result: Any) -> Iterator[Claim]:
    """Keeping features helps, and more places do."""
    ends = {(line["q"], line["K"], line["alpha"]): line["found"][-1] for line in result["rows"]}
    for (q, K, alpha), number in ends.items():
        if alpha:
            gain = number - ends[q, K, 0]
            yield Claim(f"found by SRS less RS, q = {q}, K = {candidates(K)}", gain, ">", 0)
    for K in (0.25, 0.5, 0.75, 1.0):
        gain = ends[50, K, 1] - ends[25, K, 1]
        yield Claim(f"found by SRS with q = 50 less q = 25, K = {candidates(K)}", gain, ">", 0)


def candidates(fraction: float) -> str:
    """Return the words for a number of candidates."""
    return {0.0: "1", 1.0: "q"}.get(fraction, f"{fraction:g} q")


def draw_mixed(figure: Any, result: Any) -> None:
    """Draw the number of features found against the number of trees."""
    at = np.linspace(0, result["trees"], 21)
    for panel, q in zip(figure.subplots(1, 2, sharey=True), (25, 50), strict=True):
        for line in result["rows"]:
            if line["q"] == q:
                color = f"C{round(4 * line['K'])}"
                name = f"K = {candidates(line['K'])}" if line["alpha"] else None
                panel.plot(
                    at, line["found"], "-" if line["alpha"] else ":", color=color, label=name
                )
        panel.set(title=f"q = {q}", xlabel="trees")
        panel.set_ylabel("found (dotted: RS)")
    panel.legend(frameon=False, fontsize=8)


# --- Madelon --------------------------------------------------------------------------------------


def madelon(scale: Scale) -> Any:
    """Area under the precision-recall curve and accuracy by the probe of the slides."""
    path = str(scale.data / "madelon" / "data.parquet")
    result = []
    for p in scale.of((500,), FEATURES):
        iterations = scale.of(40, 2000 if p > 1500 else 1000, 10_000)
        for split in range(scale.of(1, 1, 50)):
            X, y, relevant = problem(path, split, p)
            table, other = X[:LEARN], X
            for kind, tree in TREES.items():
                for keep in (0.0, KEEP):
                    model = dm.SequentialRandomSubspace(
                        tree,
                        n_estimators=iterations,
                        n_subspace_features=SUBSPACE,
                        keep=keep,
                        relevance="probe",
                        min_draws=5,
                        random_state=split,
                        n_jobs=scale.n_jobs,
                    ).fit(table, y[:LEARN])
                    line = staged(model, other, y, relevant, iterations // 20)
                    line["auprc"] = [round(area, 4) for area in line["auprc"]]
                    line["accuracy"] = [round(part, 4) for part in line["accuracy"]]
                    setting = {"p": p, "tree": kind, "alpha": keep, "split": split}
                    result.append({**setting, "iterations": iterations, **line})
    return result


def averaged(result: Any) -> dict[tuple[int, str, float], dict[str, Any]]:
    """Return the means over splits."""
    groups: dict[tuple[int, str, float], list[Any]] = {}
    for line in result:
        groups.setdefault((line["p"], line["tree"], line["alpha"]), []).append(line)
    return {
        key: {
            "iterations": lines[0]["iterations"],
            **{
                what: np.mean([line[what] for line in lines], axis=0)
                for what in ("auprc", "accuracy")
            },
        }
        for key, lines in groups.items()
    }


def madelon_values(result: Any) -> Iterator[Claim]:
    """SRS is more accurate than RS; the same statement about AUPRC does not hold."""
    means = averaged(result)
    gains: dict[str, dict[tuple[int, str], float]] = {"auprc": {}, "accuracy": {}}
    for (p, tree, alpha), line in means.items():
        if alpha:
            for what, gain in gains.items():
                gain[p, tree] = float(line[what][-1] - means[p, tree, 0.0][what][-1])
    for (p, tree), gain in gains["accuracy"].items():
        yield Claim(f"accuracy of SRS less RS, p = {p:,}, {tree}", gain, ">", 0)
    areas = gains["auprc"]
    mean = float(np.mean(list(areas.values())))
    yield Claim("AUPRC of SRS less RS, mean over p and trees", mean, ">", 0, EXCEPTION)
    by_size = [np.mean([areas[p, tree] for tree in TREES]) for p in sorted({p for p, _ in areas})]
    half = len(by_size) // 2
    growth = float(np.mean(by_size[half:]) - np.mean(by_size[:half])) if half else 0.0
    yield Claim("the same, p >= 3000 less p <= 1500", growth, ">", 0)


def draw_madelon(figure: Any, result: Any) -> None:
    """Draw both against iterations."""
    means = averaged(result)
    sizes = sorted({p for p, _, _ in means})
    panels = figure.subplots(2, len(sizes), sharey="row", sharex="col", squeeze=False)
    for (p, tree, alpha), line in means.items():
        at = np.arange(1, 21) * line["iterations"] // 20
        for k, what in enumerate(("auprc", "accuracy")):
            panel = panels[k, sizes.index(p)]
            style = {"color": "C0" if tree == "ET" else "C1", "linestyle": "-" if alpha else ":"}
            panel.plot(at, line[what], label=f"{tree}, {'SRS' if alpha else 'RS'}", **style)
            panel.set_ylabel(what if p == sizes[0] else "")
        panels[0, sizes.index(p)].set_title(f"p = {p:,}", fontsize=9)
    panels[0, 0].legend(frameon=False, fontsize=7)


# --- adapting alpha and K -------------------------------------------------------------------------

# alpha, or K as a fraction of q, that an adaptive search chooses from, the first one at first.
LEVELS = (1.0, 0.5, 0.1)
STALLED = 25  # trees without a new feature, after which the next level is used
# Rules for alpha and K; "cycle" and "bandit" choose from LEVELS.
RULES: dict[str, tuple[float | str, float | str]] = {
    "alpha = 0": (0.0, 1.0),
    "alpha = .1": (0.1, 1.0),
    "alpha = .5": (0.5, 1.0),
    "alpha = 1": (1.0, 1.0),
    "alpha = .5, K = .5 q": (0.5, 0.5),
    "alpha = .5, K = .1 q": (0.5, 0.1),
    "alpha by cycle": ("cycle", 1.0),
    "alpha by bandit": ("bandit", 1.0),
    "alpha = .5, K by cycle": (0.5, "cycle"),
    "alpha = .5, K by bandit": (0.5, "bandit"),
}
FIXED, ADAPTIVE = tuple(RULES)[:6], tuple(RULES)[6:]


def adaptive_problem(name: str, draw: int) -> tuple[Any, Any, Any]:
    """Return features, classes, and which features are relevant."""
    if name == "chain":
        X, y = sample("chain", 200, 3, 1000, draw)
        return X, y, np.arange(200) < 3
    data = dm.datasets.madelon_like(1000, random_state=draw)
    return data.X, data.y, np.isin(data.names, data.relevant)


class Choice:
    """Rule for a parameter of the next tree."""

    def __init__(self, rule: float | str, random: np.random.Generator) -> None:
        self._rule, self._random = rule, random
        self._trees, self._successes = np.zeros((2, len(LEVELS)))
        self._level = 0

    def value(self, stalled: int) -> float:
        """Return the value for the next tree, after `stalled` trees without a new feature."""
        if not isinstance(self._rule, str):
            return self._rule
        if self._rule == "cycle":
            self._level = stalled // STALLED % len(LEVELS)
        else:  # Thompson sampling: probability that a tree brings a new feature
            failures = self._trees - self._successes
            chances = self._random.beta(1 + self._successes, 1 + failures)
            self._level = int(chances.argmax())
        return LEVELS[self._level]

    def learn(self, success: bool) -> None:
        """Take note of whether the tree brought a new feature."""
        self._trees[self._level] += 1
        self._successes[self._level] += success


def adaptive_search(
    X: Any, y: Any, q: int, n_trees: int, rules: tuple[float | str, float | str], seed: int
) -> Any:
    """Return the features found after each tree, a boolean array of shape (T, p)."""
    data = dm.learning_set(X, y, task="classification")
    p = data.n_columns
    growers = {}
    for K in (max(1, round(level * q)) for level in LEVELS):
        settings = GrowthSettings(criterion="gini", cut="random", max_features=K)
        growers[K] = Grower(data, settings, 0, True, seed)
    alpha, fraction = (Choice(rule, stream(seed, number, 4)) for number, rule in enumerate(rules))
    test, evidence = DecoyTest(0.05), Evidence(p)
    member, newest, course = np.zeros(p, dtype=np.bool_), 0, []
    for tree in range(n_trees):
        places = kept_places(q, alpha.value(tree - newest))
        K = max(1, round(fraction.value(tree - newest) * q))
        columns = among_found(stream(seed, tree, 0), np.flatnonzero(member), p, q, places)
        evidence.add(growers[K].grow(tree, columns, member[columns]), member)
        new = test.passes(evidence) & ~member
        for choice in (alpha, fraction):
            choice.learn(bool(new.any()))
        newest = tree + 1 if new.any() else newest
        member = member | new
        course.append(member)
    return np.array(course)


def adaptation(scale: Scale) -> Any:
    """Features found by searches with fixed and adaptive alpha and K."""
    result = []
    for name, q, n_trees in (("Madelon-like", 25, 600), ("chain", 40, 240)):
        for draw in range(scale.of(1, 5, 50)):
            X, y, relevant = adaptive_problem(name, draw)
            for rule, rules in RULES.items():
                course = adaptive_search(X, y, q, scale.of(30, n_trees), rules, draw)
                line = {
                    "problem": name,
                    "rule": rule,
                    "mean": float(course[:, relevant].sum(axis=1).mean()),
                    "relevant": int(course[-1, relevant].sum()),
                    "irrelevant": int(course[-1, ~relevant].sum()),
                }
                result.append(line)
    return result


def means_by_rule(result: Any) -> dict[str, dict[str, list[float]]]:
    """Return by problem and rule the mean number found over the trees of each search."""
    means: dict[str, dict[str, list[float]]] = {}
    for line in result:
        means.setdefault(line["problem"], {}).setdefault(line["rule"], []).append(line["mean"])
    return means


def adaptation_values(result: Any) -> Iterator[Claim]:
    """No adaptive rule is clearly better than the best fixed one."""
    for name, means in means_by_rule(result).items():
        best = max(FIXED, key=lambda rule: float(np.mean(means[rule])))
        for rule in ADAPTIVE:
            gain = float(np.mean(means[rule]) - np.mean(means[best]))
            yield Claim(f"{name}: {rule}, less {best}", gain, "<", 0.5)
        false = [
            line["irrelevant"] / max(1, line["relevant"] + line["irrelevant"])
            for line in result
            if line["problem"] == name
        ]
        yield Claim(f"{name}: mean false discovery proportion", float(np.mean(false)), "<", 0.05)


def draw_adaptation(figure: Any, result: Any) -> None:
    """Draw the mean number found by each rule, with its standard error over data sets."""
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (name, means) in zip(panels, means_by_rule(result).items(), strict=True):
        for place, (rule, numbers) in enumerate(means.items()):
            error = np.std(numbers, ddof=1) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
            color = "C0" if rule in FIXED else "C1"
            panel.errorbar(np.mean(numbers), place, xerr=error, fmt="o", color=color)
        panel.set_yticks(range(len(means)), list(means))
        panel.set(title=name, xlabel="relevant features found, mean over trees")
    panels[0].invert_yaxis()


ENTRIES = (
    Entry(
        "slides-relevance",
        "Strong and weak relevance",
        "slides on relevance",
        relevance,
        lines=("slides", 540, 540),
    ),
    Entry(
        "slides-draws",
        "Random subspaces of 50 of 10,000 features",
        "slides on RS",
        draws,
        lines=("slides", 365, 373),
    ),
    Entry(
        "slides-convergence",
        "Approximate numbers of trees of chains and cliques",
        "slides on convergence",
        approximations,
        exact=False,
        note=(
            "Ratio of the exact number to the formula of the slides, which are for k far below q: "
            "p = 10,000, q = 100, k = 2 to 5. About equal is read as within 15 %."
        ),
    ),
    Entry(
        "slides-mixed",
        "Features found in a mixed setting",
        "slides, simulations in a mixed setting",
        mixed_values,
        exact=False,
        compute=mixed,
        draw=draw_mixed,
        note="One set of conditionings, alpha = 1 against 0, 50 ensembles, 500 with `--full`.",
    ),
    Entry(
        "slides-madelon",
        "Madelon with more and more noise, one probe",
        "slides, experiments",
        madelon_values,
        exact=False,
        compute=madelon,
        draw=draw_madelon,
        figure=(10.0, 5.0),
        note=(
            "q = K = 50, L = 5, beta = 95 %; ET have random cuts, DT the best ones. The slides "
            "print no alpha; .5 is used. One split and 1000 iterations, 2000 for p >= 3000; with "
            "`--full`, 50 splits and 10,000 iterations."
        ),
        needs=("madelon",),
    ),
    Entry(
        "slides-adaptation",
        "Adapting alpha and K during a search",
        "slides, future works",
        adaptation_values,
        exact=False,
        compute=adaptation,
        draw=draw_adaptation,
        note=(
            "The slides ask for rules that adapt alpha and K, and print no values. The number of "
            "relevant features found so far, averaged over the trees of a search, is compared with "
            "the best of six fixed settings; a gain of half a feature would be clear. A cycle uses "
            "1, .5 and .1 in turn (alpha, or K as a fraction of q), the next value after 25 trees "
            "without a new feature, and returns to 1 with a new one. A bandit draws the value by "
            "Thompson sampling of the probability that a tree brings a new feature. Decoy test at "
            "level .05, Extra-Trees, K = q unless stated; 5 data sets, 50 with `--full`. "
            "Madelon-like: 1000 rows, 500 features, 20 of them relevant, q = 25, 600 trees. Chain: "
            "1000 rows, 200 features, 3 of them relevant, q = 40, 240 trees; any alpha from .1 "
            "keeps all three, so that rules for alpha cannot differ there. No rule is clearly "
            "better than the best fixed setting, and rules for K are worse than K = q on "
            "Madelon-like data. `dm.SequentialRandomSubspace` therefore keeps both fixed."
        ),
    ),
)
