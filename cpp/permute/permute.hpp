// What trees lose when the values of a column, or of a group of columns, are permuted among the
// rows that are sent down them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "grow/problem.hpp"
#include "grow/settings.hpp"

namespace duramen {

// What is lost. All but the area under the curve and the concordance are sums over rows.
enum class Score : std::uint8_t {
  accuracy,
  balanced_accuracy,
  log_loss,
  auc,
  squared_error,
  concordance
};

// Which columns a permutation is conditional on, tree by tree.
enum class Condition : std::uint8_t { none, given, chi_square };

// Columns that are permuted together; without offsets every column is a group by itself.
struct Groups {
  std::size_t count = 0;
  const std::int64_t* offsets = nullptr;
  const std::uint32_t* columns = nullptr;
};

struct Permutations {
  bool out_of_bag = true;  // a tree takes the rows out of its bag, or all
  Settings bags;           // how these were drawn, and from which seed
  std::uint64_t bag_seed = 0;
  std::uint64_t first_tree = 0;
  // Rows that are copies of one another have the same number here; out of a bag is a row of which
  // no copy is in it, and its first copy stands for all. Null: every row is its own.
  const std::uint32_t* originals = nullptr;
  std::uint32_t first_repeat = 0;
  std::uint32_t n_repeats = 1;
  bool every = false;  // the mean over all permutations instead of drawn ones
  // The row that lends its values to each row, in all trees, by repeat and place of the group;
  // null: drawn for each tree.
  const std::uint32_t* donors = nullptr;
  const std::uint32_t* place = nullptr;  // of each group
  std::size_t n_wanted = 0;              // groups that have a place
  std::uint64_t seed = 0;
  Condition condition = Condition::none;
  const std::uint8_t* associated = nullptr;  // column by column, for Condition::given
  double level = 0.0;                        // for Condition::chi_square: of 1 - p
};

// Rows whose values of a group of columns are replaced by values of other rows of the table.
struct Replacements {
  std::size_t n_rows = 0;               // rows that are sent down the trees
  const std::uint32_t* rows = nullptr;  // their numbers in the table
  std::size_t n_draws = 1;
  const std::uint32_t* donors = nullptr;  // column of a group by draw by row: number
};

struct Truth {
  std::size_t n_rows = 0;
  std::uint32_t n_classes = 0;             // 0: regression
  const std::uint32_t* classes = nullptr;  // class of every row
  const double* response = nullptr;
  Outcomes outcomes;  // survival
};

// What is counted.
struct Counted {
  Score score = Score::accuracy;
  bool by_class = false;
  bool votes = false;
};

struct Losses {
  std::size_t width = 1;                    // 1, or 1 + classes
  std::vector<std::uint32_t> groups;        // that a tree loses by, tree after tree
  std::vector<double> losses;               // of each of them by width
  std::uint64_t n_trees = 0;                // number of trees with rows to be scored
  std::vector<std::int64_t> votes;          // class by vote, before; where asked for
  std::vector<std::int64_t> changed_votes;  // group by class by vote: after less before
};

// The loss of a tree is its mean over the permutations.
template <class Rows>
Losses permutation_losses(const ForestView& forest, const Rows& rows, const Truth& truth,
                          const Groups& groups, const Permutations& permutations,
                          const Counted& counted, unsigned n_threads, Monitor& monitor);

struct Ballots {
  std::vector<std::uint32_t> trees;   // per row: trees that it is sent down
  std::vector<std::int64_t> votes;    // row by value
  std::vector<std::int64_t> changes;  // repeat by wanted group by row by value: after less before
};

// What the forest as a whole says of every row, before and after each permutation of the wanted
// groups: sums of what the leaves hold in steps of 1 / scale, or votes if it is 0.
template <class Rows>
Ballots permuted_ballots(const ForestView& forest, const Rows& rows, const Truth& truth,
                         const Groups& groups, const Permutations& permutations,
                         const std::vector<std::uint32_t>& wanted, double scale, unsigned n_threads,
                         Monitor& monitor);

struct Replaced {
  std::vector<std::int64_t> sums;     // row by value
  std::vector<std::int64_t> changes;  // group by row by value, over the draws: after less before
};

// Sums of the leaves' values over the trees, in steps of 1 / scale, and how replaced values change
// them.
template <class Rows>
Replaced replaced_values(const ForestView& forest, const Rows& rows, std::size_t n_columns,
                         const Groups& groups, const Replacements& replacements, double scale,
                         unsigned n_threads, Monitor& monitor);

}  // namespace duramen
