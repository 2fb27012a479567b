// The permutation test of the best split of a node: its p-value is the fraction of orders of the
// target, the observed one and stop_permutations others, in which the best split of these
// candidates has at least its score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "grow/search/node_search.hpp"
#include "grow/split/best_splits.hpp"
#include "random.hpp"

namespace duramen {

template <class T, class Node>
class PermutationTest {
 public:
  // several: the list that evaluated splits go into, or null.
  PermutationTest(NodeSearch<T, Node>& search, BestSplits* several)
      : search_(search), several_(several) {}

  void start_node() { candidates_.clear(); }
  // A candidate that varies at the node.
  void add(std::uint32_t column) { candidates_.push_back(column); }
  // The score of the best split, whether it is taken or not.
  void set_top(double score) { top_score_ = score; }

  // Whether the p-value is at most stop_alpha.
  [[gnu::noinline]] bool passes(std::uint32_t id, const std::uint32_t* rows) {
    const Settings& settings = search_.settings;
    const Node& node = search_.node;
    const double n_permutations = settings.stop_permutations;
    const double most = settings.stop_alpha * (n_permutations + 1.0) * (1.0 + 1e-12);
    const Split chosen = search_.best;
    first_codes_ = search_.grouped.chosen();
    const double least = top_score_ - node.tolerance(top_score_);
    Random random(search_.key, id, Purpose::node_test);
    permuted_.assign(rows, rows + node.n_rows());
    double reached = 1.0;
    // As soon as the rest cannot change the answer, it is left out.
    for (double left = n_permutations; reached <= most && reached + left > most; --left) {
      if (search_.problem.stopped()) break;
      if (best_of_permuted(random) >= least) ++reached;
    }
    search_.best = chosen;
    search_.grouped.choose(first_codes_);
    search_.splits.start_node(node, rows);
    if (chosen.family == Family::multiway) {  // groups the rows by their codes again
      Split same;
      search_.evaluate(static_cast<std::uint32_t>(chosen.feature), rows, random, same);
    }
    return reached <= most;
  }

 private:
  // The largest score among the splits of the candidates when the target is permuted. A node has
  // the target in order of position: taking the rows in another order permutes it, together with
  // the weights.
  double best_of_permuted(Random& random) {
    for (std::size_t i = permuted_.size(); i > 1; --i) {
      std::swap(permuted_[i - 1], permuted_[random.below(static_cast<std::uint32_t>(i))]);
    }
    search_.splits.start_node(search_.node, permuted_.data());
    if (several_ != nullptr) several_->start_node();
    Split top;
    for (const std::uint32_t column : candidates_) {
      search_.evaluate(column, permuted_.data(), random, top);
    }
    const bool listed = several_ != nullptr && !several_->empty();
    return listed ? several_->entries().front().split.score : top.score;
  }

  NodeSearch<T, Node>& search_;
  BestSplits* several_;
  std::vector<std::uint32_t> candidates_, permuted_, first_codes_;
  double top_score_ = kNone;
};

}  // namespace duramen
