// Minimal cost-complexity pruning (Breiman, Friedman, Olshen, Stone 1984, chapter 3).
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"

namespace duramen {

struct WeakestLinks {
  // Per node: the complexity parameter at which the node becomes a leaf; NaN at a leaf, and where
  // the node goes with one above it.
  std::vector<double> alpha;
  // What the impurity of the leaves grows by then, as a fraction of the weight of the tree.
  std::vector<double> increase;
  std::vector<std::int64_t> fewer;  // reduction of the number of leaves
};

// With R(t) the impurity of node t times its fraction of the weight, and R_t the sum over the
// leaves beneath it, a node becomes a leaf when (R(t) - R_t) / (leaves - 1) is the least of the
// tree; then the next one. Of equal nodes the one with the lower number comes first.
WeakestLinks weakest_links(const ForestView& forest);

}  // namespace duramen
