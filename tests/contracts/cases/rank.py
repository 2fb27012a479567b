"""The command ``duramen rank``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from tests.contracts.cases.stores import write_bed, write_samples
from tests.contracts.commands import command
from tests.contracts.inputs import (
    N,
    classes,
    features,
    groups,
    mixed,
    mixed_target,
    numbers,
    strata,
)

import duramen as dm
from duramen import io


def write(folder: Path) -> None:
    """Write a table of numbers with classes, numbers, strata and groups, and one of words."""
    columns = {name: features()[:, j] for j, name in enumerate("abcde")}
    more = {"y": classes(), "z": numbers(), "batch": strata(), "person": groups()}
    io.write_table(pa.table({**columns, **more}), folder / "t.csv")
    frame = mixed().assign(y=mixed_target())
    text = frame.to_csv(index=False, sep="\t", na_rep="?").replace(".", ",")
    (folder / "words.tsv").write_text(text, encoding="utf-8")
    (folder / "groups.csv").write_text("a,u\nb,u\nc,v\nd,w\ne,w\n", encoding="utf-8")


def write_store(folder: Path) -> None:
    """Write a packed table, with annotations of its rows beside it."""
    names = np.array([f"s{i}" for i in range(N)])
    table = pa.table({"id": names, **{n: features()[:, j] for j, n in enumerate("abcde")}})
    io.write_table(table, folder / "t.csv")
    write_samples(folder, names.tolist())
    plain = table.drop_columns(["id"])
    dm.pack(plain, folder / "store")


def write_tall_store(folder: Path) -> None:
    """Write a store whose codes take 2.4 MB, with a target that depends on one column."""
    random = np.random.default_rng(0)
    table = pa.table({f"v{j}": random.integers(0, 300, 6000) for j in range(200)})
    target = np.where(table["v3"].to_numpy() > 150, "high", "low")
    dm.pack(table.append_column("y", pa.array(target)), folder / "tall.store")


def write_plink(folder: Path) -> None:
    """Write a PLINK file."""
    write_bed(folder, n=24)


CLASSES = "rank t.csv --target y --drop z --drop batch --drop person --trees 6"
NUMBERS = "rank t.csv --target z --drop y --drop batch --drop person --trees 6"
DIRECT = ("name", "direct")
ROUNDS = {"max-t": 19, "conditional-error-rate": 19, "mean-rank-test": 4}

command("default test", f"{CLASSES} --permutations 19", write)
PATCHES = "rank tall.store --target y --trees 8 --max-depth 4 --memory 2MB"
command("memory", f"{PATCHES} --permutations 19", write_tall_store)
command("positive class", f"{CLASSES} --permutations 19 --positive top", write)
command("no test", f"{CLASSES} --no-test --top 3 --seed 5", write)
for weights in ("balanced", "balanced-subsample"):
    line = f"{CLASSES} --no-test --class-weight {weights}"
    command(f"class weights {weights}", line, write)
command("numbers", f"{NUMBERS} --permutations 19 --task regression", write)
command("small trees", f"{NUMBERS} --no-test --max-depth 3 --min-leaf 4", write)
command("some rows", f"{CLASSES} --no-test --max-rows 30 --seed 2", write)
command(
    "numbers as classes",
    "rank t.csv --target y --drop z --drop person --trees 6 --task classification "
    "--no-test --categorical batch",
    write,
)
for measure in [record.option for record in dm.importances.catalogue]:
    line = f"{CLASSES} --measure {measure} --no-test"
    command(f"measure {measure}", line, write, slow=measure == "mcfs")
command("two measures", f"{NUMBERS} --measure mda --measure noising --no-test", write)
for name in [test.option for test in dm.significance.catalogue if test.repeats]:
    rounds = ROUNDS.get(name, 6)
    line = f"{CLASSES} --significance {name} --permutations {rounds}"
    command(f"test {name}", line, write, slow=name in ("mprobes", "hapfelmeier", "mr-test"))
command(
    "test janitza",
    "rank t.csv --target batch --drop y --drop z --drop person --trees 6 --task classification "
    "--measure holdout-mda --significance janitza",
    write,
)
command("test conditional", f"{CLASSES} --significance conditional", write, only=DIRECT)
command("direct", f"{CLASSES} --no-test --direct --feature-groups groups.csv", write, only=DIRECT)
command("rows", f"{CLASSES} --no-test --explain 3 --explain-rows t.csv", write)
command(
    "interactions",
    f"{NUMBERS} --no-test --interactions",
    write,
    only=("name",),
)
for distribution in ("empirical", "normal", "lognormal", "gamma"):
    command(
        f"altmann {distribution}",
        f"{CLASSES} --significance altmann --permutations 12 --distribution {distribution}",
        write,
        slow=distribution != "gamma",
    )
command("stop after", f"{CLASSES} --significance altmann --permutations 12 --stop-after 2", write)
for reading in ("later", "own"):
    command(
        f"ranks, {reading}",
        f"{CLASSES} --significance conditional-error-rate --permutations 19 --rank-based {reading}",
        write,
    )
for how in ("mean", "sum", "max"):
    command(
        f"feature groups by {how}",
        f"{CLASSES} --significance conditional-error-rate --permutations 19 --feature-groups "
        f"groups.csv --group-score {how}",
        write,
        slow=how != "max",
    )
command(
    "strata",
    "rank t.csv --target y --drop z --drop person --trees 6 --strata batch --permutations 19",
    write,
)
command(
    "groups",
    "rank t.csv --target y --drop z --drop batch --trees 6 --groups person --permutations 19",
    write,
)
command("test probe-ranking", f"{NUMBERS} --significance probe-ranking --probes 5", write)
command(
    "probes",
    f"{CLASSES} --significance forest-probe-ranking --permutations 3 --probes 8",
    write,
)
command(
    "intervals and stability",
    "rank t.csv --target y --drop z --drop batch --drop person --trees 16 --no-test --intervals "
    "--stability 2 --resamples 4 --confidence-level 0.9",
    write,
)
for scale in ("importance", "fraction"):
    command(
        f"intervals of {scale}",
        "rank t.csv --target z --drop y --drop batch --drop person --trees 16 --no-test "
        f"--intervals --interval-scale {scale} --resamples 4",
        write,
    )
command("group mda", f"{CLASSES} --no-test --feature-groups groups.csv", write)
command(
    "clusters as groups",
    "rank g.bed --target phenotype --trees 6 --no-test --clusters 0.3 --feature-groups clusters",
    write_plink,
)
command("checkpoint", f"{CLASSES} --permutations 19 --checkpoint kept", write)
for forest in (
    "random-forest",
    "extra-trees",
    "totally-randomized-trees",
    "bagged-trees",
    "random-subspace",
    "random-patches",
    "pert",
):
    command(f"forest {forest}", f"{CLASSES} --forest {forest} --no-test", write)
command(
    "K, gini, no bootstrap",
    f"{CLASSES} --max-features 2 --criterion gini --no-bootstrap --no-test",
    write,
)
command(
    "share, entropy, bootstrap",
    f"{CLASSES} --forest extra-trees --max-features 0.5 --criterion entropy --bootstrap --no-test",
    write,
)
command("variance", f"{NUMBERS} --criterion variance --max-features all --no-test", write)
command(
    "words, decimals", "rank words.tsv --target y --na ? --decimal , --trees 6 --no-test", write
)
command(
    "store and samples",
    "rank store --samples samples.csv --samples-match position --target state --trees 6 --no-test",
    write_store,
)
command(
    "samples by name",
    "rank t.csv --samples samples.csv --samples-id id --samples-match fold --as-text state "
    "--target state --trees 6 --no-test",
    write_store,
)
command("plink", "rank g.bed --target phenotype --trees 6 --no-test", write_plink)
command(
    "clusters",
    "rank g.bed --target phenotype --trees 6 --no-test --clusters 0.3 --distance 2",
    write_plink,
)
command("representatives", f"{CLASSES} --permutations 19 --representatives 0.5", write)
command(
    "covariate",
    "rank t.csv --target y --drop batch --drop person --trees 6 --permutations 19 --covariate z",
    write,
)
command(
    "annotation as a feature",
    "rank g.bed --target phenotype --samples-feature sex --trees 6 --no-test",
    write_plink,
)
command("demo", "rank --demo --trees 5 --no-test", write, slow=True)
command("refused", "rank t.csv --target nothing", write, status=2)
