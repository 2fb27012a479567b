"""Places of variants, `--clusters` and `--representatives`, from a .bed file to the results."""

import numpy as np
import pytest
from tests.cli.commands import assert_refused
from tests.importances.test_clusters import blocks
from tests.io.store.stores import write_bed

N, SIZES = 120, (4, 3, 1, 4)
P = sum(SIZES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("genome")
    random = np.random.default_rng(3)
    X = blocks(random, SIZES, n=N)
    ill = X[:, 1] + X[:, 9] + 0.3 * random.normal(size=N) > 1.6
    bim = "".join(f"{1 + (j >= 7)}\trs{j}\t0\t{1000 * (j + 1)}\tA\tG\n" for j in range(P))
    write_bed(place / "a.bed", X, bim=bim)
    lines = [f"I{i},{int(ill[i])},{40 + i % 17}\n" for i in range(N)]
    (place / "people.csv").write_text("IID,ill,age\n" + "".join(lines))
    return place


def number(names):
    return [int(name[2:]) for name in names]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--clusters", 0], "--clusters must be a number in (0, 1], got 0"),
        (["--representatives", 1.5], "--representatives must be a number in (0, 1]"),
        (
            ["--distance", 5],
            "--distance has no effect without --clusters R or",
        ),
        (["--clusters", 0.5, "--representatives", 0.5], "give one of them"),
        (["--samples-features", "weight"], "--samples-features 'weight' is not a column"),
        (["--samples-features", "ill"], "--samples-features 'ill' is the target"),
        (["--covariates", "ill"], "--covariates 'ill' is the target"),
        (["--covariates", "height"], "--covariates 'height' is not a column"),
    ],
)
def test_what_cannot_be_asked(folder, tmp_path, words, message):
    people = [folder / "a.bed", "--samples", folder / "people.csv", "--target", "ill"]
    assert_refused("rank", tmp_path / "out", [*people, *words], message)
