# Times one fit of ranger with impurity importances, one thread.
#
#   Rscript ranger.R X.bin y.bin ROWS COLUMNS ET|RF K TREES classification|regression SEED
#
# X.bin holds doubles column by column, y.bin doubles (codes of classes, or numbers). Prints the
# seconds of the second of two fits.
suppressPackageStartupMessages(library(ranger))
arguments <- commandArgs(trailingOnly = TRUE)
rows <- as.integer(arguments[3])
columns <- as.integer(arguments[4])
extra <- arguments[5] == "ET"
k <- as.integer(arguments[6])
trees <- as.integer(arguments[7])
regression <- arguments[8] == "regression"
seed <- as.integer(arguments[9])

x <- matrix(readBin(arguments[1], "double", rows * columns), rows, columns)
colnames(x) <- paste0("x", seq_len(columns))
y <- readBin(arguments[2], "double", rows)
if (!regression) y <- factor(y)

fit <- function(trees) {
  model <- ranger(
    x = x, y = y, num.trees = trees, mtry = k, importance = "impurity", num.threads = 1,
    seed = seed, oob.error = FALSE, min.node.size = 1, verbose = FALSE,
    splitrule = if (extra) "extratrees" else if (regression) "variance" else "gini",
    num.random.splits = 1, replace = !extra, sample.fraction = 1
  )
  model$variable.importance
}
invisible(fit(2))
cat(system.time(fit(trees))[["elapsed"]])
