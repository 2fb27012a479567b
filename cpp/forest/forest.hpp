// Grown trees as flat arrays. Nodes of a tree are numbered from 0, children are contiguous and come
// after their parent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace duramen {

// Bits of the `split` array.
constexpr std::uint8_t kFamilyMask = 3;
constexpr std::uint8_t kMissingFirst = 4;  // missing values go to child 0
constexpr std::uint8_t kFirstHeavier = 8;  // child 0 carries more weight than child 1

struct Trees {
  std::vector<std::int64_t> n_nodes, n_leaves, pool_sizes;  // one entry a tree
  std::vector<std::int32_t> feature;                        // -1 for a leaf
  std::vector<std::int32_t> child;    // first child, or the number of the leaf
  std::vector<std::uint32_t> cut;     // code of the cut, the single code, or an offset into pool
  std::vector<double> threshold;      // cut of a numeric column in real values, else NaN
  std::vector<std::uint8_t> split;    // family and flags
  std::vector<std::uint32_t> rows;    // distinct rows
  std::vector<std::uint32_t> degree;  // columns conditioned on above a split; empty: its depth
  std::vector<double> weight;         // empty: every row weighs 1
  std::vector<double> impurity;
  std::vector<std::uint32_t> pool;  // bit sets and multiway code maps
  std::vector<double> leaf_values;  // leaf by value
  std::vector<double> excess;  // tree by column: importance less its decoy; empty without decoys
};

// A forest in Python's arrays.
struct ForestView {
  std::size_t n_trees = 0;
  std::size_t n_values = 0;  // numbers a leaf holds: classes, or 1
  const std::int64_t* offsets = nullptr;
  const std::int64_t* leaf_offsets = nullptr;
  const std::int64_t* pool_offsets = nullptr;
  const std::int32_t* feature = nullptr;
  const std::int32_t* child = nullptr;
  const std::uint32_t* cut = nullptr;
  const double* threshold = nullptr;
  const std::uint8_t* split = nullptr;
  const std::uint32_t* pool = nullptr;
  const std::uint32_t* rows = nullptr;
  const std::uint32_t* degree = nullptr;  // or null
  const double* weight = nullptr;         // or null
  const double* impurity = nullptr;
  const double* leaf_values = nullptr;
};

}  // namespace duramen
