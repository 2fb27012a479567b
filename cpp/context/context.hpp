// How the decreases of impurity at the nodes of a forest differ among the rows of a context
// (thesis, chapter 6), for the contexts as they are and for permutations of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "grow/problem.hpp"
#include "impurity.hpp"
#include "permute/permute.hpp"

namespace duramen {

struct Contexts {
  const std::uint32_t* codes = nullptr;  // context of every row; permutation by row where `drawn`
  std::uint32_t count = 0;               // number of contexts
  bool empty_is_zero = false;            // a node without rows of a context: decrease 0, or skipped
  const double* levels = nullptr;  // node: weight of its decrease by the context in `relevance`
  std::uint64_t seed = 0;          // of the permutations
  std::uint64_t first = 0;         // number of the first permutation; 0 leaves all in place
  std::size_t n_permutations = 1;
  bool drawn = false;        // the permutations were drawn before: seed and first are not used
  std::int32_t column = -1;  // only the nodes that split on this column; -1 for all nodes
};

// Means over the trees of sums over nodes, each weighed by its fraction of the rows.
struct ContextEffects {
  std::vector<double> absolute;     // permutation by context by column
  std::vector<double> difference;   // the effect without the absolute value
  std::vector<double> conditional;  // decrease among the rows of the context
  std::vector<double> overall;      // permutation by column: less the mean over the contexts
  std::vector<double> relevance;    // permutation: decrease by the context itself
};

// Every row goes down every tree, once. A permutation of all rows depends on the seed and its
// number alone; others, such as those within strata, are given.
ContextEffects context_effects(const ForestView& forest, const Table& table, const Truth& truth,
                               const Contexts& contexts, Impurity criterion, unsigned n_threads,
                               Monitor& monitor);

}  // namespace duramen
