// All candidates are looked at, even after a perfect split, and one of the best few splits is taken
// at random or the best one tested by permutations.
#pragma once

#include <cstdint>

#include "grow/search/node_search.hpp"
#include "grow/search/one_by_one.hpp"
#include "grow/search/permutation_test.hpp"
#include "grow/split/best_splits.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
class EveryCandidate {
 public:
  explicit EveryCandidate(NodeSearch<T, Node>& search)
      : search_(search),
        lists_(search.settings.n_best_splits > 1),
        several_(search.settings.n_best_splits),
        test_(search, &several_) {
    if (lists_) search.splits.collect_into(several_);
  }
  EveryCandidate(const EveryCandidate&) = delete;  // the search has a pointer to the list

  [[gnu::noinline]] bool find(Range& range, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    test_.start_node();
    several_.start_node();
    draw_one_by_one(search, range, random, -kNone, [&](std::uint32_t column) {
      Split cut;
      Split& best = lists_ ? cut : search.best;
      if (!search.evaluate(column, rows, random, best)) return false;
      test_.add(column);
      // A drawn split is the only one of its column.
      if (cut.found() && several_.admits(search.node, cut.score)) {
        several_.take(search.node, cut, random, search.grouped.chosen());
      }
      return true;
    });
    test_.set_top(search.best.score);
    const auto& entries = several_.entries();
    if (entries.empty()) return search.best.found();
    const auto& chosen = entries[random.below(static_cast<std::uint32_t>(entries.size()))];
    search.best = chosen.split;
    search.grouped.choose(chosen.first_codes);
    test_.set_top(entries.front().split.score);
    return true;
  }

  bool passes_permutations(std::uint32_t id, const std::uint32_t* rows) {
    return test_.passes(id, rows);
  }

 private:
  NodeSearch<T, Node>& search_;
  bool lists_;  // one of the best few splits is taken
  BestSplits several_;
  PermutationTest<T, Node> test_;
};

}  // namespace duramen
