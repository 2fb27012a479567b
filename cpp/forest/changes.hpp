// What a number that every node of a tree holds changes by along the path of a row, by the column
// that is split on: local importances, and parts of predictions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "grow/problem.hpp"
#include "grow/settings.hpp"

namespace duramen {

// How rows count in a tree: all the same; by whether the bag lacks them; by their multiplicity in
// the bag times `weights`, if any, as a fraction of the weight of the tree.
struct PathWeights {
  enum class Kind { equal, out_of_bag, in_bag };

  Kind kind = Kind::equal;
  Settings settings;  // of the bags
  std::uint64_t seed = 0;
  std::uint64_t first_tree = 0;
  const double* weights = nullptr;
};

// Numbers of the nodes of a forest, node by value, and which of them each row follows (or null: the
// first).
struct NodeNumbers {
  const double* values = nullptr;
  std::size_t width = 1;
  const std::uint32_t* of_row = nullptr;
  std::size_t place(std::size_t row) const { return of_row == nullptr ? 0 : of_row[row]; }
};

// Means over the trees, weighted as the rows are.
struct PathChanges {
  std::vector<double> weight;         // per row: sum over the trees
  std::vector<double> start;          // per row: number of the root
  std::vector<double> dense;          // row by column, unless sparse
  std::vector<std::int64_t> offsets;  // per row, if sparse: where its entries begin
  std::vector<std::int32_t> columns;  // ascending within a row
  std::vector<double> entries;
};

// Each row is summed in the order of the trees, so that the result does not depend on threads.
template <class Rows>
PathChanges path_changes(const ForestView& forest, const Rows& rows, std::size_t n_rows,
                         const NodeNumbers& numbers, const PathWeights& weights, bool sparse,
                         unsigned n_threads, const Monitor& monitor);

}  // namespace duramen
