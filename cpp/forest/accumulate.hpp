// Quantities summed over a grown forest in a fixed order.
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

// Mean decrease of impurity of every column, in the unit of the criterion, of trees that are added
// in their order. With `scored`, the impurity of an inner node is the score of its split, and what
// is added up are scores.
class DecreaseSums {
 public:
  DecreaseSums(std::size_t n_columns, bool by_degree, bool scored)
      : by_degree_(by_degree), scored_(scored), sums_(n_columns, 0.0), squares_(n_columns, 0.0) {}

  std::size_t n_columns() const { return sums_.size(); }
  void add(const ForestView& forest);
  Decreases means() const;

 private:
  bool by_degree_, scored_;
  std::size_t n_trees_ = 0;
  std::vector<double> sums_, squares_;        // over the trees
  std::vector<std::vector<double>> degrees_;  // degree, then column
};

// Out-of-bag sums of leaf values, of trees that are added in their order. The error is the fraction
// of wrong classes, or the mean square.
struct OutOfBag {
  OutOfBag(std::size_t n_rows, std::size_t n_values)
      : sums(n_rows * n_values, 0.0), counts(n_rows, 0) {}

  // Adds trees, the first of which has this number in the stream of random numbers.
  void add(const ForestView& forest, const Problem& problem, std::uint64_t first_tree,
           unsigned n_threads);
  // The same from the leaves of the rows, row by tree; -1 in the bag.
  void add_leaves(const ForestView& forest, const Problem& problem, const std::int32_t* leaves);

  std::vector<double> sums;           // row by value: sum over the trees the row is out of bag of
  std::vector<std::uint32_t> counts;  // per row: number of those trees
  std::vector<double> error;          // after 1, 2, ... trees; NaN while no row was out of bag

 private:
  template <class Leaves>
  void add_from(const Leaves& of_rows, const ForestView& forest, const Problem& problem,
                unsigned n_threads);
};

// Fraction of trees in which two rows fall into one leaf: over all trees, or, with out (row by
// tree), over those where both rows are out of bag (NaN where there is none).
void proximity(const std::int32_t* leaves, const std::uint8_t* out, std::size_t n_rows,
               std::size_t n_trees, unsigned n_threads, const Monitor& monitor, double* result);

}  // namespace duramen
