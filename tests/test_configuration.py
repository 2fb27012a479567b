"""Options of presentation: each has an effect, and none on the numbers of results."""

import asyncio
import threading

import numpy as np
import pytest

import duramen as dm
from duramen.configuration import shows_progress
from duramen.support import checks

RESULT = dm.Importances(tuple(map(str, range(30))), np.arange(30.0), "mdi", "bits")
DEFAULTS = {"display": "html", "max_rows": None, "n_jobs": None, "progress": "auto"}


@pytest.fixture(autouse=True)
def defaults():
    yield
    dm.set_config(**DEFAULTS)


def test_max_rows():
    assert len(repr(RESULT).splitlines()) == 13
    dm.set_config(max_rows=3)
    assert len(repr(RESULT).splitlines()) == 6
    assert RESULT._repr_html_().count("<tr>") == 4
    with dm.config_context(max_rows=5):
        assert len(repr(RESULT).splitlines()) == 8
    assert len(repr(RESULT).splitlines()) == 6
    assert len(RESULT) == 30


def test_display():
    assert "<table>" in RESULT._repr_html_()
    with dm.config_context(display="text"):
        assert RESULT._repr_html_() is None


def test_n_jobs():
    assert checks.check_jobs("f", None) == 1
    with dm.config_context(n_jobs=3):
        assert checks.check_jobs("f", None) == 3
        assert checks.check_jobs("f", 2) == 2
        assert dm.RandomForestClassifier().get_params()["n_jobs"] is None
    assert checks.check_jobs("f", None) == 1


def test_progress(capsys):
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = X[:, 0] > 0

    def shown(**options):
        dm.RandomForestClassifier(5, **options).fit(X, y)
        return "RandomForestClassifier" in capsys.readouterr().err

    assert not shown()
    assert shown(verbose=1)
    with dm.config_context(progress="on"):
        assert shown()
    with dm.config_context(progress="off"):
        assert not shown(verbose=1)


def test_one_bar_at_a_time(capsys):
    """Forests that a test grows inside, also in threads, show no bars of their own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    for n_jobs in (1, 2):
        with dm.config_context(progress="on"):
            dm.significance.max_t(
                dm.RandomForestClassifier(5), X, X[:, 0] > 0, n_permutations=4, n_jobs=n_jobs
            )
        said = capsys.readouterr().err
        assert "max_t" in said
        assert "4/4" in said
        assert said.count("RandomForestClassifier: 100%") == 1  # of the observed forest


def test_numbers_stay_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = X[:, 0] > 0

    def computed():
        forest = dm.RandomForestClassifier(10, random_state=0).fit(X, y)
        return dm.importances.mda(forest, X, y)

    before = computed()
    dm.set_config(n_jobs=2, progress="on", max_rows=1, display="text")
    assert computed().equals(before)


def test_set_config_holds_in_threads_and_tasks_that_come_later():
    async def cell(code):
        return code()

    # A notebook runs each cell as a task of its own.
    asyncio.run(cell(lambda: dm.set_config(max_rows=2)))
    assert asyncio.run(cell(lambda: dm.get_config()["max_rows"])) == 2
    assert in_a_thread(lambda: dm.get_config()["max_rows"]) == 2


def test_config_context_holds_in_its_own_thread_alone():
    with dm.config_context(progress="on"):
        assert shows_progress(0)
        assert not in_a_thread(lambda: shows_progress(0))
        dm.set_config(progress="off")
        assert shows_progress(0)
    assert not shows_progress(1)


def test_contexts_nest_and_end_with_an_error():
    with dm.config_context(max_rows=2, n_jobs=2):
        with pytest.raises(KeyError), dm.config_context(max_rows=3):
            {}[dm.get_config()["max_rows"]]
        assert dm.get_config() == {**DEFAULTS, "max_rows": 2, "n_jobs": 2}
    assert dm.get_config() == DEFAULTS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_rows": 0}, "max_rows must be an int >= 1, or None, got 0"),
        ({"n_jobs": 0}, "n_jobs must be an int other than 0, or None, got 0"),
        ({"progress": "yes"}, "progress must be one of 'auto', 'on', 'off', got 'yes'"),
        ({"display": ["html"]}, r"display must be one of 'html', 'text', got \['html'\]"),
    ],
)
def test_refused(options, message):
    with pytest.raises(ValueError, match=f"set_config: {message}"):
        dm.set_config(**{"max_rows": 4, **options})
    with pytest.raises(ValueError, match=f"config_context: {message}"):
        dm.config_context(**options).__enter__()
    assert dm.get_config() == DEFAULTS


def test_unknown_option():
    with pytest.raises(TypeError, match=r"there is no option 'rows'\. Options: display, max_rows"):
        dm.config_context(rows=3).__enter__()
    with pytest.raises(TypeError, match="rows"):
        dm.set_config(rows=3)


def in_a_thread(code):
    results = []
    thread = threading.Thread(target=lambda: results.append(code()))
    thread.start()
    thread.join()
    return results[0]


def test_a_number_of_processors_that_is_none_names_its_variable(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "abc")
    message = "LOKY_MAX_CPU_COUNT must be an int >= 1, got 'abc'"
    with pytest.raises(ValueError, match=f"mdi: the environment variable {message}"):
        checks.check_jobs("mdi", -1)
