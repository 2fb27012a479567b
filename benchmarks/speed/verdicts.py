"""Time and verdicts of `dm.rank` beside those of other programs, on the same tables.

``python -m benchmarks.speed.verdicts`` runs each program on one thread with its defaults, one after
the other in each round, and prints the median processor seconds of the call (start and reading
excluded), their ratio to `dm.rank`, and the numbers of relevant and irrelevant features among the
confirmed ones (means over the rounds; of leukemia, whose truth is unknown, all confirmed ones).

* `dm.rank`: family-wise error rate .05, with effects and the page's results.
* Boruta in R, with forests of ranger (its default), p .01 and 100 rounds.
* p-values of Altmann et al. (2010) of ranger's permutation importance, 100 permutations, those
  adjusted by Benjamini and Hochberg at .05.
* boruta_py with scikit-learn's forest of depth 5, as its manual has it, and `n_estimators="auto"`.
* Conditional feature importance (CFI) of hidimstat of a forest of 500 trees, on half of the rows,
  Benjamini and Hochberg at .05.

Programs that are not installed are left out. R's Boruta and ranger need Rscript, the others the
dependency group "bench". Programs that took more than ``--limit`` seconds on a table are not run
again there.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

import duramen as dm

Table = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.intp] | None]
Answer = tuple[float, NDArray[np.intp]]
SCRIPT = Path(__file__).with_name("verdicts.R")


def linear(n: int, p: int, seed: int) -> Table:
    """Two classes by ten of p independent normal columns."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    score = X[:, :10] @ np.linspace(1.0, 0.4, 10)
    return X, (score + random.logistic(size=n) > 0).astype(np.int64), np.arange(10)


def curved(n: int, p: int, seed: int) -> Table:
    """Two classes by squares and a product of four of p normal columns."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    score = X[:, 0] ** 2 + X[:, 1] ** 2 - 2 + 2 * X[:, 2] * X[:, 3]
    return X, (2 * score + random.logistic(size=n) > 0).astype(np.int64), np.arange(4)


def leukemia(seed: int) -> Table:
    """72 x 7,129, the same in each round."""
    data = dm.datasets.load_leukemia()
    X = np.asarray(data.X, dtype=np.float64)
    return X, np.unique(data.y, return_inverse=True)[1], None


TABLES: dict[str, Callable[[int], Table]] = {
    "300 x 100, linear": lambda seed: linear(300, 100, seed),
    "500 x 50, curved": lambda seed: curved(500, 50, seed),
    "100 x 1,000, linear": lambda seed: linear(100, 1000, seed),
    "72 x 7,129 (leukemia)": leukemia,
}


def ranked(X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Answer:
    """`dm.rank` with its defaults."""
    start = time.process_time()
    result = dm.rank(X, y, random_state=seed, n_jobs=1)
    seconds = time.process_time() - start
    verdicts = result.verdicts
    assert verdicts is not None
    return seconds, np.array([int(x[1:]) for x in verdicts if verdicts[x] == "confirmed"], int)


def of_r(package: str) -> Callable[[NDArray[np.float64], NDArray[np.int64], int], Answer]:
    """A program of verdicts.R."""

    def answer(X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Answer:
        with tempfile.TemporaryDirectory() as folder:
            table, labels = Path(folder) / "X.bin", Path(folder) / "y.bin"
            X.ravel(order="F").tofile(table)
            y.astype(np.float64).tofile(labels)
            words = [str(table), str(labels), *map(str, X.shape), package, str(seed)]
            done = subprocess.run(
                ["Rscript", str(SCRIPT), *words], capture_output=True, text=True, check=True
            )
        seconds, *confirmed = done.stdout.split()
        return float(seconds), np.array(confirmed, dtype=np.intp)

    return answer


def boruta_py(X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Answer:
    """boruta_py with the forest of its manual."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(class_weight="balanced", max_depth=5, n_jobs=1)
    start = time.process_time()
    model = BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y)
    return time.process_time() - start, np.flatnonzero(model.support_)


def conditional_importance(X: NDArray[np.float64], y: NDArray[np.int64], seed: int) -> Answer:
    """Conditional feature importance of hidimstat."""
    from hidimstat import CFI
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import log_loss

    start = time.process_time()
    rows = np.random.default_rng(seed).permutation(len(X))
    train, test = rows[: len(X) // 2], rows[len(X) // 2 :]
    forest = RandomForestClassifier(500, random_state=seed, n_jobs=1).fit(X[train], y[train])
    importance = CFI(
        forest, method="predict_proba", loss=log_loss, feature_types="continuous", random_state=seed
    )
    importance.fit(X[train], y[train])
    importance.importance(X[test], y[test])
    p_values = np.nan_to_num(np.asarray(importance.pvalues_), nan=1.0)
    confirmed = np.flatnonzero(false_discovery_control(p_values) <= 0.05)
    return time.process_time() - start, confirmed


def programs() -> dict[str, Callable[[NDArray[np.float64], NDArray[np.int64], int], Answer]]:
    """The programs that are installed, by name."""
    installed = {"dm.rank": ranked}
    if shutil.which("Rscript"):
        for package, name in (("ranger", "Altmann"), ("Boruta", "Boruta")):
            code = f'q(status = !requireNamespace("{package}", quietly = TRUE))'
            if subprocess.run(["Rscript", "-e", code], check=False).returncode == 0:
                installed[f"{name} (R)"] = of_r(name)
    if find_spec("boruta"):
        installed["boruta_py"] = boruta_py
    if find_spec("hidimstat"):
        installed["CFI (hidimstat)"] = conditional_importance
    return installed


def main() -> int:
    """Print the times and the verdicts."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed.verdicts", description=__doc__)
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a program")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ranked(*linear(40, 10, 0)[:2], 0)  # imports
    print("| table | program | processor s | ratio | relevant | irrelevant confirmed |")
    print("| --- |" + " --- |" * 5)
    for name in options.tables:
        times: dict[str, list[float]] = {program: [] for program in programs()}
        hits = {program: list[tuple[int, int]]() for program in times}
        n_relevant = 0
        for seed in range(options.rounds):
            X, y, relevant = TABLES[name](seed)
            n_relevant = 0 if relevant is None else len(relevant)
            for program, answer in programs().items():
                if times[program] and times[program][-1] > options.limit:
                    continue
                seconds, confirmed = answer(X, y, seed)
                true = len(confirmed if relevant is None else np.intersect1d(confirmed, relevant))
                times[program].append(seconds)
                hits[program].append((true, len(confirmed) - true))
        unit = statistics.median(times["dm.rank"])
        for program, seconds in times.items():
            median = statistics.median(seconds)
            true, false = np.mean(hits[program], axis=0)
            of = f" of {n_relevant}" if n_relevant else " confirmed"
            cells = [f"{median:.1f}", f"{median / unit:.1f}", f"{true:.1f}{of}"]
            cells += [f"{false:.1f}" if n_relevant else ""]
            print(f"| {name} | {program} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
