"""Command lines whose results are recorded.

Every command, every option with each of its choices, kinds of files, targets and designs. Forests
are small and permutations few, so that most commands take less than a second.
"""

from __future__ import annotations

from tests.record.cases import LINEAR_ALGEBRA, command

# ---------------------------------------------------------------------------------------- rank
GRADE = "rank grade.csv --target grade --trees 30"
ILL = "rank ill.csv --target ill --trees 30"
RESPONSE = "rank response.csv --target response --trees 30"
DESIGN = "rank design.csv --target ill --trees 30 --permutations 19"
SURVIVAL = "rank survival.csv --target months --event died --trees 30"

command("classes", f"{GRADE} --permutations 19")
command("two-classes", f"{ILL} --permutations 19 --positive well --xlsx --spreadsheet-safe")
command("many-categories", "rank ill.csv --target stage --categorical age --trees 30 --no-test")
command("numbers", f"{RESPONSE} --permutations 19 --task regression")
command("counts", "rank visits.csv --target visits --trees 30 --permutations 19 --task regression")
command("survival", f"{SURVIVAL} --no-test")
command("survival-test", f"{SURVIVAL} --task survival --forest extra-trees --permutations 19")
command(
    "survival-entry",
    "rank cohort.csv --target months --event cause --event-of-interest disease --entry included "
    "--trees 30 --permutations 19",
)
command("no-test", f"{GRADE} --no-test --top 3 --explain-output --seed 5")
command("balanced", f"{ILL} --no-test --class-weight balanced")
command("balanced-subsample", f"{GRADE} --no-test --class-weight balanced-subsample")
command(
    "kinds-and-dropped",
    "rank patients.csv --target grade --task classification --categorical stage --drop ill "
    "--drop response --drop months --drop died --drop visits --drop person --drop hour "
    "--trees 30 --no-test",
)
command(
    "small-trees",
    f"{RESPONSE} --no-test --max-depth 3 --min-leaf 4 --max-rows 40 --criterion variance "
    "--max-features all --seed 2",
)
command("gini", f"{GRADE} --no-test --max-features 2 --criterion gini --no-bootstrap")
command(
    "entropy",
    f"{GRADE} --no-test --forest extra-trees --max-features 0.5 --criterion entropy --bootstrap",
)
MEASURES = (
    *("mdi", "mdi-oob", "mda", "vote-change", "conditional-mda", "frequency", "minimal-depth"),
    *("noising", "holdout-mda", "air", "sandri", "prediction-change", "sobol-mda"),
    "local-mdi",
)
command(
    "measures-of-classes",
    "rank grade.csv --target grade --drop marker --drop sex --trees 20 --no-test "
    + " ".join(f"--measure {measure}" for measure in MEASURES),
)
command("measures-of-numbers", f"{RESPONSE} --measure mda --measure noising --no-test")
command("mdi-plus", f"{GRADE} --measure mdi-plus --no-test", digits=LINEAR_ALGEBRA)
command("mcfs", "rank grade.csv --target grade --trees 6 --measure mcfs --no-test")
for test, words in {
    "max-t": "--permutations 19 --forest bagged-trees",
    "altmann": "--permutations 12 --distribution empirical",
    "janitza": "--measure holdout-mda",
    "multiple-probes": "--permutations 6",
    "one-probe": "--permutations 6 --forest random-subspace",
    "conditional-error-rate": "--permutations 19",
    "fdr-curve": "--permutations 6 --forest random-patches",
    "frequency-control": "--permutations 6 --forest totally-randomized-trees",
    "hapfelmeier": "--permutations 6 --trees 6",
    "mean-rank-test": "--permutations 4 --forest pert",
    "forest-probe-ranking": "--permutations 3 --forest random-forest",
}.items():
    command(f"test-{test}", f"{GRADE} --significance {test} {words}")
command(
    "test-probe-ranking",
    f"{RESPONSE} --drop marker --drop sex --significance probe-ranking",
)
# Ranks that the diagnosis counts hang on the last digits of samples drawn.
DIRECT = {"digits": LINEAR_ALGEBRA, "without": ("diagnosis", "estimator")}
command("test-conditional", f"{GRADE} --significance conditional", **DIRECT)
command(
    "direct",
    f"{ILL} --no-test --direct --feature-groups groups.csv",
    **DIRECT,
)
command(
    "model",
    "rank grade.csv --target grade --estimator sklearn.ensemble.HistGradientBoostingClassifier "
    '--estimator-params {"max_iter":3,"min_samples_leaf":5} --permutations 19',
    digits=LINEAR_ALGEBRA,
)
for distribution in ("normal", "lognormal", "gamma"):
    command(
        f"altmann-{distribution}",
        f"{ILL} --significance altmann --permutations 12 --distribution {distribution}",
    )
ERROR_RATE = "--significance conditional-error-rate --permutations 19"
command("rates-of-groups", f"{ILL} {ERROR_RATE} --feature-groups groups.csv")
command("feature-groups", f"{RESPONSE} --no-test --feature-groups groups.csv")
command("strata", f"{DESIGN} --strata site --drop person")
command("groups", f"{DESIGN} --groups person --drop site")
command("covariate", f"{DESIGN} --covariate hour --covariate age --drop person --drop site")
command(
    "weights", "rank few.csv --target y --sample-weight batch --drop place --trees 20 --no-test"
)
command("rows-dropped", f"{GRADE} --no-test --missing drop")
command("interactions", f"{RESPONSE} --no-test --interactions", digits=LINEAR_ALGEBRA)
command("explain", f"{ILL} --no-test --explain 3 --explain 8 --explain-rows grade.csv")
command("explain-all", f"{RESPONSE} --no-test --explain all")
PRECISION = "--no-test --intervals --resamples 4"
command("precision", f"{GRADE} {PRECISION} --stability 2 --confidence-level 0.9")
command("intervals", f"{RESPONSE} {PRECISION}")
command("representatives", f"{GRADE} --permutations 19 --representatives 0.5")
command("checkpoint", f"{GRADE} --permutations 19 --checkpoint saved")
command("demo", "rank --demo --trees 5 --no-test --top 5")
PLINK = "rank g.bed --target phenotype --trees 30 --no-test"
command("plink", PLINK)
command("plink-clusters", f"{PLINK} --clusters 0.3 --distance 2 --samples-feature sex")
command("plink-clusters-as-groups", f"{PLINK} --clusters 0.3 --feature-groups clusters")
command("parquet", "rank grade.parquet --target grade --trees 30 --no-test")
command(
    "tsv",
    "rank commas.tsv --target ill --na ? --decimal , --separator tab --as-text ill --trees 30 "
    "--no-test",
)
command("workbook", "rank book.xlsx --sheet patients --target ill --trees 30 --no-test")
command("findings", "rank findings.csv --target ill --drop-missing-target --trees 30 --no-test")
command(
    "identifiers",
    "rank findings.csv --target ill --drop-missing-target --keep-identifiers --na -999 --trees 30 "
    "--no-test",
)
MATRIX = "rank matrix.npy --target state --trees 30 --no-test"
command("array", f"{MATRIX} --samples ordered.csv --samples-match position --samples-feature age")
command(
    "store",
    "rank store --target grade --trees 30 --no-test",
    before=["pack grade.csv --out store"],
)

# ---------------------------------------------------- formats, joined samples: every command
# Words that each command needs besides FILE and the target.
NEEDED = {
    "rank": "--trees 20 --no-test",
    "select": "--method mrmr",
    "compare": "--resamples 2 --trees 5 --measure mdi --features 2",
    "exact": "--bins 2 --max-depth 2 --max-degree 1",
    "context": "--context level --context-bins 2 --trees 20 --permutations 9",
    "network": "--trees 5",
    "pack": "",
}
for name, words in NEEDED.items():
    target = {"pack": "", "network": "--drop grade --drop sex --drop marker"}.get(
        name, "--target grade"
    )
    archive = f"{name} study.zip --member new.csv --encoding latin-1 --skip-rows 1 {words}"
    command("archive", f"{archive} {target}")
    if name == "network":
        continue
    target = "" if name == "pack" else "--target state"
    samples = "--transpose --samples folded.csv --samples-id id --samples-match fold"
    command("rows-are-features", f"{name} rows.csv {samples} {target} {words}")
    command("cells", f"{name} cells.h5ad --layer twice {target} {words}")
    if name in ("rank", "pack"):
        continue
    feature = "--samples-feature age" if name == "context" else ""
    named = f"{feature} --samples samples.csv --samples-id id --samples-match exact --as-text state"
    command("samples", f"{name} named.csv {named} {target} {words}")
    position = "--samples ordered.csv --samples-match position --samples-feature age"
    if name == "context":  # of the samples
        position, words = (
            position.removesuffix(" --samples-feature age"),
            words.replace("level", "age"),
        )
    if name == "exact":
        command("array", f"{name} matrix.npy {position} {target} {words}")
    else:
        command(
            "store",
            f"{name} store {position} {target} {words}",
            before=["pack matrix.npy --out store"],
        )

# -------------------------------------------------------------------------------------- select
GENES = "select genes.csv --target state --drop dose --trees 40 --subspace 15"
DOSE = "select genes.csv --target dose --drop state --trees 20"
FEW = "select grade.csv --target grade --trees 30"
command("default", FEW)
command("decoys", f"{GENES} --method sequential-random-subspace --relevance decoy --alpha 0.3")
command("probes", f"{GENES} --tree random --relevance probe --probes 2 --min-draws 3")
command("hard", f"{GENES} --batch 4 --patience 12 --keep 0.3 --checkpoint saved")
command(
    "probe",
    f"{FEW} --relevance probe --min-draws 5 --min-win-rate 0.6 --categorical stage "
    "--task classification --subspace 3 --tree extra",
)
command("positive", f"{FEW} --relevance positive --tree random --subspace 3")
command(
    "numbers",
    f"{DOSE} --subspace 0.3 --tree cart --task regression --max-features 0.5 --top 3 --seed 8",
)
command("memory", f"{DOSE} --memory 1MB --max-rows 30")
command("tsv", "select commas.tsv --target ill --na ? --decimal , --trees 30 --subspace 2")
BORUTA = f"{FEW} --method boruta"
command("boruta", f"{BORUTA} --rounds 14 --correction bonferroni --percentile 90")
command(
    "boruta-two-step",
    f"{BORUTA} --rounds 10 --correction two-step --measure mdi --alpha 0.1 --rough-fix",
)
DESIGN = "select design.csv --target ill --method boruta --trees 20 --rounds 10"
command("strata", f"{DESIGN} --strata site --drop person")
command("groups", f"{DESIGN} --groups person --drop site")
command(
    "plink",
    "select g.bed --target phenotype --method boruta --trees 20 --rounds 10 --covariate sex "
    "--clusters 0.3 --distance 3",
)
command("knock-out", f"{FEW} --method knock-out --permutations 19 --rounds 2")
for method, words in {
    "artificial-contrasts": "--trees 10 --rounds 1",
    "backward-elimination": "--trees 20 --measure mdi",
    "vsurf": "--trees 10",
    "regularized-forest": "--trees 20",
    "guided-regularized-forest": "--trees 20",
    "forward-selection": "--features 1",
    "backward-selection": "--features 5",
    "floating-selection": "--features 1",
    "adaptive-floating-selection": "--features 1",
    "exhaustive-selection": "--features 1",
    "markov-boundary": "",
    "jmi": "--features 2",
    "cmim": "--features 2",
    "fcbf": "",
    "markov-blanket-filter": "--features 2",
}.items():
    command(method, f"select numbers.csv --target y --method {method} {words}")
STABILITY = "select numbers.csv --target y --method stability-selection"
for name, line in {
    "lasso": "select numbers.csv --target y --method lasso",
    "ridge": "select numbers.csv --target y --method ridge --features 2",
    "stability-lasso": f"{STABILITY} --learner lasso --draws 10 --per-draw 3 --artificial permuted",
    "stability-knockoff": f"{STABILITY} --learner lasso --draws 10 --artificial knockoff",
}.items():
    command(name, line, digits=LINEAR_ALGEBRA)
command("stability-forest", f"{STABILITY} --learner forest --trees 5 --draws 6 --alpha 1")
command("demo", "select --demo --trees 5 --top 5")
NUMBERS = "select numbers.csv --target y --trees 10 --method"
for name, line in {
    "masked-contrasts": "artificial-contrasts --rounds 1 --remove-masked --permutations 4",
    "recomputed-elimination": "backward-elimination --recompute --min-features 3 "
    "--standard-errors 0.5 --nested-folds 2",
    "threshold": "vsurf --select threshold --n-thresholding 5 --threshold-factor 0.5",
    "interpretation": "vsurf --select interpretation --n-interpretation 3 --n-thresholding 5 "
    "--standard-deviations 2",
    "prediction": "vsurf --select prediction --n-prediction 2 --n-thresholding 5 --jump-factor 0.5",
    "penalized-gain": "regularized-forest --penalize gain --penalty 0.9",
    "penalized-proxy": "regularized-forest --penalize proxy",
}.items():
    command(name, f"{NUMBERS} {line}")
LEARNER = "select numbers.csv --target y --method"
for name, line in {
    "union": "markov-boundary --select union",
    "smallest": "markov-boundary --select smallest",
    "plus-l-minus-r": "forward-selection --plus 2 --minus 1 --cv 2 --features best",
    "longest-step": "adaptive-floating-selection --max-step 1 --features 2 --scoring accuracy",
    "intervals": "fcbf --n-bins 3 --threshold 0.02",
    "blanket-of-one": "markov-blanket-filter --blanket-size 1 --features 3",
    "relief": "relieff --variant relief --threshold 0.05",
    "multisurf": "relieff --variant multisurf --features 2",
    "relieff": "relieff --variant relieff --n-neighbors 5 --features 2",
    "subsample": "stability-selection --trees 5 --draws 4 --subsample 0.6",
}.items():
    command(name, f"{LEARNER} {line}", digits=LINEAR_ALGEBRA)

# ------------------------------------------------------------------------------------- compare
COMPARE = "compare grade.csv --target grade --resamples 3 --trees 5"
command(
    "selectors-and-measures",
    f"{COMPARE} --selector all-features --selector mrmr --measure mdi --measure vote-change "
    "--features 1 --features 3 --learner forest --top 2 --max-rows 50",
)
command(
    "scores",
    "compare ill.csv --target ill --resamples 3 --trees 5 --measure mdi --score auc "
    "--categorical stage --score balanced-accuracy --test 0.25",
)
command("groups", "compare design.csv --target ill --resamples 3 --trees 5 --groups person")
command("inside", f"{COMPARE} --measure mdi --test 12 --checkpoint saved")
for learner in ("linear-svm", "k-nearest-neighbors", "logistic-regression"):
    command(
        learner,
        f"compare genes.csv --target state --drop dose --resamples 3 --trees 5 --measure mdi "
        f"--task classification --learner {learner} --features 2",
        digits=LINEAR_ALGEBRA,
    )
command(
    "numbers",
    "compare response.csv --target response --task regression --resamples 3 --trees 5 "
    "--learner ridge-regression --features 2 --measure mda --seed 4 --score r2 --drop sex",
    digits=LINEAR_ALGEBRA,
)
command(
    "tsv",
    "compare commas.tsv --target ill --na ? --decimal , --resamples 3 --trees 5 --features 1",
)
command("demo", "compare --demo --resamples 2 --trees 5 --measure mdi --features 5")

# ------------------------------------------------------------------------------------- context
SMALL = "--trees 20 --permutations 19"
ALONE = "--drop batch --drop person --drop region"
PLACE = f"context few.csv --target y --context place --drop hour {SMALL} {ALONE}"
command("classes", PLACE)
command("permute-all", f"{PLACE} --permute all --categorical a --task classification")
command(
    "permute-within-target",
    f"{PLACE} --permute within-target --empty zero --criterion gini --splits multiway",
)
command(
    "strata",
    f"context few.csv --target y --context place --drop hour --drop person --drop region {SMALL} "
    "--strata batch --empty skip --criterion entropy --permute conditional",
)
command(
    "groups",
    f"context few.csv --target y --context region --drop place --drop hour --drop batch {SMALL} "
    "--groups person --permute all",
)
command("covariate", f"{PLACE.replace('--drop hour', '')} --covariate hour")
command(
    "plain-p-values",
    f"{PLACE} --plain-p-values --alpha 0.5 --control fwer --checkpoint saved",
)
command(
    "no-control",
    f"{PLACE} --alpha 0.5 --control none --splits auto --max-features 2 --max-depth 3",
)
command("fdr", f"{PLACE} --control fdr --splits ordered")
command(
    "numbers",
    "context response.csv --target response --context stage --task regression --bins 3 "
    f"--missing category --criterion variance {SMALL}",
)
command("rows-dropped", f"context grade.csv --target grade --context sex --missing drop {SMALL}")
command(
    "sampled",
    "context few.csv --target y --context hour --drop place --max-rows 40 "
    f"--plain none --n-estimators 20 --n-permutations 19 --random-state 3 {ALONE}",
)
command(
    "tsv",
    f"context commas.tsv --target ill --context sex --missing drop --na ? --decimal , {SMALL}",
)
command("plink", f"context g.bed --target phenotype --context sex {SMALL}")
command("demo", f"context --demo {SMALL}")

# ------------------------------------------------------------------------------------- network
NETWORK = "network expression.csv --drop batch --trees 10"
command("genes", f"{NETWORK} --links 5 --top 2 --seed 1")
command("rows", "network transposed.csv --transpose --trees 10")
command(
    "published",
    f"{NETWORK} --max-features sqrt --bootstrap --source-scaling none --gold gold.csv "
    "--regulators regulators.txt --targets g1 --targets g4",
)
command("factors", f"{NETWORK} --regulators factors.txt --genes-match fold")
command("p-values", f"{NETWORK} --permutations 3 --source-scaling variance")
command("leaves-and-depth", f"{NETWORK} --min-samples-leaf 3 --max-depth 2 --no-bootstrap")
command("words", "network words.csv --trees 10 --categorical w0 --as-text w1")
command(
    "tsv", "network commas.tsv --na ? --decimal , --drop ill --drop sex --drop marker --trees 10"
)
command(
    "subsample",
    f"{NETWORK} --subsample 20 --adjacencies adjacencies.tsv --checkpoint saved --seed 1",
)
command("demo", "network --demo --trees 3 --links 100")
command(
    "cells",
    "network cells.h5ad --layer twice --missing drop --n-estimators 5 --n-permutations 2 "
    "--random-state 1",
)
for forest, measure, normalization in (
    ("random-forest", "mdi", "unit"),
    ("extra-trees", "frequency", "sum"),
    ("totally-randomized-trees", "minimal-depth", "none"),
    ("bagged-trees", "mdi-oob", "unit"),
    ("random-subspace", "local-mdi", "unit"),
    ("random-patches", "last-level", "unit"),
    ("random-forest", "mda", "unit"),
    ("random-forest", "conditional-mda", "unit"),
    ("random-forest", "noising", "unit"),
    ("random-forest", "sobol-mda", "unit"),
):
    words = f"--forest {forest} --measure {measure} --normalization {normalization}"
    command(measure, f"{NETWORK} {words}")
command("mdi-plus", f"{NETWORK} --measure mdi-plus", digits=LINEAR_ALGEBRA)

# ---------------------------------------------------------------------------------- connectome
TRACES = "connectome traces.csv --drop time"
for name, line in {
    "averaged": f"{TRACES} --method averaged --positions places.csv --gold links.csv --seed 1",
    "full": "connectome traces.npy --method full --threshold 0.1 --threshold 0.12 "
    "--components 0.5 --missing drop --links 5 --top 2",
    "rows": "connectome neurons.npy --neurons rows --layout table --method pearson",
    "auto": "connectome traces.npy --layout auto --neurons columns --missing refuse "
    "--method pearson",
    "suite2p": "connectome suite2p --layout suite2p --neuropil 0.1",
    "caiman": "connectome caiman.hdf5 --layout caiman --key estimates/C --missing interpolate",
    "trees": f"{TRACES} --method genie3 --trees 5 --max-depth 2 --checkpoint saved",
    "quiet": f"{TRACES} --method transfer-entropy --quiet-below 1",
    "demo": "connectome --demo --method pearson --links 100",
    "plain": f"{TRACES} --method pearson --weighting none --directivity none --random-state 1",
    "w": f"{TRACES} --method genie3 --weighting w --exponent 0.9 --n-estimators 3",
    "w-star": f"{TRACES} --method partial-correlation --weighting w-star --directivity weighted",
    "w-star-paper": f"{TRACES} --method partial-correlation --weighting w-star-paper "
    "--directivity masked",
    **{
        f"precision-{precision}": f"{TRACES} --method partial-correlation --precision {precision}"
        for precision in ("auto", "exact", "pca", "ledoit-wolf", "oas")
    },
}.items():
    command(name, line, digits=LINEAR_ALGEBRA)

# --------------------------------------------------------------------------------------- exact
EXACT = f"exact few.csv --target y {ALONE} --drop place --drop hour"
command("classes", f"{EXACT} --as-text y")
command("gini", f"{EXACT} --max-depth 2 --criterion gini --task classification")
command("entropy", f"{EXACT} --max-features 2 --criterion entropy --top 2")
command("one-vs-rest", f"{EXACT} --splits one-vs-rest")
command("any", f"{EXACT} --splits any --cut random --level 0.05")
command("best", f"{EXACT} --splits ordered --cut best --max-features 2 --max-degree 1")
command(
    "uniform",
    "exact numbers.csv --target y --splits ordered --cut uniform --discretize none --max-depth 2",
)
command("categorical", f"{EXACT} --categorical a --max-hours 1 --splits multiway")
for discretize, words in {
    "auto": "",
    "quantile": "--bins 3",
    "uniform": "--bins 3",
    "none": "",
}.items():
    command(
        f"discretize-{discretize}",
        f"exact grade.csv --target grade --discretize {discretize} {words} --max-depth 3 "
        "--missing drop",
    )
command(
    "numbers",
    "exact response.csv --target response --task regression --bins 2 --criterion variance "
    "--missing category --max-degree 2",
)
command("tsv", "exact commas.tsv --target ill --na ? --decimal , --bins 2 --max-degree 1")
command("demo", "exact --demo --max-depth 2 --max-degree 1")
command("weights", "exact few.csv --target y --sample-weight batch --max-degree 1 --drop place")

# ---------------------------------------------------------------------------------- plan, pack
command("classes", "plan --rows 200 --features 1000 --memory 64KB --relevant 0:3,1:2")
command(
    "numbers",
    "plan --rows 200 --features 5000 --memory 1MB --relevant 4 --classes 1 --values 1000 "
    "--risk 0.2 --keep 0 --keep 0.5",
)
command("table", "pack patients.csv --memory 64MB --overwrite")
command("tsv", "pack commas.tsv --na ? --decimal , --categorical stage")
command("units", "pack units.csv --as-text remark")
command("plink", "pack g.bed")
command("ordered", "pack rows.csv --transpose --samples ordered.csv --samples-match position")
