// PERT (Cutler and Zhao 2001): two rows of different classes, a column on which they differ, a cut
// between them. Where min_samples_leaf forbids a cut, other columns are tried, then other rows.
// The column is drawn before the two rows, which differ on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "grow/search/node_search.hpp"
#include "grow/split/pairs.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
constexpr bool kPertSuits = Node::kClasses && std::is_integral_v<T>;

template <class T, class Node>
class Pert {
 public:
  explicit Pert(NodeSearch<T, Node>& search) : search_(search) {}

  [[gnu::noinline]] bool find(Range&, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    const Node& node = search.node;
    const bool column_first = search.settings.feature_first;
    for (int attempt = 0; attempt < 10; ++attempt) {
      std::pair<std::uint32_t, std::uint32_t> pair;
      if (!column_first) pair = node.pair_of_classes(random);
      for (std::size_t high = search.universe; high > 0;) {
        const std::size_t at = random.below(static_cast<std::uint32_t>(high));
        const std::uint32_t column = search.pool[at];
        search.pool.swap(at, --high);
        if (column_first) {
          if (!search.group(column, rows)) continue;
          pair = pair_apart(node, search.grouped.groups(), search.grouped.sizes(), random);
        }
        const T* codes = search.ordered.gather(column, rows, node.n_rows());
        const T code_a = codes[pair.first];
        const T code_b = codes[pair.second];
        if (code_a == code_b) continue;
        search.n_scored = 1;
        if (cuts(column, rows, code_a, code_b, random)) return true;
      }
    }
    return false;
  }

 private:
  // Draws a split that parts two codes; false where it is forbidden.
  bool cuts(std::uint32_t column, const std::uint32_t* rows, T code_a, T code_b, Random& random) {
    auto& search = search_;
    const Family family = search.splits.family_of(column);
    if (family == Family::ordered) {
      return search.ordered.random().draw_between(search.node, column, code_a, code_b, random,
                                                  search.best);
    }
    search.group(column, rows);
    return search.grouped.separating(search.node, column, family, code_a, code_b, random,
                                     search.best);
  }

  NodeSearch<T, Node>& search_;
};

}  // namespace duramen
