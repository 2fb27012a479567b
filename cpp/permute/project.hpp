// Predictions of trees projected along groups of columns: splits on a group are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "grow/problem.hpp"
#include "grow/settings.hpp"
#include "permute/permute.hpp"

namespace duramen {

struct Projections {
  Settings bags;  // how the bags of the trees were drawn, and from which seed
  std::uint64_t bag_seed = 0;
  std::uint64_t first_tree = 0;
  std::size_t n_rows = 0;
  const double* masses = nullptr;  // row by 1 + values: weight of the row, then its response
  double scale = 1.0;              // steps of the sums in 1
  std::uint32_t min_rows = 1;      // fewest rows of a tree that predict
};

struct Projected {
  std::vector<std::uint32_t> trees;   // per row: trees that it is out of bag of
  std::vector<std::int64_t> sums;     // row by value: over these trees, of its leaves
  std::vector<std::int64_t> changes;  // group by row by value: projected less `sums`
};

// Sums of out-of-bag predictions in steps of 1 / scale. In a projected tree a row goes to all
// children of a split on the group. It is predicted by the mean response of the tree's rows that
// reach the same nodes, at the deepest level of the tree where there are enough of them.
template <class Rows>
Projected projected_values(const ForestView& forest, const Rows& rows, std::size_t n_columns,
                           const Groups& groups, const Projections& projections, unsigned n_threads,
                           Monitor& monitor);

}  // namespace duramen
