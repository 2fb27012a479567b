"""`duramen rank --measure`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.cli.commands import done

N, P = 90, 6


def test_without_bootstrap_a_random_forest_has_no_rows_out_of_bag(tmp_path):
    X = np.random.default_rng(5).normal(size=(N, P)).round(2)
    score = X[:, 2] + X[:, 4]
    columns = {f"x{j}": X[:, j] for j in range(P)}
    columns |= {"state": np.where(score > 0, "ill", "well"), "score": score}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")

    def run(target, other, *more):
        words = ("--target", target, "--drop", other, "--test", "none", "--trees", 40)
        return done(
            tmp_path / "out", "rank", tmp_path / "t.parquet", *words, "--no-bootstrap", *more
        )

    _, record = run("state", "score")
    assert record["settings"]["measures"] == ["mdi"]
    assert record["results"]["oob_error"] is None
    assert "--no-bootstrap" in record["command"]
    result, _ = run("score", "state")
    assert result.stderr.startswith("note: mdi-oob and mda left out:")
    silent, _ = run("score", "state", "--quiet")
    assert silent.output == ""
