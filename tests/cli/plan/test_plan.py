import pytest
from tests.cli.commands import assert_refused, done

from duramen.analyses.plan import numbers_by_degree
from duramen.io.store.reader import memory_bytes
from duramen.theory import search_plan

ASKED = ["--n-rows", 1000, "--n-features", 10_000, "--memory", "1MB", "--relevant", "0:5,1:3,2:1"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def advice(**changes):
    options = {
        "n_rows": 1000,
        "n_features": 10_000,
        "memory": 10**6,
        "relevant": {0: 5, 1: 3, 2: 1},
    }
    return search_plan(**{**options, **changes})


# --- what it says --------------------------------------------------------------------------------


def test_gives_the_advice_of_the_theory(out):
    result, run = done(out, "plan", *ASKED)
    expected = advice()
    for name in ("subspace", "keep", "n_trees"):
        assert run["results"][name] == getattr(expected, name)
    assert run["results"]["reasons"] == list(expected.reasons)
    assert run["settings"]["relevant"] == {"0": 5, "1": 3, "2": 1}
    assert run["settings"]["memory"] == 10**6
    assert (run["n_rows"], run["n_features"]) == (1000, 10_000)
    assert (run["file"], run["target"], run["seed"], run["fingerprint"]) == (None,) * 4
    grow = f"Grow at least {expected.n_trees} trees, each on {expected.subspace} of 10,000 features"
    assert result.stdout.startswith(grow)
    assert "With 1,000 rows more trees are needed" in result.stdout
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Effect of a sample of 1,000 rows" in page
    assert run["results"]["cautions"] == list(expected.cautions)
    for words in expected.reasons + expected.cautions:
        assert f"- {words}" in result.stdout
    assert result.stderr == ""


# --- what it is given ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, size",
    [
        ("800000", 800_000),
        ("512MB", 512_000_000),
        ("2GiB", 2**31),
        ("1.5 kb", 1500),
        ("3M", 3_000_000),
        ("1KiB", 1024),
        ("2tb", 2 * 10**12),
    ],
)
def test_sizes(options, size):
    assert memory_bytes(options, "plan", least=0) == size


@pytest.mark.parametrize(
    "options, counts",
    [
        (["10"], {0: 10}),
        (["0:10,1:5"], {0: 10, 1: 5}),
        (["10", "1:5", "2:1"], {0: 10, 1: 5, 2: 1}),
        (["2:1, 0:3"], {0: 3, 2: 1}),
    ],
)
def test_numbers_of_relevant_features(options, counts):
    assert numbers_by_degree(options) == counts


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"--memory": "lots"}, "--memory must be a size such as '512MB'"),
        ({"--memory": "1PB"}, "got '1PB'"),
        ({"--relevant": "ten"}, "--relevant must be numbers of features by degree"),
        ({"--relevant": "3,0:2"}, "each degree once, got '0:2'"),
        ({"--relevant": "5:1"}, "relevant must be at least 6 features"),
        ({"--memory": "1kB"}, "memory must be at least"),
        ({"--risk": "0"}, "risk must be"),
        ({"--keep": "1.5"}, "keep must be"),
    ],
)
def test_mistakes_of_the_user(changes, message, out):
    options = {**dict(zip(ASKED[::2], ASKED[1::2], strict=True)), **changes}
    assert_refused("plan", out, [word for pair in options.items() for word in pair], message)
