"""Commands that are refused: exit code 2, nothing written, and a message that names the mistake."""

from __future__ import annotations

from tests.record.cases import refusal

RANK = "rank ill.csv --target ill"

# Columns.
refusal("unknown-target", "rank ill.csv --target il", "il", "ill")
refusal("unknown-drop", f"{RANK} --drop doze", "--drop", "doze", "dose")
refusal("unknown-categorical", f"{RANK} --categorical nothing", "--categorical", "nothing")
refusal("unknown-strata", f"{RANK} --strata batch", "--strata", "batch")
refusal("unknown-context", "context ill.csv --target ill --context sx", "--context", "sx", "sex")
refusal("missing-context", "context ill.csv --target ill", "--context")
refusal("context-with-holes", "context ill.csv --target ill --context sex", "sex", "--missing drop")
refusal("missing-target", "rank ill.csv", "--target")
refusal("dropped-target", f"{RANK} --drop ill", "--drop", "ill")
refusal("target-with-holes", "rank findings.csv --target ill", "ill", "--drop-missing-target")
refusal("target-of-names", "rank findings.csv --target patient", "patient", "--target")
refusal("regression-of-words", f"{RANK} --task regression", "--target", "ill")
refusal("unknown-regulator", "network expression.csv --regulators g9", "g9")
refusal(
    "unknown-sample-column", "rank named.csv --samples samples.csv --target stat", "stat", "state"
)
refusal(
    "unmatched-samples",
    "rank named.csv --samples folded.csv --target state",
    "--samples-match",
    "fold",
)

# Files and tables.
refusal("missing-file", "rank nothing.csv --target ill", "nothing.csv")
refusal("no-file", "rank --target ill", "FILE", "--demo")
refusal("empty", "rank empty.csv --target ill", "empty.csv")
refusal("one-class", "rank one-class.csv --target ill", "ill", "--target")
refusal("no-member", "rank study.zip --target grade", "--member", "new.csv", "old.csv")
refusal("unknown-sheet", "rank book.xlsx --sheet pat --target ill", "--sheet", "patients")
refusal("unknown-layer", "rank cells.h5ad --layer thrice --target state", "thrice", "twice")
refusal("packed-before", "pack ill.csv", "out", "--overwrite", before=["pack ill.csv --out out"])
refusal(
    "na-of-store", "rank store --target ill --na ?", "--na", before=["pack ill.csv --out store"]
)
refusal("holes", "network ill.csv --drop ill --drop sex", "marker")

# Options: spelling, choices, ranges.
refusal("typo", f"{RANK} --treees 20", "--treees")
refusal("typo-in-measure", f"{RANK} --measure mdaa", "--measure", "mda")
refusal("typo-in-forest", f"{RANK} --forest random-forrest", "--forest", "random-forest")
MODEL = "rank ill.csv --target ill --estimator sklearn.linear_model.LogisticRegression"
refusal("no-package", "rank ill.csv --target ill --estimator nothing.Model", "--estimator nothing.")
refusal("no-class", "rank ill.csv --target ill --estimator json.dumps", "--estimator", "class")
refusal("no-json", f"{MODEL} --estimator-params {{bad", "--estimator-params", "JSON", "{bad")
refusal("no-parameter", f'{MODEL} --estimator-params {{"foo":1}}', "--estimator-params", "foo")
refusal("parameters-of-a-kind", f"{RANK} --estimator-params {{}}", "--estimator-params", "forest")
refusal("model-and-trees", f"{MODEL} --trees 20", "--n-estimators", "LogisticRegression")
refusal("model-and-intervals", f"{MODEL} --intervals", "--intervals", "LogisticRegression")
refusal("model-and-measure", f"{MODEL} --measure mdi", "--measure mdi", "holdout-mda")
refusal("unknown-test", f"{RANK} --significance altman", "--significance", "altmann")
refusal("unknown-task", f"{RANK} --task classify", "--task", "classification", "regression")
refusal("criterion", f"{RANK} --criterion variance", "--criterion", "gini", "entropy", "variance")
refusal("unknown-class", f"{RANK} --positive sick", "--positive", "sick", "ill", "well")
refusal("unknown-row", f"{RANK} --no-test --trees 5 --explain 99", "--explain", "99")
refusal("few-trees", f"{RANK} --trees 0", "--trees", "1")
refusal("words-as-number", f"{RANK} --trees many", "--trees")
refusal("max-features", f"{RANK} --max-features 1.5", "--max-features", "1.5")
refusal("clusters", f"{RANK} --clusters 1.5", "--clusters", "1.5")
refusal("level", f"{RANK} --intervals --confidence-level 2", "--confidence-level", "2")
refusal("memory", "plan --rows 9 --features 9 --memory much --relevant 1", "--memory", "much")
refusal("relevant", "plan --rows 9 --features 9 --memory 1MB --relevant 0:x", "--relevant", "0:x")
refusal("typo-in-method", "select ill.csv --target ill --method borutta", "--method", "boruta")
refusal("alpha", "select ill.csv --target ill --alpha 2", "--alpha", "1")
refusal("score", "compare ill.csv --target ill --score r2", "r2", "auc", "balanced-accuracy")
refusal("bins", "exact ill.csv --target ill --bins 1", "--bins", "2")

# Options that contradict each other.
refusal("no-test-and-test", f"{RANK} --no-test --permutations 9", "--no-test", "--permutations")
refusal("distance", f"{RANK} --distance 9", "--distance", "--clusters")
refusal("resamples", f"{RANK} --resamples 9", "--resamples", "--intervals", "--stability")
refusal(
    "clusters-twice",
    f"{RANK} --clusters 0.5 --representatives 0.5",
    "--clusters",
    "--representatives",
)
refusal("demo-and-file", f"{RANK} --demo", "--demo", "FILE", "--target")
refusal("survival-without-event", "rank survival.csv --target months --task survival", "--event")
refusal("competing-events", "rank cohort.csv --target months --event cause", "--event-of-interest")
refusal("samples-id-alone", f"{RANK} --samples-id id", "--samples-id", "--samples")
refusal("rounds", "select ill.csv --target ill --rounds 3", "--rounds", "--method")
refusal("relieff", "select ill.csv --target ill --method relieff --trees 5", "--trees", "relieff")
