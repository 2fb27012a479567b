// Random cuts of numeric columns, a few candidates at a time: each alone is a chain of dependent
// steps, several side by side keep the processor busy. And the only candidate, whose random cut
// needs no score.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "data/table.hpp"
#include "grow/problem.hpp"
#include "grow/search/node_search.hpp"
#include "grow/search/one_by_one.hpp"
#include "grow/split/random_cuts.hpp"
#include "random.hpp"

namespace duramen {

// Whether all columns are numeric without missing values, and constant ones do not count.
inline bool side_by_side_suits(const Problem& problem) {
  const Table& table = problem.table;
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    if (table.kind(j) != Kind::numeric || table.missing[j]) return false;
  }
  return !problem.settings.count_constants;
}

template <class T, class Node>
class SideBySide {
 public:
  explicit SideBySide(NodeSearch<T, Node>& search) : search_(search), one_by_one_(search) {}

  bool find(Range& range, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    if (!search.ordered.random().draws_side_by_side()) return one_by_one_.find(range, rows, random);
    constexpr std::size_t kSide = RandomCuts<T, Node>::kSide;
    const double bound = search.node.largest_score(search.settings);
    std::size_t low = range.n_constant;
    std::size_t high = search.universe;
    std::uint32_t wanted = search.settings.max_features;
    while (wanted > 0 && low < high && search.best.score < bound && !search.problem.stopped()) {
      std::uint32_t columns[kSide];
      std::uint32_t next[kSide];
      std::size_t n_next = 0;
      Split cuts[kSide];
      Draw draws[kSide];
      const std::size_t count = std::min({kSide, high - low, std::size_t{wanted}});
      for (std::size_t c = 0; c < count; ++c) {
        const std::size_t at = low + random.below(static_cast<std::uint32_t>(high - low));
        columns[c] = search.pool[at];
        search.pool.swap(at, --high);
        search.ordered.prefetch_look(columns[c]);
      }
      const bool reads_long = search.ordered.reads_long();
      if (!reads_long) {
        for (std::size_t c = 0; c < count; ++c) search.ordered.prefetch(columns[c]);
      }
      if (search.ordered.guesses_next()) {
        // The next ones, if none of these is constant.
        Random ahead = random;
        for (std::size_t c = 0; c < count; ++c) ahead.next();
        for (std::size_t end = high; end > low && high - end < kSide; --end) {
          const std::size_t at = low + ahead.below(static_cast<std::uint32_t>(end - low));
          next[n_next++] = search.pool[at];
        }
        for (std::size_t c = 0; c < n_next; ++c) {
          search.ordered.prefetch_look(next[c]);
          if (!reads_long) search.ordered.prefetch(next[c]);
        }
      }
      search.ordered.random().draw_side_by_side(search.node, columns, count, rows, random, cuts,
                                                draws, search.best, next, n_next);
      search.pool.set_constants_aside(low, high, count,
                                      [&](std::size_t c) { return draws[c] == Draw::constant; });
      for (std::size_t c = 0; c < count && search.best.score < bound; ++c) {
        if (draws[c] == Draw::constant) continue;
        --wanted;
        if (draws[c] == Draw::forbidden) continue;
        ++search.n_scored;
        offer_ordered(search.node, search.best, cuts[c], cuts[c].score);
      }
    }
    range.n_constant = static_cast<std::uint32_t>(low);
    return search.best.found();
  }

 private:
  NodeSearch<T, Node>& search_;
  OneByOne<T, Node> one_by_one_;  // for nodes whose rows are not scanned in this way
};

template <class T, class Node>
class SingleCut {
 public:
  explicit SingleCut(NodeSearch<T, Node>& search) : search_(search), one_by_one_(search) {}

  bool find(Range& range, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    if (!search.ordered.random().draws_side_by_side()) return one_by_one_.find(range, rows, random);
    std::size_t low = range.n_constant;
    Draw draw = Draw::constant;
    while (draw == Draw::constant && low < search.universe) {
      const std::size_t at = low + random.below(static_cast<std::uint32_t>(search.universe - low));
      search.ordered.prefetch(search.pool[at]);
      draw =
          search.ordered.random().draw_one(search.node, search.pool[at], rows, random, search.best);
      if (draw == Draw::constant) search.pool.swap(at, low++);
    }
    search.n_scored = 1;
    range.n_constant = static_cast<std::uint32_t>(low);
    return draw == Draw::scored;
  }

 private:
  NodeSearch<T, Node>& search_;
  OneByOne<T, Node> one_by_one_;
};

}  // namespace duramen
