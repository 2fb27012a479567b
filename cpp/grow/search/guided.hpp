// Candidates are the columns used so far, and others that are drawn by their weights
// (guidance.hpp). A column that was not used must gain more than the best one does, by the inverse
// of its factor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/guidance.hpp"
#include "grow/search/node_search.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
class Guided {
 public:
  explicit Guided(NodeSearch<T, Node>& search)
      : search_(search),
        guidance_(search.problem.guidance),
        draw_(guidance_.weight, search.problem.table.n_columns) {
    if (guidance_.penalizes()) used_.assign(search.problem.table.n_columns, 0);
  }

  void add_children(const Range&, std::uint32_t, std::size_t) {
    if (guidance_.penalizes()) used_[static_cast<std::size_t>(search_.best.feature)] = 1;
  }

  [[gnu::noinline]] bool find(Range&, const std::uint32_t* rows, Random random) {
    auto& search = search_;
    const Node& node = search.node;
    const double bound = node.largest_score(search.settings);
    double best_value = kNone;
    const auto consider = [&](std::uint32_t column, bool penalized) {
      Split cut;
      if (!search.evaluate(column, rows, random, cut)) return false;
      if (!cut.found()) return true;
      double value = cut.score;
      double margin = node.tolerance(cut.score);
      if (guidance_.penalizes()) {
        value = node.gain(cut.score);
        margin = value - node.gain(cut.score - margin);
        if (penalized) {
          const double factor = guidance_.factor[column];
          if (!node.gains(cut.score)) return true;
          value = guidance_.of_score ? factor * cut.score - (cut.score - value) : factor * value;
          if (value <= 0.0) return true;
        }
      }
      if (best_value == kNone || value > best_value + margin) {
        best_value = value;
        search.best = cut;
        if (cut.family == Family::any) first_codes_ = search.grouped.chosen();
      }
      return true;
    };
    for (std::uint32_t j = 0; j < used_.size(); ++j) {
      if (!used_[j]) continue;
      draw_.leave_out(j);
      consider(j, false);
    }
    std::uint32_t wanted = search.settings.max_features;
    bool stopped = false;
    while (wanted > 0 && draw_.left() && !stopped) {
      const bool varies = consider(draw_.take(random.uniform()), guidance_.penalizes());
      if (varies || search.settings.count_constants) --wanted;
      if (!guidance_.penalizes() && search.best.score >= bound) break;
      stopped = search.problem.stopped();
    }
    draw_.restore();
    if (search.best.family == Family::any) search.grouped.choose(first_codes_);
    return search.best.found() && !stopped;
  }

 private:
  NodeSearch<T, Node>& search_;
  const Guidance& guidance_;
  WeightedDraw draw_;
  // With factors: columns that split a node of this tree or one that was grown before. They are
  // candidates at every node.
  std::vector<std::uint8_t> used_;
  std::vector<std::uint32_t> first_codes_;
};

}  // namespace duramen
