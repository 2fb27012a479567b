"""Results depend neither on threads, nor on an interruption and the run that resumes from it."""

from functools import partial
from inspect import signature
from itertools import count

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from tests.significance.noise import Interrupted, signal

import duramen as dm
from duramen.jobs import replicates

X, Y = signal()
FOREST = dm.RandomForestClassifier(5, random_state=0)
STUMPS = dm.ExtraTreesClassifier(5, max_features=2, max_depth=2)
CALLS = {
    name: partial(getattr(dm.significance, name), FOREST, n_permutations=4)
    for name in (
        *("altmann", "hapfelmeier", "fdr_curve", "permuted_importances"),
        *("one_probe", "multiple_probes", "forest_probe_ranking"),
    )
}


def of_forest(X, y, seed):
    """Importances of a clone, as threads share FOREST."""
    return dm.importances.mdi(clone(FOREST).set_params(random_state=seed).fit(X, y))


for call_name, estimator, options in (
    ("max_t", FOREST, {"n_permutations": 19, "alpha": 0.2}),
    ("conditional_error_rate", FOREST, {"n_permutations": 19}),
    ("frequency_control", STUMPS, {"n_permutations": 4}),
    ("mean_rank_test", FOREST, {"n_resamples": 2, "n_permutations": 3}),
    ("permutation_test", of_forest, {"n_permutations": 4}),
    ("confidence_intervals", FOREST, {"n_resamples": 4}),
    ("confidence_intervals, doubly", FOREST, {"method": "double-bootstrap", "n_resamples": 4}),
    ("ranking_stability", FOREST, {"k": 2, "n_resamples": 4}),
    ("conditional", FOREST, {"n_folds": 2}),
    ("conditional, loco", FOREST, {"method": "loco", "n_folds": 2}),
    ("knockoffs", FOREST, {"n_draws": 4, "alpha": 0.5}),
):
    function = getattr(dm.significance, call_name.partition(",")[0])
    CALLS[call_name] = partial(function, estimator, **options)


def content(value):
    """All that a result holds, as something that can be compared."""
    if issparse(value):
        return content(value.toarray())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: content(part) for name, part in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {name: content(getattr(value, name)) for name in value.__dataclass_fields__}
    return repr(value)


@pytest.mark.filterwarnings("ignore:.*rows are in the bag of every tree", "ignore:knockoffs")
@pytest.mark.filterwarnings("ignore:conditional")
@pytest.mark.parametrize("name", CALLS)
def test_threads_and_resumption_give_the_same(name, tmp_path, monkeypatch):
    call = partial(CALLS[name], X=X, y=Y, random_state=0)
    whole, path = content(call(n_jobs=1)), tmp_path / "kept"
    assert content(call(n_jobs=2)) == whole
    calls, seed_of = count(), replicates.replicate_seed

    def interrupting(seed, number):
        if next(calls) == 3:
            raise Interrupted
        return seed_of(seed, number)

    with monkeypatch.context() as patched:
        patched.setattr(replicates, "replicate_seed", interrupting)
        with pytest.raises(Interrupted):
            call(checkpoint=path)
    assert path.exists()
    assert content(call(checkpoint=path)) == whole
    with pytest.raises(ValueError, match="another run"):
        CALLS[name](X=X[:, ::-1], y=Y, random_state=0, checkpoint=path)


SELECTING = [name for name in CALLS if not name.startswith(("permuted", "confid", "rank"))]


@pytest.mark.filterwarnings("ignore:.*rows are in the bag of every tree", "ignore:knockoffs")
@pytest.mark.filterwarnings("ignore:conditional")
@pytest.mark.parametrize("name", SELECTING)
def test_features_that_are_all_alike_are_not_selected(name):
    result = CALLS[name](X=np.ones((30, 4)), y=np.arange(30) % 2, random_state=0)
    assert result.selected() == ()
    if hasattr(result, "names"):
        chances = result.rates if hasattr(result, "rates") else result.p_values
        np.testing.assert_array_equal(chances, 1)
        assert result.names == ("x0", "x1", "x2", "x3")


WRONG = {
    "estimator": 3,
    "measure": "gini",
    **dict.fromkeys(("n_permutations", "n_resamples", "n_draws", "n_jobs"), 0),
    **dict.fromkeys(("add_one", "balanced", "marginal", "correction"), 1),
    **dict.fromkeys(("alpha", "stop_at", "confidence_level"), 2),
    **dict.fromkeys(("max_stages", "n_folds", "k"), 0),
    **dict.fromkeys(("distribution", "null", "how", "rank_based", "method", "kind"), "none"),
    **dict.fromkeys(("strata", "groups"), (1,)),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_are_named(name):
    function, call = CALLS[name].func, CALLS[name].keywords
    parameters = list(signature(function).parameters)
    arguments = {parameters[0]: CALLS[name].args[0], "X": X, "y": Y, **call}
    for parameter in WRONG.keys() & set(parameters):
        with pytest.raises((ValueError, TypeError), match=f"{function.__name__}: {parameter}"):
            function(**{**arguments, parameter: WRONG[parameter]})
