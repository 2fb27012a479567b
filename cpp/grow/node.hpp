// The target at one node, its rows numbered from 0 within the node.
//
// A kind of node N stands for a kind of target and of weights in growth, which is compiled once for
// each.
//   Weight, kWhole, kClasses   the type of the weights, whether they are whole numbers, and whether
//                              the target has classes (ClassNode), or numbers or times
//   load(rows, n, weights, keeps)
//                              makes it the node with these rows, in the order of
//                              Problem::row_order; without `keeps` no more is asked of the rows one
//                              by one
//   n_rows(), weight(), whole(), weights(), unit_weights()
//                              rows; their weight in sum, as a real number and as a Weight; each
//                              one; whether each is 1
//   pure(), impurity()         whether no split can gain; the impurity
//   gain(score), gains(score)  what a split with a score takes off it, and whether that is more
//                              than roundings
//   tolerance(score)           how far apart two scores must be for one to be better
//   largest_score(settings)    an upper bound of the score of a split
//   append_leaf_values(values) the prediction of the node, should it be a leaf
// Scores come from sums over the rows of the children: by class, with the terms of a criterion
// (n_groups, starts, groups, totals, with_terms), or of moments (moments, sum, join). A node with
// kScoresRows has score_rows and score_cuts instead, which look at the rows themselves.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "grow/criteria/criteria.hpp"
#include "grow/problem.hpp"
#include "grow/rounding.hpp"
#include "impurity.hpp"
#include "random.hpp"

namespace duramen {

constexpr std::size_t kPadding = 64;  // entries that may be read beyond the rows of a node

// The largest number of children of a split of a node with a number of rows.
inline std::uint32_t most_children(const Problem& problem, std::uint32_t n_rows) {
  return problem.settings.splits == Family::multiway ? std::min(problem.most_codes, n_rows) : 2;
}

template <class N>
concept TargetNode = std::constructible_from<N, const Problem&> &&
                     requires(N node, const N& loaded, const std::uint32_t* rows, std::uint32_t n,
                              const typename N::Weight* weights, bool keeps, double score,
                              const Settings& settings, std::vector<double>& values) {
                       { N::kWhole } -> std::convertible_to<bool>;
                       { N::kClasses } -> std::convertible_to<bool>;
                       node.load(rows, n, weights, keeps);
                       { loaded.n_rows() } -> std::same_as<std::uint32_t>;
                       { loaded.weight() } -> std::same_as<double>;
                       { loaded.whole() } -> std::same_as<typename N::Weight>;
                       { loaded.weights() } -> std::same_as<const typename N::Weight*>;
                       { loaded.unit_weights() } -> std::same_as<bool>;
                       { loaded.pure() } -> std::same_as<bool>;
                       { loaded.impurity() } -> std::same_as<double>;
                       { loaded.gain(score) } -> std::same_as<double>;
                       { loaded.gains(score) } -> std::same_as<bool>;
                       { loaded.tolerance(score) } -> std::same_as<double>;
                       { loaded.largest_score(settings) } -> std::same_as<double>;
                       loaded.append_leaf_values(values);
                     };

// Nodes whose splits are scored by the rows of the children, not by sums over them alone.
template <class Node>
concept ScoresRows = requires { Node::kScoresRows; };

// What the children of a split keep of the node's impurity, times weight.
struct Children {
  std::size_t count = 0;
  double weighted_impurity = 0.0;
  double weighted_entropy = 0.0;  // classification: bits, for any criterion
};

// Classification. The rows of a node are sorted by class, so that a class is a segment.
template <class W>
class ClassNode {
 public:
  using Weight = W;
  static constexpr bool kClasses = true;
  static constexpr bool kWhole = std::numeric_limits<W>::is_integer;

  explicit ClassNode(const Problem& problem)
      : problem_(problem), criterion_(problem.settings.criterion) {
    weights_.resize(problem.table.n_rows + kPadding, W{1});
    groups_.resize(problem.table.n_rows);
    const Settings& settings = problem.settings;
    // Saves 6 % of Extra-Trees on 50,000 rows of 50 columns.
    segments_only_ = kWhole && settings.cut == Cut::random && settings.splits == Family::ordered &&
                     !settings.bootstrap && problem.weights == nullptr;
    for (std::size_t j = 0; j < problem.table.n_columns; ++j) {
      // The class of an entry of a sparse column is looked up.
      if (problem.table.kind(j) != Kind::numeric || problem.table.is_sparse(j)) {
        segments_only_ = false;
      }
    }
  }

  void load(const std::uint32_t* rows, std::uint32_t n, const W* weights, bool /*keeps*/) {
    n_ = n;
    rows_ = rows;
    classes_.clear();
    starts_.clear();
    totals_.clear();
    std::uint32_t i = 0;
    weight_ = W{0};
    if (segments_only_) {
      while (i < n) {
        const std::uint32_t c = problem_.classes[rows[i]];
        classes_.push_back(c);
        starts_.push_back(i);
        const std::uint32_t* end = rows + n;
        if (problem_.classes[end[-1]] != c) {
          end = std::partition_point(rows + i, end,
                                     [&](std::uint32_t row) { return problem_.classes[row] == c; });
        }
        const std::uint32_t size = static_cast<std::uint32_t>(end - rows) - i;
        totals_.push_back(static_cast<W>(size));
        i += size;
      }
      starts_.push_back(n);
      weight_ = static_cast<W>(n);
      bound_rounding();
      return;
    }
    while (i < n) {
      const std::uint32_t c = problem_.classes[rows[i]];
      const std::uint32_t k = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back(c);
      starts_.push_back(i);
      W total{0};
      for (; i < n && problem_.classes[rows[i]] == c; ++i) {
        const W w = weights[rows[i]];
        weights_[i] = w;
        groups_[i] = k;
        total += w;
      }
      totals_.push_back(total);
      weight_ += total;
    }
    starts_.push_back(n);
    bound_rounding();
  }

  // The same from the number of rows of each class, every row weighing 1; without the rows.
  void load_counts(const std::vector<std::uint32_t>& counts) {
    classes_.clear();
    totals_.clear();
    n_ = 0;
    for (std::uint32_t c = 0; c < counts.size(); ++c) {
      if (counts[c] == 0) continue;
      classes_.push_back(c);
      totals_.push_back(static_cast<W>(counts[c]));
      n_ += counts[c];
    }
    weight_ = static_cast<W>(n_);
    bound_rounding();
  }
  const std::vector<std::uint32_t>& classes() const { return classes_; }

  std::uint32_t n_rows() const { return n_; }
  // Whether every row weighs 1.
  bool unit_weights() const { return kWhole && weight_ == static_cast<W>(n_); }
  double weight() const { return static_cast<double>(weight_); }
  bool pure() const { return classes_.size() <= 1; }
  std::size_t n_groups() const { return classes_.size(); }
  W whole() const { return weight_; }
  const std::vector<W>& totals() const { return totals_; }
  const std::vector<std::uint32_t>& starts() const { return starts_; }
  const W* weights() const { return weights_.data(); }
  W weight_of_row(std::uint32_t i) const { return weights_[i]; }
  const std::uint32_t* groups() const { return groups_.data(); }

  double impurity() const {
    if (pure()) return 0.0;
    return with_terms([this](auto terms) { return terms.impurity(totals_, weight_); });
  }
  double weighted_impurity() const { return weight() * impurity(); }

  // Calls use(terms) with the terms of the criterion.
  template <class Use>
  [[gnu::always_inline]] auto with_terms(Use&& use) const {
    return with_class_terms<W>(criterion_, problem_.logs, std::forward<Use>(use));
  }
  double term(W count) const {
    return with_terms([count](auto terms) { return terms.term(count); });
  }
  double join(double sum, W count) const {
    return with_terms([sum, count](auto terms) { return terms.join(sum, count); });
  }
  // Scores no farther apart than this are ties.
  double tolerance(double score) const { return relative_ ? tolerance_ * score : tolerance_; }

  // What a split with this score takes off the impurity, times the weight.
  double gain(double score) const {
    const double difference = score - unsplit_score();
    return with_terms([difference](auto terms) { return terms.gain(difference); });
  }
  // Whether it takes off anything at all.
  bool gains(double score) const { return score - unsplit_score() > tolerance(score); }

  // No split scores higher: all children pure.
  double largest_score(const Settings&) const {
    return with_terms([this](auto terms) {
      const double most = terms.score_of_pure(weight());
      return terms.kPureIsExact ? most : most - tolerance(most);
    });
  }

  std::pair<std::uint32_t, std::uint32_t> pair_of_classes(Random& random) const {
    // Class k first with probability proportional to n_k (n - n_k), then a row inside and outside.
    std::uint64_t total = 0;
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      const std::uint64_t size = starts_[k + 1] - starts_[k];
      total += size * (n_ - size);
    }
    double target = random.uniform() * static_cast<double>(total);
    std::size_t k = 0;
    for (; k + 1 < classes_.size(); ++k) {
      const std::uint64_t size = starts_[k + 1] - starts_[k];
      target -= static_cast<double>(size * (n_ - size));
      if (target < 0.0) break;
    }
    const std::uint32_t size = starts_[k + 1] - starts_[k];
    const std::uint32_t inside = starts_[k] + random.below(size);
    const std::uint32_t outside = random.below(n_ - size);
    return {inside, outside < starts_[k] ? outside : outside + size};
  }

  Children children(const std::uint32_t* index, const std::vector<std::uint32_t>& bounds,
                    const W* weights) {
    Children result;
    result.count = bounds.size() - 1;
    for (std::size_t c = 0; c < result.count; ++c) {
      child_.clear();
      W total{0};
      std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
      for (std::uint32_t i = bounds[c]; i < bounds[c + 1]; ++i) {
        const std::uint32_t y = problem_.classes[index[i]];
        if (child_.empty() || y != last) child_.push_back(W{0});
        last = y;
        child_.back() += weights[index[i]];
        total += weights[index[i]];
      }
      const double impurity = with_terms([&](auto terms) { return terms.impurity(child_, total); });
      result.weighted_impurity += static_cast<double>(total) * impurity;
      result.weighted_entropy +=
          static_cast<double>(total) * entropy_of(problem_.logs, child_, total);
    }
    return result;
  }

  // 2 n ln 2 I(split; Y), asymptotically chi-square when they are independent.
  double gain_statistic(const Children& children, std::uint32_t n) const {
    const double gain = entropy_of(problem_.logs, totals_, weight_) -
                        children.weighted_entropy / static_cast<double>(weight_);
    return 2.0 * n * std::log(2.0) * gain;
  }
  double gain_freedom(std::size_t n_children) const {
    return static_cast<double>((n_children - 1) * (classes_.size() - 1));
  }

  void append_leaf_values(std::vector<double>& values) const {
    const std::size_t at = values.size();
    values.resize(at + problem_.n_classes, 0.0);
    for (std::size_t k = 0; k < classes_.size(); ++k) {
      values[at + classes_[k]] = static_cast<double>(totals_[k]) / static_cast<double>(weight_);
    }
  }

 private:
  void bound_rounding() {
    const NodeSize size{static_cast<double>(n_), weight(), static_cast<double>(classes_.size()),
                        static_cast<double>(most_children(problem_, n_))};
    with_terms([&](auto terms) {
      tolerance_ = terms.tolerance(size);
      relative_ = terms.kRelative;
    });
  }
  double unsplit_score() const {
    double terms = 0.0;
    for (const W total : totals_) terms += term(total);
    return join(terms, weight_);
  }

  const Problem& problem_;
  Criterion criterion_;
  const std::uint32_t* rows_ = nullptr;
  std::uint32_t n_ = 0;
  W weight_{0};
  double tolerance_ = 0.0;
  bool relative_ = false;       // the tolerance is one in units of the score
  bool segments_only_ = false;  // every row weighs 1, and where the classes start is enough
  std::vector<std::uint32_t> classes_, starts_, groups_;
  std::vector<W> totals_, weights_, child_;
};

// Regression on the variance.
template <class W>
class MomentNode {
 public:
  using Weight = W;
  static constexpr bool kClasses = false;
  static constexpr bool kWhole = std::numeric_limits<W>::is_integer;

  explicit MomentNode(const Problem& problem) : problem_(problem) {
    weights_.resize(problem.table.n_rows + kPadding);
    moments_.resize(problem.table.n_rows + kPadding);
  }

  void load(const std::uint32_t* rows, std::uint32_t n, const W* weights, bool keeps) {
    n_ = n;
    rows_ = rows;
    weights_of_rows_ = weights;
    const auto add_up = [&](auto&& target_of) {
      keeps ? add_up_rows<true>(weights, target_of) : add_up_rows<false>(weights, target_of);
    };
    if (n >= kCodedRows && !problem_.target_codes.empty()) {
      add_up([codes = problem_.target_codes.data(), targets = problem_.coded_targets.data()](
                 std::uint32_t row) { return targets[codes[row]]; });
    } else {
      add_up([grid = problem_.grid_response.data(), response = problem_.response](
                 std::uint32_t row) { return GridTarget{grid[row], response[row]}; });
    }
  }

  std::uint32_t n_rows() const { return n_; }
  bool unit_weights() const { return kWhole && weight_ == static_cast<W>(n_); }
  double weight() const { return static_cast<double>(weight_); }
  bool pure() const { return pure_; }
  W whole() const { return weight_; }
  double sum() const { return sum_; }
  const W* weights() const { return weights_.data(); }
  // Of the i-th row, also where no more is kept of the rows.
  W weight_of_row(std::uint32_t i) const { return weights_of_rows_[rows_[i]]; }
  const double* moments() const { return moments_.data(); }

  double impurity() const { return impurity_; }
  double weighted_impurity() const { return weight() * impurity_; }
  double join(double sum, W count) const { return Variance::score(sum, count); }
  // Scores no farther apart than this are ties.
  double tolerance(double score) const {
    return tolerance_ + Variance::tolerance(size_, score, problem_.response_error);
  }

  double gain(double score) const {
    return std::ldexp(score - join(sum_, weight_), -2 * problem_.grid_shift);
  }
  bool gains(double score) const { return score - join(sum_, weight_) > tolerance(score); }

  // The best cut of the sorted responses bounds every split into two; sought where nodes are small.
  double largest_score(const Settings& settings) const {
    constexpr std::uint32_t kSmall = 8;
    if (n_ > kSmall || settings.splits == Family::multiway) {
      return std::numeric_limits<double>::infinity();
    }
    std::pair<double, std::uint32_t> sorted[kSmall];
    for (std::uint32_t i = 0; i < n_; ++i) {
      sorted[i] = {problem_.grid_response[rows_[i]], i};
    }
    std::sort(sorted, sorted + n_);
    double best = 0.0;
    double sum = 0.0;
    W count{0};
    for (std::uint32_t i = 0; i + 1 < n_; ++i) {
      sum += moments_[sorted[i].second];
      count += weights_[sorted[i].second];
      best = std::max(best, join(sum, count) + join(sum_ - sum, weight_ - count));
    }
    return best - tolerance(best);
  }

  Children children(const std::uint32_t* index, const std::vector<std::uint32_t>& bounds,
                    const W* weights) const {
    Children result;
    result.count = bounds.size() - 1;
    for (std::size_t c = 0; c < result.count; ++c) {
      double sum = 0.0;
      double total = 0.0;
      for (std::uint32_t i = bounds[c]; i < bounds[c + 1]; ++i) {
        const double w = static_cast<double>(weights[index[i]]);
        sum += w * problem_.response[index[i]];
        total += w;
      }
      const double mean = sum / total;
      for (std::uint32_t i = bounds[c]; i < bounds[c + 1]; ++i) {
        const double off = problem_.response[index[i]] - mean;
        result.weighted_impurity += static_cast<double>(weights[index[i]]) * off * off;
      }
    }
    return result;
  }

  // n ln(variance before / variance after): the likelihood ratio of normal responses.
  double gain_statistic(const Children& children, std::uint32_t n) const {
    const double after = children.weighted_impurity / weight();
    if (after <= 0.0) return std::numeric_limits<double>::max();
    return n * std::log(impurity_ / after);
  }
  double gain_freedom(std::size_t n_children) const { return static_cast<double>(n_children - 1); }

  void append_leaf_values(std::vector<double>& values) const { values.push_back(mean_); }

 private:
  static constexpr std::size_t kZeros = 8;           // behind the rows, for sums_up_to
  static constexpr std::uint32_t kCodedRows = 1024;  // of nodes that read targets by their codes

  template <bool kKeeps, class TargetOf>
  void add_up_rows(const W* weights, TargetOf&& target_of) {
    const std::uint32_t n = n_;
    weight_ = W{0};
    sum_ = 0.0;
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    double mean = 0.0;
    double absolute = 0.0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t row = rows_[i];
      const W w = weights[row];
      const GridTarget target = target_of(row);
      const double moment = static_cast<double>(w) * target.grid;
      if constexpr (kKeeps) {
        weights_[i] = w;
        moments_[i] = moment;
      }
      sum_ += moment;
      if constexpr (!kWhole) absolute += std::fabs(moment);
      weight_ += w;
      least = std::min(least, target.grid);
      most = std::max(most, target.grid);
      mean += static_cast<double>(w) * target.response;
    }
    pure_ = least == most;
    size_ = {static_cast<double>(n), weight(), 1.0,
             static_cast<double>(most_children(problem_, n))};
    if constexpr (!kWhole) {
      tolerance_ =
          Variance::real_tolerance(size_, absolute, std::max(std::fabs(least), std::fabs(most)));
    }
    mean_ = mean / static_cast<double>(weight_);
    impurity_ = 0.0;
    if (pure_) return;
    if constexpr (kKeeps) {
      for (std::size_t i = n; i < n + kZeros; ++i) {
        weights_[i] = W{0};
        moments_[i] = 0.0;
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      const double off = target_of(rows_[i]).response - mean_;
      const W w = kKeeps ? weights_[i] : weights[rows_[i]];
      impurity_ += static_cast<double>(w) * off * off;
    }
    impurity_ /= static_cast<double>(weight_);
  }

  const Problem& problem_;
  const std::uint32_t* rows_ = nullptr;
  const W* weights_of_rows_ = nullptr;
  std::uint32_t n_ = 0;
  W weight_{0};
  double sum_ = 0.0, mean_ = 0.0, impurity_ = 0.0;
  double tolerance_ = 0.0;  // rounding error of fractional weights
  NodeSize size_;
  bool pure_ = true;
  std::vector<W> weights_;
  std::vector<double> moments_;
};

}  // namespace duramen
