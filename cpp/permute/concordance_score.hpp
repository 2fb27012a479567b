// Harrell's concordance of a survival tree on its rows, and its loss as rows change leaves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "permute/paths.hpp"
#include "permute/permute.hpp"
#include "permute/score.hpp"
#include "survival/concordance.hpp"

namespace duramen {

// The risk of a row is the mortality of its leaf.
class ConcordanceScore {
 public:
  explicit ConcordanceScore(const Truth& truth) : truth_(truth), ranks_(truth.n_rows) {}

  template <class Rows>
  bool start_tree(const Paths<Rows>& paths, const Leaves& leaves) {
    rank_leaves(leaves);
    rows_.resize(paths.size());
    for (std::uint32_t i = 0; i < paths.size(); ++i) {
      rows_[i] = paths.row(i);
      ranks_[rows_[i]] = of_leaf_[leaves.number(paths.leaf(i))];
    }
    std::stable_sort(rows_.begin(), rows_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return truth_.outcomes.codes[a] < truth_.outcomes.codes[b];
    });
    const Pairs pairs = count();
    if (pairs.comparable == 0) return false;
    before_ = pairs.concordance();
    return true;
  }

  void start_group() { losses_[0] = 0.0; }
  void start_repeat() { changed_.clear(); }

  void change(std::uint32_t row, std::size_t, std::size_t after, double) {
    changed_.push_back({row, ranks_[row]});
    ranks_[row] = of_leaf_[after];
  }

  void end_repeat(double weight) {
    if (changed_.empty()) return;
    losses_[0] += weight * (before_ - count().concordance());
    for (const Changed& change : changed_) ranks_[change.row] = change.rank;
  }

  const std::vector<double>& losses() const { return losses_; }

 private:
  struct Changed {
    std::uint32_t row, rank;
  };

  Pairs count() {
    return counter_.count(truth_.outcomes, rows_, n_ranks_,
                          [this](std::uint32_t row) { return ranks_[row]; });
  }

  void rank_leaves(const Leaves& leaves) {
    values_.clear();
    for (std::size_t leaf = 0; leaf < leaves.count(); ++leaf) {
      values_.push_back(leaves.values(leaf)[0]);
    }
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    n_ranks_ = static_cast<std::uint32_t>(values_.size());
    of_leaf_.resize(leaves.count());
    for (std::size_t leaf = 0; leaf < leaves.count(); ++leaf) {
      const auto place = std::lower_bound(values_.begin(), values_.end(), leaves.values(leaf)[0]);
      of_leaf_[leaf] = static_cast<std::uint32_t>(place - values_.begin());
    }
  }

  const Truth& truth_;
  PairCounter counter_;
  std::uint32_t n_ranks_ = 0;
  std::vector<std::uint32_t> ranks_;           // of every row, by its leaf
  std::vector<std::uint32_t> rows_, of_leaf_;  // rows by time; ranks of the leaves
  std::vector<double> values_;
  std::vector<Changed> changed_;
  double before_ = 0.0;
  std::vector<double> losses_ = {0.0};
};

}  // namespace duramen
