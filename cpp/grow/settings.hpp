// How trees are grown.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grow/criteria/criteria.hpp"

namespace duramen {

enum class Cut : int { best = 0, random = 1, pert = 2 };
enum class Family : int { ordered = 0, multiway = 1, one_vs_rest = 2, any = 3 };

// The largest number of categories at a node for which every bipartition is tried where no
// shortcut is exact (classification into more than two classes); of more, cuts of their order by
// the first principal component of the class fractions are.
constexpr std::uint32_t kExhaustiveCategories = 12;

struct Settings {
  Criterion criterion = Criterion::gini;
  Cut cut = Cut::best;
  Family splits = Family::ordered;
  std::uint32_t max_features = 1;
  bool count_constants = false;
  std::uint32_t max_depth = 0;  // 0: no limit
  std::uint32_t min_samples_split = 2;
  std::uint32_t min_samples_leaf = 1;
  double min_impurity_decrease = 0.0;
  double min_impurity_split = 0.0;      // nodes up to this impurity are leaves
  std::uint32_t max_leaf_nodes = 0;     // 0: no limit
  double stop_alpha = 1.0;              // 1: no node test
  std::uint32_t stop_permutations = 0;  // of the node test; 0: the chi-square test
  std::uint32_t n_best_splits = 1;      // one of this many best splits is drawn
  bool feature_first = false;           // PERT: draws the column before the two rows
  bool bootstrap = false;
  std::uint32_t row_samples = 0;     // 0: all rows, or groups
  std::uint32_t column_samples = 0;  // 0: all columns
  bool balanced_subsample = false;
  // Group of every row, below n_groups: the rows of a group are drawn together. Null: each row is
  // drawn by itself.
  const std::uint32_t* group_of = nullptr;
  std::uint32_t n_groups = 0;
  // Rows that were drawn for each tree, n_drawn a tree. Null: bags are drawn from the seed.
  const std::uint32_t* drawn = nullptr;
  std::size_t n_drawn = 0;

  // Number of rows, or groups of rows, that a bag draws from.
  std::size_t n_units(std::size_t n_rows) const { return group_of == nullptr ? n_rows : n_groups; }

  bool tests_by_permutation() const { return stop_alpha < 1.0 && stop_permutations > 0; }
  bool tests_by_chi_square() const { return stop_alpha < 1.0 && stop_permutations == 0; }
};

}  // namespace duramen
