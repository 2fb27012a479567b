# Verdicts of an R package on one table, one thread.
#
#   Rscript verdicts.R X.bin y.bin ROWS COLUMNS Boruta|Altmann SEED
#
# X.bin holds doubles column by column, y.bin codes of classes. Prints the processor seconds of the
# call, then the numbers, from 0, of the features that are confirmed.
suppressPackageStartupMessages(library(ranger))
arguments <- commandArgs(trailingOnly = TRUE)
rows <- as.integer(arguments[3])
columns <- as.integer(arguments[4])
set.seed(as.integer(arguments[6]))
x <- as.data.frame(matrix(readBin(arguments[1], "double", rows * columns), rows, columns))
y <- factor(readBin(arguments[2], "double", rows))

boruta <- function() {
  result <- Boruta::Boruta(x, y, num.threads = 1)
  which(result$finalDecision == "Confirmed")
}

# Altmann et al. (2010): as many permutations as the manual of ranger has.
altmann <- function() {
  data <- data.frame(x, y = y)
  model <- ranger(y ~ ., data, importance = "permutation", num.threads = 1)
  tested <- importance_pvalues(model, "altmann", 100, y ~ ., data, num.threads = 1)
  which(p.adjust(tested[, "pvalue"], "BH") <= 0.05)
}

# The names of variables in a formula are matched slowly; arguments x and y are not accepted.
call <- if (arguments[5] == "Boruta") boruta else altmann
times <- system.time(confirmed <- call())
cat(times[["user.self"]] + times[["sys.self"]], confirmed - 1, "\n")
