// Interactions of pairs of columns from the nodes of trees, and the columns above them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "grow/problem.hpp"
#include "grow/settings.hpp"

namespace duramen {

// Of some columns, pair by pair: mean over the trees, and its standard error.
struct PairMeans {
  std::vector<double> mean, standard_error;
};

// A node with d columns above it that splits on column m, and lowers the impurity by D (times its
// fraction of the weight), adds p D / d to the pair of m with each column above it, and takes
// p D / (p - 1 - d) from that of m with each column that is not. Columns above are those that the
// path splits on; in multiway trees, where a column that is drawn and found constant counts for the
// degree, those too, by the probability that they were drawn: that is what the rows are asked for.
// In totally randomized multiway trees the mean is the Shapley interaction index; a pair has its
// two halves from the nodes of either column.
PairMeans pair_interactions(const ForestView& forest, const CodeRows& rows,
                            const Settings& settings, std::uint64_t seed, std::uint64_t first_tree,
                            const std::vector<std::uint32_t>& columns, unsigned n_threads,
                            const Monitor& monitor);

// The pairs of columns that lie on a common path, one above the other, by first and second column,
// the first being the smaller; mean over the trees.
struct PathPairs {
  std::vector<std::int32_t> first, second;
  std::vector<double> mean;
};

// The same sums of those pairs alone, in memory that grows with their number. Trees have no
// recorded degrees: columns above a node are those that the path splits on.
PathPairs path_pairs(const ForestView& forest, std::size_t n_columns, unsigned n_threads,
                     const Monitor& monitor);

}  // namespace duramen
