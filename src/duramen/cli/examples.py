"""Examples of the commands, which ``--example`` prints: shell lines with comments.

The first line of each runs as it stands; the others name files of the user.
"""

from __future__ import annotations

EXAMPLES = {
    "rank": """\
# Genes of a leukemia data set that comes with the package.
duramen rank --demo --out leukemia
# A table: one row for each sample, one column with the outcome.
duramen rank patients.csv --target relapse
# Several samples of a person; a column that was recorded after the outcome.
duramen rank patients.csv --target relapse --groups person --drop followup
# The features that matter given all others.
duramen rank patients.csv --target relapse --direct
# Genotypes, with the diagnosis in a second file.
duramen rank cohort.bed --samples people.csv --target diagnosis --covariates age
# In a script: JSON on standard output.
duramen rank patients.csv --target relapse --seed 1 --json --quiet
""",
    "select": """\
# Few of the genes of a leukemia data set that comes with the package.
duramen select --demo --selector boruta --out few
# More columns than memory holds: a store on disk, trees on some of the columns.
duramen pack cohort.bed --samples people.csv --out cohort.store
duramen select cohort.store --target diagnosis --memory 1GB
""",
    "compare": """\
# Measures and all genes, on splits of a leukemia data set that comes with the package.
duramen compare --demo --n-resamples 10 --n-features 10 --out splits
# Selectors and a ranking by their first 5 and 20 features.
duramen compare patients.csv --target relapse --methods boruta --methods mdi --n-features 5 \\
    --n-features 20
""",
    "context": """\
# Simulated features whose importance depends on a context.
duramen context --demo --trees 100 --permutations 100 --out contexts
# Features of a diagnosis that matter more, or less, in one sex.
duramen context patients.csv --target diagnosis --context sex
# Links between genes that differ between two tissues.
duramen context expression.csv --network --context tissue
""",
    "network": """\
# A simulated network of 50 genes.
duramen network --demo --trees 100 --out genes
# Samples in rows, genes in columns; regulators one a line.
duramen network expression.csv --regulators factors.txt
# Genes in rows; known links to compare with.
duramen network expression.csv --transpose --gold links.csv
""",
    "connectome": """\
# A simulated culture of 40 neurons.
duramen connectome --demo --out culture
# Fluorescence of suite2p, less 0.7 times that of the neuropil.
duramen connectome suite2p/plane0 --neuropil 0.7
# Frames in rows, neurons in columns; positions for the picture.
duramen connectome fluorescence.csv --positions positions.csv
""",
    "exact": """\
# Tumor sites of the data that come with the package, trees of two levels.
duramen exact --demo --max-depth 2 --out tumors
# The rows of a table as the population.
duramen exact survey.csv --target answer --max-depth 3
# Importances by accuracy, where several features are tried at a node.
duramen exact survey.csv --target answer --measure mda --max-features 2
""",
    "plan": """\
# Genotypes of 1,000 people: 10 features that matter alone, and 5 that need another one.
duramen plan --n-rows 1000 --n-features 500000 --memory 512MB --relevant 0:10,1:5
# The same where a tree may take some of the features found before.
duramen plan --n-rows 1000 --n-features 500000 --memory 8MB --relevant 0:10,1:5 --keep 0.25
""",
    "pack": """\
# A table of 3 rows, packed into a folder.
printf 'person,age,marker\\nanna,41,0.2\\nben,37,1.5\\ncleo,58,0.9\\n' > small.csv
duramen pack small.csv --out small.store
# Genotypes with annotations of the people.
duramen pack cohort.bed --samples people.csv --out cohort.store
# Genes in rows, 2 GB of memory.
duramen pack expression.tsv --transpose --memory 2GB --out expression.store
""",
}
