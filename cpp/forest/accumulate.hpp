// Quantities summed over a grown forest, always in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "grow/problem.hpp"

namespace duramen {

struct Decreases {
  std::vector<double> mean;            // per column: mean over the trees of sum p(t) decrease
  std::vector<double> standard_error;  // per column: of that mean, over the trees
  std::vector<double> by_degree;       // column by degree, where asked for
  std::size_t n_degrees = 0;           // largest degree of a split, plus one
};

// Mean decrease of impurity of every column, in the unit of the criterion. With `scored`, the
// impurity of an inner node is the score of its split, and what is added up are scores.
Decreases mean_decreases(const ForestView& forest, std::size_t n_columns, bool by_degree,
                         bool scored);

struct OutOfBag {
  std::vector<double> sums;           // row by value: sum over the trees the row is out of bag of
  std::vector<std::uint32_t> counts;  // per row: number of those trees
  std::vector<double> error;          // after 1, 2, ... trees; NaN while no row was out of bag
};

// Out-of-bag sums of leaf values. The error is the share of wrong classes, or the mean square.
OutOfBag out_of_bag(const ForestView& forest, const Problem& problem, std::uint64_t first_tree,
                    unsigned n_threads);

// Share of trees in which two rows fall into one leaf: over all trees, or, with out (row by tree),
// over those where both rows are out of bag (NaN where there is none).
void proximity(const std::int32_t* leaves, const std::uint8_t* out, std::size_t n_rows,
               std::size_t n_trees, unsigned n_threads, const Monitor& monitor, double* result);

}  // namespace duramen
