"""Processor time of the whole command `duramen rank`, in units of one forest of scikit-learn.

``python -m benchmarks.speed.answers`` runs ``duramen rank FILE --target y`` with its defaults on
one thread, from the start of the process to its end, and fits ``RandomForestClassifier(500)`` of
scikit-learn on the same table, one after the other in each round, in an order that alternates. It
prints the median processor seconds of both, their ratio, and the wall-clock seconds of the steps
of the command. The tables are leukemia (72 x 7,129), which ships, and drawn ones: 102 x 12,600
with 300 relevant columns, 683 x 35 of categories with 19 classes, 4,601 x 57 in which nearly all
columns matter, 1,000 x 28,501 genotypes in a .bed file, and 120 x 4, of which the command without a
test is compared with the imports that it needs. Calls of single functions follow: ``max_t`` on
5,000 x 20, ``conditional`` on 300 x 1,000, ``interaction_test`` on 300 x 200, and the fit of
Extra-Trees on 2,000 x 500, which is compared with that of scikit-learn. ``--tables
NAME=FILE:TARGET`` adds files of yours, such as prostate, soybean and spambase. ``--quick`` runs the
small tables once.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

IMPORTS = "import sklearn.ensemble, matplotlib.figure, pyarrow"
FIT = """
import sys, time
import pandas as pd
import sklearn.ensemble
path, target, forest = sys.argv[1:]
table = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path)
y = table.pop(target)
numbers = table.apply(lambda c: c if c.dtype.kind in "iufb" else c.astype("category").cat.codes)
X = numbers.fillna(-1).to_numpy("float32")
model = getattr(sklearn.ensemble, forest)(500, n_jobs=1, random_state=0)
start = time.process_time()
model.fit(X, y)
print(time.process_time() - start)
"""
CALL = """
import sys, time
import pandas as pd
import duramen as dm
X = pd.read_parquet(sys.argv[1])
y = X.pop("y")
start = time.process_time()
{}
print(time.process_time() - start)
"""
TINY = "120 x 4, no test"


def leukemia() -> pd.DataFrame:
    """72 samples of 7,129 genes."""
    from duramen.datasets import load_leukemia

    data = load_leukemia()
    return pd.DataFrame(data.X, columns=list(data.names)).assign(y=np.asarray(data.y))


def expression() -> pd.DataFrame:
    """102 samples of 12,600 correlated genes, of which 300 differ between two classes."""
    random = np.random.default_rng(0)
    y = np.arange(102) % 2
    factors = random.normal(size=(102, 20)) @ random.normal(size=(20, 12_600)) / 10
    X = factors + random.normal(size=(102, 12_600))
    X[:, :300] += np.linspace(2, 0.5, 300) * (y[:, None] - 0.5)
    return pd.DataFrame(X.round(3), columns=[f"g{j}" for j in range(12_600)]).assign(y=y)


def categories() -> pd.DataFrame:
    """683 rows of 35 columns of few values, nearly all of them with an effect on 19 classes."""
    random = np.random.default_rng(0)
    y = random.integers(0, 19, 683)
    means = random.integers(0, 3, (19, 35))
    X = np.where(random.random((683, 35)) < 0.6, means[y], random.integers(0, 3, (683, 35)))
    X[:, -1] = random.integers(0, 3, 683)
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(35)]).assign(y=[f"k{v}" for v in y])


def counts() -> pd.DataFrame:
    """4,601 rows of 57 mostly zero columns, of which 53 have an effect on two classes."""
    random = np.random.default_rng(0)
    y = (random.random(4601) < 0.39).astype(int)
    effects = np.r_[np.linspace(0.2, 1.5, 53), np.zeros(4)] * random.choice([-1, 1], 57)
    present = random.random((4601, 57)) < 1 / (1 + np.exp(1.5 - effects * (y[:, None] - 0.5)))
    X = np.where(present, random.exponential(size=(4601, 57)), 0).round(2)
    return pd.DataFrame(X, columns=[f"w{j}" for j in range(57)]).assign(y=y)


def tiny() -> pd.DataFrame:
    """120 rows of four numbers, of which one has an effect on two classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 4)).round(3)
    return pd.DataFrame(X, columns=list("abcd")).assign(y=(X[:, 0] > 0).astype(int))


def genotypes() -> pd.DataFrame:
    """1,000 rows of 28,501 genotypes in blocks of 20 in LD; ten have an effect on two classes."""
    random, shape = np.random.default_rng(0), (1000, 28_501)
    cuts, copies = random.normal(size=shape[1]) / 2 - 0.6, np.zeros(shape)
    for _ in range(2):
        latent = random.normal(size=shape)
        for j in range(1, shape[1]):
            if j % 20:
                latent[:, j] = 0.9 * latent[:, j - 1] + np.sqrt(0.19) * latent[:, j]
        copies += latent < cuts
    causal = copies[:, 7::2801][:, :10]
    score = (causal - causal.mean(axis=0)) @ np.linspace(0.9, 0.25, 10)
    y = (random.random(1000) < 1 / (1 + np.exp(-score))).astype(int)
    copies[random.random(shape) < 0.005] = np.nan
    return pd.DataFrame(copies, columns=[f"rs{j}" for j in range(shape[1])]).assign(y=y)


def write_plink(table: pd.DataFrame, path: Path) -> None:
    """Write genotypes and a phenotype y of classes 0 and 1 as .bed, .bim and .fam files."""
    columns = table.columns.drop("y")
    copies = table[columns].fillna(-1).to_numpy(np.int8).T
    pairs = np.array([1, 3, 2, 0], dtype=np.uint8)[copies + 1].reshape(len(columns), -1, 4)
    packed = (pairs << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
    path.write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    bim = (f"1\t{name}\t0\t{j + 1}\tA\tC\n" for j, name in enumerate(columns))
    path.with_suffix(".bim").write_text("".join(bim))
    fam = (f"F{i} I{i} 0 0 0 {1 + y}\n" for i, y in enumerate(table["y"]))
    path.with_suffix(".fam").write_text("".join(fam))


def numbers(n: int, p: int) -> pd.DataFrame:
    """Normal columns, of which the first three have an effect on two classes."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, p))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * X[:, 2] + random.normal(size=n) > 0
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(p)]).assign(y=y.astype(int))


SNPS = "1,000 x 28,501 (SNPs, .bed)"
TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    TINY: tiny,
    "683 x 35, 19 classes": categories,
    "72 x 7,129 (leukemia)": leukemia,
    "4,601 x 57": counts,
    "102 x 12,600": expression,
    SNPS: genotypes,
}
FOREST = "RandomForestClassifier"
OF_FOREST = "dm.significance.{}(dm.RandomForestClassifier(random_state=0), X, y, random_state=0)"
# Of each call its table, the forest of scikit-learn, and the call.
CALLS: dict[str, tuple[tuple[int, int], str, str]] = {
    "max_t, 5,000 x 20": ((5000, 20), FOREST, OF_FOREST.format("max_t")),
    "conditional, 300 x 1,000": ((300, 1000), FOREST, OF_FOREST.format("conditional")),
    "interaction_test, 300 x 200": (
        (300, 200),
        FOREST,
        "dm.significance.interaction_test(X, y, random_state=0)",
    ),
    "Extra-Trees, 2,000 x 500": (
        (2000, 500),
        "ExtraTreesClassifier",
        "dm.ExtraTreesClassifier(500, n_jobs=1, random_state=0).fit(X, y)",
    ),
}
QUICK = list(TABLES)[:2]


def run(words: list[str]) -> tuple[float, str]:
    """Return the processor seconds of a process, and its output."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
    # A process that writes no byte code compiles what it imports each time.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**environment, **threads},
    )
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"benchmarks: {' '.join(words)[:80]} failed:\n{output}")
    return used.ru_utime + used.ru_stime, output


def answer(path: Path, target: str, out: Path, *, tested: bool) -> tuple[float, dict[str, float]]:
    """Return the processor seconds of the command, and the wall-clock seconds of its steps."""
    words = ["-m", "duramen", "rank", str(path), "--target", target, "--out", str(out)]
    words += ["--jobs", "1", "-q", *([] if tested else ["--test", "none"])]
    seconds, _ = run(words)
    return seconds, json.loads((out / "run.json").read_text())["timings"]


def unit(path: Path, target: str, forest: str) -> float:
    """Return the processor seconds of a forest of scikit-learn, or without one of the imports."""
    if not forest:
        return run(["-c", IMPORTS])[0]
    return float(run(["-c", FIT, str(path), target, forest])[1])


def main() -> int:
    """Print the times."""
    parser = argparse.ArgumentParser(prog="benchmarks.speed.answers", description=__doc__)
    parser.add_argument("--tables", nargs="*", default=[], metavar="NAME=FILE:TARGET")
    parser.add_argument("--only", nargs="*", help="names of tables; all by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small tables, one round")
    asked = parser.parse_args()
    own = {}
    for words in asked.tables:
        name, _, place = words.partition("=")
        file, _, target = place.rpartition(":")
        own[name] = (Path(file), target)
    names = QUICK if asked.quick else asked.only or [*TABLES, *CALLS, *own]
    print("| table | scikit-learn, s | command, s | ratio | steps, wall-clock s |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path, target = own.get(name, (Path(folder, "table.parquet"), "y"))
            shape, forest, call = CALLS.get(name, ((0, 0), "" if name == TINY else FOREST, ""))
            if name not in own:
                table = numbers(*shape) if call else TABLES[name]()
                table.to_parquet(path)
            source = (path, target)
            if name == SNPS:
                source = (path.with_suffix(".bed"), "phenotype")
                write_plink(table, source[0])
            units, answers, steps = list[float](), list[float](), dict[str, float]()
            for k in range(1 if asked.quick else asked.rounds):
                for measured in ("unit", "answer") if k % 2 else ("answer", "unit"):
                    if measured == "unit":
                        units.append(unit(path, target, forest))
                    elif call:
                        answers.append(float(run(["-c", CALL.format(call), str(path)])[1]))
                    else:
                        out = Path(folder, "out")
                        seconds, steps = answer(*source, out, tested=bool(forest))
                        answers.append(seconds)
            one, all_ = statistics.median(units), statistics.median(answers)
            told = ", ".join(f"{step} {s:.2f}" for step, s in steps.items() if s >= 0.05)
            print(f"| {name} | {one:.2f} | {all_:.2f} | {all_ / one:.2f} | {told} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
