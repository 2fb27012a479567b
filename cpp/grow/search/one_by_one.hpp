// Candidates one after another, until a split is as good as any can be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grow/search/node_search.hpp"
#include "random.hpp"

namespace duramen {

// evaluate(column) scores the splits of a candidate against the best so far, and is false where the
// column is constant; no split scores higher than `bound`. False where no split was found.
template <class T, class Node, class Evaluate>
bool draw_one_by_one(NodeSearch<T, Node>& search, Range& range, Random& random, double bound,
                     Evaluate&& evaluate) {
  const Settings& settings = search.settings;
  ColumnPool& pool = search.pool;
  std::size_t low = range.n_constant;
  std::size_t high = search.universe;
  std::size_t constants_left = range.n_constant;
  for (std::uint32_t drawn = 0; drawn < settings.max_features;) {
    if (settings.count_constants) {
      const std::size_t left = constants_left + (high - low);
      if (left == 0) break;
      if (random.below(static_cast<std::uint32_t>(left)) < constants_left) {
        --constants_left;
        ++drawn;
        continue;
      }
    }
    if (low == high) break;
    const std::size_t at = low + random.below(static_cast<std::uint32_t>(high - low));
    const std::uint32_t column = pool[at];
    if (search.ordered.guesses_next() && high - low > 1) {
      // The next one, if this one is not constant.
      Random ahead = random;
      const std::size_t next = low + ahead.below(static_cast<std::uint32_t>(high - low - 1));
      search.ordered.prefetch(pool[next == at ? high - 1 : next]);
    }
    if (!evaluate(column)) {
      pool.swap(at, low++);
      if (settings.count_constants) ++drawn;
    } else {
      pool.swap(at, --high);
      ++drawn;
      if (search.best.score >= bound) break;
    }
    if ((drawn & 63U) == 0 && search.problem.stopped()) return false;
  }
  range.n_constant = static_cast<std::uint32_t>(low);
  return search.best.found();
}

template <class T, class Node>
class OneByOne {
 public:
  explicit OneByOne(NodeSearch<T, Node>& search) : search_(search) {}

  [[gnu::noinline]] bool find(Range& range, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    const double bound = search.splits.largest_score(search.node);
    return draw_one_by_one(search, range, random, bound, [&](std::uint32_t column) {
      return search.splits.evaluate(search.node, column, rows, random, search.best,
                                    search.n_scored);
    });
  }

 private:
  NodeSearch<T, Node>& search_;
};

}  // namespace duramen
