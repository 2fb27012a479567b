// The score of a tree on its rows, and its loss as rows change their leaves.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "forest/forest.hpp"
#include "permute/paths.hpp"
#include "permute/permute.hpp"

namespace duramen {

// What the leaves of one tree hold.
class Leaves {
 public:
  Leaves(const ForestView& forest) : forest_(forest) {}

  void start(const TreeView& tree, std::size_t number) {
    tree_ = &tree;
    values_ =
        forest_.leaf_values + static_cast<std::size_t>(forest_.leaf_offsets[number]) * width();
    n_ = static_cast<std::size_t>(forest_.leaf_offsets[number + 1] - forest_.leaf_offsets[number]);
    if (width() < 2) return;
    votes_.resize(n_);
    for (std::size_t leaf = 0; leaf < n_; ++leaf) {
      const double* here = values_ + leaf * width();
      votes_[leaf] = static_cast<std::uint32_t>(std::max_element(here, here + width()) - here);
    }
  }

  std::size_t count() const { return n_; }
  std::size_t width() const { return forest_.n_values; }
  std::size_t number(std::size_t node) const {
    return static_cast<std::size_t>(tree_->child[node]);
  }
  const double* values(std::size_t leaf) const { return values_ + leaf * width(); }
  // The most frequent class, the first one where several are.
  std::uint32_t vote(std::size_t leaf) const { return width() < 2 ? 0 : votes_[leaf]; }

 private:
  const ForestView& forest_;
  const TreeView* tree_ = nullptr;
  const double* values_ = nullptr;
  std::size_t n_ = 0;
  std::vector<std::uint32_t> votes_;
};

// Scores that are sums over rows.
class RowScore {
 public:
  RowScore(Score score, const Truth& truth, bool by_class)
      : score_(score), truth_(truth), width_(by_class ? truth.n_classes + 1 : 1) {}

  template <class Rows>
  bool start_tree(const Paths<Rows>& paths, const Leaves& leaves) {
    leaves_ = &leaves;
    counts_.assign(truth_.n_classes, 0);
    n_ = paths.size();
    n_present_ = 0;
    if (truth_.n_classes > 0) {
      for (std::uint32_t i = 0; i < n_; ++i) ++counts_[truth_.classes[paths.row(i)]];
      for (const std::uint32_t count : counts_) n_present_ += count > 0 ? 1 : 0;
    }
    return n_ > 0;
  }

  void start_group() { losses_.assign(width_, 0.0); }
  void start_repeat() {}
  void end_repeat(double) {}

  void change(std::uint32_t row, std::size_t before, std::size_t after, double weight) {
    const double more = weight * (loss(row, after) - loss(row, before));
    if (more == 0.0) return;
    if (truth_.n_classes == 0) {
      losses_[0] += more / n_;
      return;
    }
    const std::uint32_t k = truth_.classes[row];
    losses_[0] += score_ == Score::balanced_accuracy
                      ? more / (static_cast<double>(n_present_) * counts_[k])
                      : more / n_;
    if (width_ > 1) losses_[1 + k] += more / counts_[k];
  }

  const std::vector<double>& losses() const { return losses_; }

 private:
  double loss(std::uint32_t row, std::size_t leaf) const {
    switch (score_) {
      case Score::squared_error: {
        const double off = truth_.response[row] - leaves_->values(leaf)[0];
        return off * off;
      }
      case Score::log_loss: {
        constexpr double kLeast = std::numeric_limits<double>::epsilon();
        return -std::log(std::max(kLeast, leaves_->values(leaf)[truth_.classes[row]]));
      }
      default:
        return leaves_->vote(leaf) == truth_.classes[row] ? 0.0 : 1.0;
    }
  }

  Score score_;
  const Truth& truth_;
  std::size_t width_;
  const Leaves* leaves_ = nullptr;
  std::uint32_t n_ = 0;
  std::uint32_t n_present_ = 0;
  std::vector<std::uint32_t> counts_;  // rows of each class
  std::vector<double> losses_;
};

// The area under the ROC curve of every class against the rest, ties counting one half, and its
// mean over the classes. Rows are counted by rank of the frequency that their leaf gives the class.
class AucScore {
 public:
  AucScore(const Truth& truth, bool by_class)
      : truth_(truth), width_(by_class ? truth.n_classes + 1 : 1) {}

  template <class Rows>
  bool start_tree(const Paths<Rows>& paths, const Leaves& leaves) {
    const std::size_t n = paths.size();
    counts_.assign(truth_.n_classes, 0);
    for (std::uint32_t i = 0; i < n; ++i) ++counts_[truth_.classes[paths.row(i)]];
    curves_.clear();
    for (std::uint32_t k = 0; k < truth_.n_classes; ++k) {
      if (counts_[k] > 0 && counts_[k] < n) rank(k, leaves);
    }
    for (Curve& curve : curves_) {
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::size_t leaf = leaves.number(paths.leaf(i));
        ++curve.rows[2 * curve.ranks[leaf] + (truth_.classes[paths.row(i)] == curve.label)];
      }
      curve.before = area(curve.rows);
    }
    return !curves_.empty();
  }

  void start_group() { losses_.assign(width_, 0.0); }

  void start_repeat() {
    for (Curve& curve : curves_) curve.changed = curve.rows;
  }

  void change(std::uint32_t row, std::size_t before, std::size_t after, double) {
    for (Curve& curve : curves_) {
      const std::size_t inside = truth_.classes[row] == curve.label ? 1 : 0;
      --curve.changed[2 * curve.ranks[before] + inside];
      ++curve.changed[2 * curve.ranks[after] + inside];
    }
  }

  void end_repeat(double weight) {
    for (const Curve& curve : curves_) {
      const double loss = weight * (curve.before - area(curve.changed));
      losses_[0] += loss / static_cast<double>(curves_.size());
      if (width_ > 1) losses_[1 + curve.label] += loss;
    }
  }

  const std::vector<double>& losses() const { return losses_; }

 private:
  struct Curve {
    std::uint32_t label = 0;
    std::vector<std::uint32_t> ranks;         // of the leaves
    std::vector<std::int64_t> rows, changed;  // by rank: of the rest, of the class
    double before = 0.0;
  };

  static double area(const std::vector<std::int64_t>& rows) {
    std::int64_t rest = 0;
    std::int64_t inside = 0;
    std::int64_t twice = 0;
    for (std::size_t i = 0; i < rows.size(); i += 2) {
      twice += rows[i + 1] * (2 * rest + rows[i]);
      rest += rows[i];
      inside += rows[i + 1];
    }
    return 0.5 * static_cast<double>(twice) /
           (static_cast<double>(rest) * static_cast<double>(inside));
  }

  void rank(std::uint32_t label, const Leaves& leaves) {
    Curve curve;
    curve.label = label;
    order_.resize(leaves.count());
    for (std::uint32_t i = 0; i < leaves.count(); ++i) order_[i] = i;
    const auto score = [&](std::uint32_t leaf) { return leaves.values(leaf)[label]; };
    std::sort(order_.begin(), order_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return score(a) < score(b); });
    curve.ranks.resize(order_.size());
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i > 0 && score(order_[i]) != score(order_[i - 1])) ++rank;
      curve.ranks[order_[i]] = rank;
    }
    curve.rows.assign(2 * (std::size_t{rank} + 1), 0);
    curves_.push_back(std::move(curve));
  }

  const Truth& truth_;
  std::size_t width_;
  std::vector<std::uint32_t> counts_, order_;
  std::vector<Curve> curves_;
  std::vector<double> losses_;
};

}  // namespace duramen
