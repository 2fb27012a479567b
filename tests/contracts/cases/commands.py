"""The other commands: exact, plan, context, network, pack and select."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
from tests.contracts.cases.context import place
from tests.contracts.cases.rank import write_plink, write_store
from tests.contracts.cases.selection import two, wide
from tests.contracts.cases.stores import write_samples
from tests.contracts.commands import command
from tests.contracts.inputs import N, classes, features, groups, missing, mixed, strata, uniform

from duramen import io


def write(folder: Path) -> None:
    """Write a table of few values with a context, one of numbers, and one of words."""
    few = (uniform(N, 4, seed=2) * 3).astype(int)
    y = np.array(["p", "q", "r"])[(few[:, 0] + few[:, 1] * (few[:, 2] > 1)) % 3]
    columns = {name: few[:, j] for j, name in enumerate("abcd")}
    more = {
        "place": place(),
        "hour": uniform(N, 1, seed=5)[:, 0],
        "batch": strata(),
        "person": groups(),
    }
    options = {"given": np.array(["x", "y", "y"])[np.arange(N) // 2 % 3]}
    io.write_table(pa.table({**columns, **more, **options, "y": y}), folder / "few.csv")
    many = {name: missing()[:, j] for j, name in enumerate("abcde")}
    table = pa.table({**many, "y": classes(), "z": features()[:, 0] + features()[:, 1]})
    io.write_table(table, folder / "many.csv")
    text = mixed().to_csv(index=False, sep="\t", na_rep="?").replace(".", ",")
    (folder / "words.tsv").write_text(text, encoding="utf-8")


REST = "--drop place --drop hour --drop batch --drop person --drop given"
EXACT = f"exact few.csv --target y {REST}"

command("classes", f"{EXACT} --as-text y", write)
command(
    "depth, gini, classes", f"{EXACT} --max-depth 2 --criterion gini --task classification", write
)
command("K = 2, entropy", f"{EXACT} --max-features 2 --criterion entropy --top 2", write)
command("one-vs-rest", f"{EXACT} --splits one-vs-rest", write)
command("any, random", f"{EXACT} --splits any --cut random --level 0.05", write)
command(
    "ordered, best", f"{EXACT} --splits ordered --cut best --max-features 2 --max-degree 1", write
)
command(
    "limits of nodes",
    f"{EXACT} --splits ordered --min-samples-split 0.2 --min-impurity-decrease 0.01",
    write,
)
command("accuracy", f"{EXACT} --measure mda --max-features 2", write)
for votes in ("ensemble", "predictor"):
    command(f"accuracy, {votes}", f"{EXACT} --measure mda --votes {votes}", write)
command("accuracy, given", f"{EXACT} --measure mda --given associated --max-depth 2", write)
command("nominal, hours", f"{EXACT} --categorical a --max-hours 1 --splits multiway", write)
for how in ("auto", "quantile", "uniform", "mdl", "none"):
    command(
        f"discretize {how}",
        f"exact many.csv --target y --drop z --discretize {how} "
        "--max-depth 3 --missing drop" + (" --bins 3" if how in ("quantile", "uniform") else ""),
        write,
    )
command(
    "numbers, missing",
    "exact many.csv --target z --drop y --task regression --bins 2 "
    "--criterion variance --missing category",
    write,
)
command("words, decimals", "exact words.tsv --target flag --na ? --decimal , --bins 3", write)
command("demo", "exact --demo --max-depth 3", write, slow=True)
command("context", "exact --demo --context sex --max-depth 1 --max-features 2", write)

command("classes", "plan --n-rows 200 --n-features 1000 --memory 64KB --relevant 0:3,1:2", write)
command(
    "numbers",
    "plan --n-rows 200 --n-features 5000 --memory 1MB --relevant 4 --n-classes 1 "
    "--n-values 1000 --risk 0.2 --keep 0 --keep 0.5",
    write,
)

FEW = "--trees 5 --permutations 9"
CONTEXT = f"context few.csv --target y --context place --drop hour --drop given {FEW}"

command("classes", f"{CONTEXT} --drop batch --drop person", write)
command(
    "two contexts",
    "context few.csv --target y --context place --context hour --drop batch "
    f"--drop given --drop person --context-bins 2 {FEW} --top 3 --seed 4",
    write,
)
command(
    "permute all, nominal",
    f"{CONTEXT} --drop batch --drop person --permute all --categorical a --task classification",
    write,
)
command(
    "permute within target",
    f"{CONTEXT} --drop batch --drop person --permute within-target "
    "--empty zero --criterion gini --splits multiway",
    write,
)
command("strata", f"{CONTEXT} --drop person --strata batch --empty skip --criterion entropy", write)
command(
    "groups",
    "context few.csv --target y --context given --drop place --drop hour "
    f"--drop batch --groups person --permute all {FEW}",
    write,
)
command(
    "covariate",
    f"{CONTEXT.replace('--drop hour', '')} --drop batch --drop person --covariate hour",
    write,
)
command("propensity", f"{CONTEXT} --drop batch --drop person --propensity-strata 2", write)
command(
    "plain p-values, level",
    f"{CONTEXT} --drop batch --drop person --plain-p-values "
    "--tolerance 0.1 --alpha 0.5 --control fwer --checkpoint kept",
    write,
)
command(
    "no control",
    f"{CONTEXT} --drop batch --drop person --alpha 0.5 --control none "
    "--splits auto --max-features 2 --max-depth 3",
    write,
)
command("fdr", f"{CONTEXT} --drop batch --drop person --control fdr --splits ordered", write)
command(
    "numbers",
    "context many.csv --target z --context y --task regression --bins 3 "
    f"--missing category --criterion variance {FEW}",
    write,
)
command(
    "kernel weights",
    "context few.csv --target y --context hour --drop place --drop batch --drop given "
    f"--drop person --context-bandwidth 0.4 {FEW}",
    write,
)
command("rows dropped", f"context many.csv --target z --context y --missing drop {FEW}", write)
command(
    "words, decimals",
    f"context words.tsv --target flag --context color --missing drop --na ? --decimal , {FEW}",
    write,
)
command(
    "network",
    "context few.csv --network --context place --drop hour --drop batch "
    f"--drop given --drop person --drop y --targets a --targets b {FEW}",
    write,
)
command("demo", f"context --demo {FEW}", write, slow=True)


def write_genes(folder: Path) -> None:
    """Write a file whose rows are columns, with annotations of the samples."""
    lines = ["gene," + ",".join(f"s{i}" for i in range(8))]
    lines += [f"g{j}," + ",".join(str((i * j + i) % 5) for i in range(8)) for j in range(4)]
    (folder / "genes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_samples(folder, [f"s{i}" for i in range(8)])


def write_genes_in_order(folder: Path) -> None:
    """Write the same with the annotations in the order of the samples."""
    write_genes(folder)
    write_samples(folder, [f"s{i}" for i in range(8)], ordered=True)


def write_folded_genes(folder: Path) -> None:
    """Write the same with names in capitals."""
    write_genes(folder)
    write_samples(folder, [f"S{i}" for i in range(8)])


def write_units(folder: Path) -> None:
    """Write a table of numbers with a unit and with thousands separators."""
    rows = [f'"{1000 + 17 * i:,}",{i % 7 + 0.5} mg/l,{i % 7} mg' for i in range(N)]
    (folder / "units.csv").write_text("income,dose,kept\n" + "\n".join(rows), encoding="utf-8")


def write_cells(folder: Path) -> None:
    """Write an AnnData file."""
    import anndata
    import pandas as pd

    counts = (features() * 4).astype("f4").round()
    rows = pd.DataFrame({"state": classes()}, index=[f"cell{i}" for i in range(N)])
    columns = pd.DataFrame(index=list("abcde"))
    cells = anndata.AnnData(X=counts, obs=rows, var=columns, layers={"twice": 2 * counts})
    cells.write_h5ad(folder / "a.h5ad")


command("numbers", "pack many.csv --memory 64MB --overwrite", write)
command("words, nominal", "pack words.tsv --na ? --decimal , --categorical count", write)
command(
    "transposed", "pack genes.csv --transpose --samples samples.csv --samples-id id", write_genes
)
command(
    "samples by position",
    "pack genes.csv --transpose --samples samples.csv --samples-match position",
    write_genes_in_order,
)
command(
    "names folded",
    "pack genes.csv --transpose --samples samples.csv --samples-match fold",
    write_folded_genes,
)
command("units", "pack units.csv --as-text kept", write_units)
command("h5ad", "pack a.h5ad --layer twice", write_cells)
command("bed", "pack g.bed", write_plink)


def write_wide(folder: Path) -> None:
    """Write a table of sixty columns, and one of five with missing values."""
    columns = {f"x{j}": wide()[:, j] for j in range(wide().shape[1])}
    more = {"y": two(), "z": wide()[:, 0] + wide()[:, 1]}
    io.write_table(pa.table({**columns, **more}), folder / "wide.csv")
    write(folder)


def write_grouped(folder: Path) -> None:
    """Write the tables, and groups of the five columns of one."""
    (folder / "groups.csv").write_text("feature,group\na,u\nb,u\nc,v\nd,v\n", encoding="utf-8")
    write(folder)


def write_numbers(folder: Path) -> None:
    """Write a table of five columns without missing values."""
    columns = {f"x{j}": (wide()[:, j] * 6).round() for j in range(5)}
    io.write_table(pa.table({**columns, "y": two()}), folder / "numbers.csv")


command(
    "ordered, uniform",
    "exact numbers.csv --target y --splits ordered --cut uniform --discretize none --max-depth 2",
    write_numbers,
)

SELECT = "select wide.csv --target y --drop z --trees 30 --subspace 15"
PROBES = "select many.csv --target y --drop z --trees 30 --subspace 3"

command(
    "decoys",
    f"{SELECT} --method sequential-random-subspace --alpha 0.3 --relevance decoy --tree extra",
    write_wide,
)
command(
    "numbers, CART",
    "select wide.csv --target z --drop y --trees 20 --subspace 0.3 "
    "--tree cart --task regression --max-features 0.5 --top 3 --seed 8",
    write_wide,
)
command(
    "random trees, soft",
    f"{SELECT} --tree random --sampling soft --relevance binomial --probes 2 --keep 0.3",
    write_wide,
)
command(
    "hard, batches",
    f"{SELECT} --sampling hard --batch 4 --patience 12 --checkpoint kept",
    write_wide,
)
command(
    "probes",
    f"{PROBES} --relevance probe --min-draws 5 --min-win-rate 0.6 --categorical a "
    "--task classification",
    write_wide,
)
command("any importance", f"{PROBES} --relevance positive --tree random", write_wide)
command("memory", "select wide.csv --target y --drop z --trees 10 --memory 1MB", write_wide)
command("some rows", "select wide.csv --target y --drop z --trees 10 --max-rows 30", write_wide)
command(
    "words, decimals",
    "select words.tsv --target flag --na ? --decimal , --trees 10 "
    "--relevance binomial --subspace 2",
    write_wide,
)
command(
    "store and samples",
    "select store --samples samples.csv --samples-match position "
    "--target state --trees 10 --relevance probe --subspace 3",
    write_store,
)
command(
    "samples by name",
    "select t.csv --samples samples.csv --samples-id id --samples-match fold --as-text state "
    "--target state "
    "--trees 10 --relevance probe --subspace 3",
    write_store,
)
SAMPLES = "samples.csv --target state --context age"
FOLD = "--samples-match fold --as-text state"
command(
    "store and samples",
    f"context store --samples {SAMPLES} --samples-match position {FEW}",
    write_store,
)
command(
    "samples by name",
    f"context t.csv --samples {SAMPLES} --samples-id id {FOLD} {FEW}",
    write_store,
)
BORUTA = "select many.csv --target y --drop z --method boruta --trees 20"
command("boruta", f"{BORUTA} --rounds 14 --correction bonferroni --percentile 90", write_wide)
command(
    "boruta, two steps",
    f"{BORUTA} --rounds 10 --correction two-step --measure mdi --alpha 0.1 --rough-fix",
    write_wide,
)
command(
    "boruta, groups",
    f"{BORUTA} --rounds 10 --measure mdi --feature-groups groups.csv",
    write_grouped,
)
command(
    "knock-out",
    "select many.csv --target y --drop z --method knock-out --trees 10 --permutations 19 "
    "--rounds 2",
    write_wide,
)
for rows in ("strata batch", "groups person"):
    command(
        rows,
        "select few.csv --target y --drop place --drop hour --drop given --drop "
        f"{'person' if 'batch' in rows else 'batch'} --method boruta --trees 5 --rounds 2 "
        f"--{rows}",
        write,
    )
command(
    "covariate, clusters",
    "select g.bed --target phenotype --method boruta --trees 5 --rounds 2 --covariate father "
    "--keep-identifiers --samples-feature FID --clusters 0.3 --distance 3",
    write_plink,
)
command(
    "bed",
    "context g.bed --target phenotype --context sex --samples-feature FID --keep-identifiers "
    f"{FEW}",
    write_plink,
)
for label, words in (
    ("artificial-contrasts", "--trees 5 --rounds 1"),
    ("backward-elimination", "--trees 5 --measure mdi"),
    ("vsurf", "--trees 3"),
    ("regularized-forest", "--trees 5"),
    ("guided-regularized-forest", "--trees 5"),
    ("forward-selection", "--features 1 --quiet"),
    ("backward-selection", "--features 5"),
    ("floating-selection", "--features 1"),
    ("adaptive-floating-selection", "--features 1"),
    ("exhaustive-selection", "--features 1"),
    ("markov-boundary", ""),
    ("mrmr", "--features 2"),
    ("jmi", "--features 2"),
    ("cmim", "--features 2"),
    ("fcbf", ""),
    ("lasso", ""),
    ("ridge", "--features 2"),
    ("stability-selection", "--learner lasso --draws 10 --per-draw 3"),
):
    line = f"select numbers.csv --target y --method {label} {words}"
    command(label, line.strip(), write_numbers)
command(
    "stability-selection, knockoff",
    "select numbers.csv --target y --method stability-selection --learner lasso --draws 10 "
    "--per-draw 3 --artificial knockoff",
    write_numbers,
)
command(
    "stability-selection, forest",
    "select numbers.csv --target y --method stability-selection --learner forest --trees 5 "
    "--draws 6 --alpha 1",
    write_numbers,
)
command(  # its package may be missing
    "relieff, refused",
    "select many.csv --target y --drop z --method relieff --trees 5",
    write_wide,
    status=2,
)
command("demo", "select --demo --trees 5", write, slow=True)
command("few features", "select many.csv --target y --drop z --trees 20", write_wide)

COMPARE = "compare many.csv --target y --drop z --resamples 3 --trees 5"
command("some rows", f"{COMPARE} --max-rows 30", write_wide)
command(
    "selectors and measures",
    f"{COMPARE} --selector all-features --selector boruta --measure mdi --measure vote-change "
    "--features 1 --features 3 --score auc --score balanced-accuracy --learner forest --top 2",
    write_wide,
    slow=True,
)
command("outside", f"{COMPARE} --measure mdi --selection outside --test 0.25", write_wide)
command("inside", f"{COMPARE} --measure mdi --selection inside --test 12", write_wide)
for learner in ("linear-svm", "k-nearest-neighbors", "logistic-regression"):
    command(
        learner,
        f"compare wide.csv --target y --drop z --resamples 3 --trees 5 --measure mdi "
        f"--task classification --learner {learner} --features 2 --checkpoint kept",
        write_wide,
    )
command(
    "numbers",
    "compare wide.csv --target z --drop y --task regression --resamples 3 --trees 5 "
    "--learner ridge-regression --features 2 --measure mdi --seed 4 --score r2",
    write_wide,
)
command(
    "words, decimals",
    "compare words.tsv --target flag --na ? --decimal , --resamples 3 --trees 5 --features 1",
    write_wide,
)
command(
    "nominal",
    "compare many.csv --target z --drop y --resamples 3 --trees 5 --measure mda --categorical a "
    "--features 2",
    write_wide,
)
command(
    "store and samples",
    "compare store --samples samples.csv --samples-match position --samples-feature age "
    "--keep-identifiers --target state --resamples 3 --trees 5 --features 2",
    write_store,
)
command(
    "samples by name",
    "compare t.csv --samples samples.csv --samples-id id --samples-match fold --as-text state "
    "--target state --resamples 3 --trees 5 "
    "--features 2",
    write_store,
)
command(
    "demo", "compare --demo --resamples 2 --trees 5 --measure mdi --features 5", write, slow=True
)


def write_expression(folder: Path) -> None:
    """Write the expression of five genes, and known links."""
    values = uniform(24, 5, seed=6)
    columns = {f"g{j}": values[:, j] for j in range(5)}
    io.write_table(pa.table({**columns, "batch": values[:, 0]}), folder / "genes.csv")
    rows = {"gene": list(columns), **{f"s{i}": values[i] for i in range(24)}}
    io.write_table(pa.table(rows), folder / "rows.csv")
    gold = {"source": ["g0", "g1", "g2"], "target": ["g1", "g2", "g4"]}
    io.write_table(pa.table(gold), folder / "gold.csv")
    words = {f"w{j}": np.where(values[:, j] > 0.5, "high", "low") for j in range(3)}
    io.write_table(pa.table(words), folder / "words.tsv")


NETWORK = "network genes.csv --drop batch --trees 6"

command("genes", f"{NETWORK} --seed 1", write_expression)
command("rows", "network rows.csv --genes rows --trees 6", write_expression)
command("genes in columns", f"{NETWORK} --genes columns --links 5 --top 2", write_expression)
command(
    "published, known links",
    f"{NETWORK} --max-features sqrt --bootstrap --source-scaling none --gold gold.csv "
    "--regulators g0 --regulators g1 --regulators g2 --targets g1 --targets g4",
    write_expression,
)
command("p-values", f"{NETWORK} --permutations 3 --source-scaling variance", write_expression)
command(
    "leaves, depth", f"{NETWORK} --as-text a --min-samples-leaf 3 --max-depth 2", write_expression
)
command(
    "all samples", f"{NETWORK} --no-bootstrap --max-depth 4 --max-features sqrt", write_expression
)
command(
    "words", "network words.tsv --na ? --decimal , --trees 6 --categorical w0", write_expression
)
command(
    "some samples, adjacencies",
    f"{NETWORK} --subsample 20 --adjacencies links.tsv --seed 1",
    write_expression,
)
command("checkpoint", f"{NETWORK} --checkpoint kept", write_expression)
command("demo", "network --demo --trees 3", write_expression)
for forest in (
    "random-forest",
    "extra-trees",
    "totally-randomized-trees",
    "bagged-trees",
    "random-subspace",
    "random-patches",
):
    command(f"forest {forest}", f"{NETWORK} --forest {forest}", write_expression)
for measure in (
    "mdi",
    "mdi-oob",
    "mda",
    "conditional-mda",
    "frequency",
    "minimal-depth",
    "noising",
    "sobol-mda",
    "mdi-plus",
    "shaff",
    "ufi",
    "local-mdi",
    "last-level",
):
    command(f"measure {measure}", f"{NETWORK} --measure {measure}", write_expression)
for scale in ("unit", "sum", "none"):
    command(f"normalization {scale}", f"{NETWORK} --normalization {scale}", write_expression)


def write_traces(folder: Path) -> None:
    """Write fluorescence of neurons, their places, and known links."""
    from tests.contracts.cases.networks import _calcium

    values = _calcium()
    columns = {f"n{j}": values[:, j] for j in range(6)}
    io.write_table(pa.table({"time": np.arange(400), **columns}), folder / "traces.csv")
    np.save(folder / "traces.npy", values)
    np.save(folder / "rows.npy", np.ascontiguousarray(values.T))
    places = {"x": np.arange(6.0), "y": np.arange(6.0) % 2}
    io.write_table(pa.table(places), folder / "places.csv")
    links = {"source": ["n0", "n3"], "target": ["n1", "n2"]}
    io.write_table(pa.table(links), folder / "links.csv")
    (folder / "suite2p").mkdir()
    for name in ("F", "Fneu"):
        np.save(folder / "suite2p" / f"{name}.npy", values.T.astype("f4"))
    with h5py.File(folder / "caiman.hdf5", "w") as file:
        file["estimates/C"] = values.T


TRACES = "connectome traces.csv --drop time"

command("averaged", f"{TRACES} --positions places.csv --gold links.csv --seed 1", write_traces)
command("rows", "connectome rows.npy --neurons rows --layout table --method pearson", write_traces)
command(
    "settings",
    "connectome traces.npy --method full --threshold 0.1 --threshold 0.12 --components 0.5 "
    "--missing drop --links 5 --top 2",
    write_traces,
)
command("demo", "connectome --demo --method pearson", write_traces)
ARRAY = "connectome traces.npy --method pearson"
command("layout auto", f"{ARRAY} --layout auto --neurons columns --missing refuse", write_traces)
command("layout suite2p", "connectome suite2p --layout suite2p --neuropil 0.1", write_traces)
command(
    "layout caiman",
    "connectome caiman.hdf5 --layout caiman --key estimates/C --missing interpolate",
    write_traces,
)
command("checkpoint", f"{TRACES} --method pearson --checkpoint kept", write_traces)
command("trees", f"{TRACES} --method genie3 --trees 3 --max-depth 2", write_traces)
command("quiet", f"{TRACES} --method transfer-entropy --quiet-below 1", write_traces)
for method in ("averaged", "full", "partial-correlation", "pearson", "transfer-entropy", "genie3"):
    command(f"method {method}", f"{TRACES} --method {method} --trees 3", write_traces)
for precision in ("auto", "exact", "pca", "ledoit-wolf", "oas"):
    words = f"{TRACES} --method partial-correlation --precision {precision}"
    command(f"precision {precision}", words, write_traces)
