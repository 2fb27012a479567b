"""The tests of significance that `duramen rank` offers: what each needs, costs and is told."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from duramen.cli.console import note
from duramen.cli.measures import Given, MeasureName

if TYPE_CHECKING:
    from duramen.cli.request import Request
    from duramen.reports.significance import Verdict
    from duramen.significance.cost import Cost

_RECORDED_ELSEWHERE = (
    *("method", "measure", "estimator", "parameters", "data", "versions"),
    *("features", "ranking"),
)

# A run that is expected to take longer, in seconds, is announced.
_LONG = 3.0
# Of a test that nobody asked for, seconds after which it is said how to do without.
_TOO_LONG = 60.0


class SignificanceName(StrEnum):
    """Names of methods on the command line."""

    max_t = "max-t"
    altmann = "altmann"
    janitza = "janitza"
    mprobes = "mprobes"
    one_probe = "one-probe"
    cer = "cer"
    fdr = "fdr"
    frequency = "frequency"
    hapfelmeier = "hapfelmeier"
    mr_test = "mr-test"


DEFAULT_TEST = SignificanceName.max_t

_GROWN = (
    MeasureName.mdi,
    MeasureName.mda,
    MeasureName.conditional_mda,
    MeasureName.frequency,
    MeasureName.minimal_depth,
    MeasureName.noising,
    MeasureName.holdout_mda,
    MeasureName.air,
    MeasureName.sandri,
)
_OF_ANY_SIGN = (MeasureName.holdout_mda, MeasureName.air, MeasureName.sandri)


@dataclass(frozen=True)
class Method:
    """What a method needs and costs.

    Parameters
    ----------
    function : str
        Its function, and the module that this is in.
    repeats : str
        The parameter that says how many forests, or rounds of them, there are; "" for none.
    forests : callable
        Number of forests that it grows at the most, from that number and the number of features.
    measures : tuple of MeasureName
        What it can test; the first where the user names none of them.
    least : int
        The fewest rounds that can show anything.
    announces : bool
        Whether it tells its cost itself, where it shows how far it is.
    most_trees : int or None
        The most trees of a forest that it grows; None for those of the ranking.
    """

    function: str
    repeats: str = "n_permutations"
    forests: Callable[[int, int], int] = lambda rounds, p: rounds + 1
    measures: tuple[MeasureName, ...] = _GROWN
    least: int = 1
    announces: bool = False
    most_trees: int | None = None

    def load(self) -> Callable[..., Any]:
        """Return the function."""
        module = import_module(f"duramen.significance.{self.function}")
        function: Callable[..., Any] = getattr(module, self.function)
        return function

    def takes(self, parameter: str) -> bool:
        """Tell whether the function has a parameter."""
        return parameter in inspect.signature(self.load()).parameters

    def rounds(self, asked: int | None) -> int:
        """Return how many rounds there are: those asked for, or the method's default."""
        if asked is not None:
            return asked
        return int(inspect.signature(self.load()).parameters[self.repeats].default)


_MR_RUNS = 20

METHODS: dict[SignificanceName, Method] = {
    SignificanceName.max_t: Method("max_t", least=19, most_trees=500),
    SignificanceName.altmann: Method("altmann"),
    SignificanceName.janitza: Method("janitza", repeats="", measures=_OF_ANY_SIGN),
    SignificanceName.mprobes: Method("multiple_probes", "n_runs", lambda rounds, p: rounds),
    SignificanceName.one_probe: Method("one_probe", "n_runs", lambda rounds, p: rounds),
    SignificanceName.cer: Method(
        "conditional_error_rate", forests=lambda rounds, p: rounds * p, least=19, announces=True
    ),
    SignificanceName.fdr: Method("fdr_curve"),
    SignificanceName.frequency: Method("frequency_control", measures=(MeasureName.frequency,)),
    SignificanceName.hapfelmeier: Method(
        "hapfelmeier", forests=lambda rounds, p: rounds * p, announces=True
    ),
    SignificanceName.mr_test: Method(
        "mean_rank_test", forests=lambda rounds, p: _MR_RUNS * (rounds + 1)
    ),
}


def run_test(request: Request, measure: MeasureName, scores: Any, given: Given) -> Verdict:
    """Test a measure.

    Parameters
    ----------
    request : Request
        What the user asked for.
    measure : MeasureName
        What is tested.
    scores : Importances
        That measure of the forest that was grown.
    given : Given
        The forest, the rows, the seed.

    Raises
    ------
    ValueError, MemoryError
        If it cannot be tested on these rows, or the checkpoint is of another run.
    """
    from duramen.reports.significance import Verdict

    function, method = request.method.load(), request.method
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not method.repeats:
            result = function(scores)
        else:
            choices = _choices(request, measure, given)
            result = function(
                _forest(method, given),
                given.data,
                **choices,
                random_state=given.seed,
                n_jobs=given.jobs,
                checkpoint=request.checkpoint,
                verbose=int(given.verbose),
            )
    said = [" ".join(str(warning.message).split()) for warning in caught]
    noted = [f"{result.method}: {one}" for one in result.notes]  # some were warnings as well
    told = tuple(dict.fromkeys((*said, *_too_few(result), *noted)))
    if request.groups is None:
        return Verdict(result, measure.function, told)
    told = (*told, _about_groups(result))
    return Verdict(request.groups.spread(result), measure.function, told)


def announce(request: Request, measure: MeasureName, given: Given) -> None:
    """Say on standard error what the test will take, if that is more than a few seconds."""
    method = request.method
    if not method.repeats or (method.announces and given.verbose):
        return
    choices = _choices(request, measure, given)
    if choices.get("null") == "binomial":
        return
    from duramen.significance.cost import estimate_cost

    cost: Cost = estimate_cost(
        _forest(method, given),
        given.data,
        None,
        method.forests(method.rounds(request.permutations), request.n_tested(given.data.n_columns)),
        measure=measure.function,
        n_jobs=given.jobs,
    )
    if cost.seconds > _LONG:
        most = "at most " if method.announces or "stop_after" in request.choices else ""
        skip = "; --no-test skips it" if request.default and cost.seconds > _TOO_LONG else ""
        note(f"{request.name.value} of {measure.value}: {most}{cost}{skip}")


def _forest(method: Method, given: Given) -> Any:
    """Return the estimator that a method grows: the ranking's, with fewer trees if need be."""
    estimator = given.unfitted()
    if method.most_trees is not None:
        trees = min(method.most_trees, estimator.n_estimators)
        estimator.set_params(n_estimators=trees)
    return estimator


def settings_of(tested: Verdict) -> dict[str, Any]:
    """Return what the test was told, for the record."""
    from duramen.results.adjusted_significance import AdjustedSignificance

    result = tested.result
    known = result.metadata["janitza"] if result.method == "janitza" else result.metadata
    own = {name: value for name, value in known.items() if name not in _RECORDED_ELSEWHERE}
    if isinstance(result, AdjustedSignificance):
        own = {"n_estimators": int(known["parameters"]["n_estimators"]), **own}
    return {"method": result.method, "measure": tested.measure, **own}


def figures_of(tested: Verdict) -> dict[str, Any]:
    """Return what was tested and how many features are selected, for the record."""
    from duramen.reports.measures import LEVEL
    from duramen.results.adjusted_significance import AdjustedSignificance
    from duramen.results.significance import Significance

    result, selected, notes = tested.result, len(tested.selected()), list(tested.notes)
    said: dict[str, Any]
    if isinstance(result, AdjustedSignificance):
        said = {"null": result.null, "level": LEVEL, **tested.n_by_verdict()}
    elif isinstance(result, Significance):
        said = {"null": result.null, f"features_with_q_up_to_{LEVEL:g}": selected}
    else:
        said = {"meaning": result.meaning, f"features_with_error_rate_up_to_{LEVEL:g}": selected}
    return {**said, "notes": notes}


def _choices(request: Request, measure: MeasureName, given: Given) -> dict[str, Any]:
    """Return what the method is told beside the rows and the seed."""
    method = request.method
    of_rows = ("strata", "blocks")  # columns that the learning set holds
    choices = {name: one for name, one in request.choices.items() if name not in of_rows}
    if request.groups is not None:
        choices["groups"] = request.groups.members()
    if request.permutations is not None:
        choices[method.repeats] = request.permutations
    if request.name is not SignificanceName.frequency:
        return {"measure": measure.function, **choices}
    settings = given.estimator.forest_.settings
    one = settings.cut == "pert" or settings.max_features == 1
    asked = request.permutations is not None or request.checkpoint is not None
    unasked = (
        one
        and not settings.column_samples
        and not asked
        and not given.data.exchangeability.restricted
    )
    return {"null": "binomial" if unasked else "permuted", **choices}


def _too_few(result: Any) -> list[str]:
    """Say so where there are too few permutations for any feature to be selected."""
    from duramen.reports.measures import LEVEL
    from duramen.results.adjusted_significance import AdjustedSignificance

    if isinstance(result, AdjustedSignificance):  # as likely for one of many features as of few
        return []
    rounds, p = result.metadata.get("n_permutations"), len(result)
    q_values = getattr(result, "q_values", None)
    if rounds is None or q_values is None or (q_values <= LEVEL).any():
        return []
    if "fitted" in result.details:
        return []
    if p <= LEVEL * (rounds + 1):
        return []
    least = 1 / (rounds + 1)
    return [
        f"{result.method}: with {rounds:,} permutations no p-value is below {least:.2g}, which is "
        f"too large for a single feature of {p:,} to have q up to {LEVEL:g}; with "
        f"--permutations {round(p / LEVEL)} it could; fdr and mprobes need fewer"
    ]


def _about_groups(result: Any) -> str:
    """Say that error rates are of groups, and which of them are selected."""
    from duramen.reports.measures import LEVEL

    chosen = [name for name, rate in result if rate <= LEVEL]
    listed = f": {', '.join(chosen[:10])}{', ...' if len(chosen) > 10 else ''}" if chosen else ""
    return (
        f"{result.method}: rates are of {len(result):,} groups, by the {result.metadata['how']} of "
        f"their importances, and each feature has that of its group; {len(chosen):,} of the groups "
        f"have a rate up to {LEVEL:g}{listed}"
    )
