// The target at one node of a survival tree: the rows at risk at its event times, and the log-rank
// statistic of its splits (Segal 1988; LeBlanc and Crowley 1993).
//
// Of Y rows at risk at an event time, d have the event; of the Y_L rows of child 0, d_L. The
// statistic is U^2 / V with, summed over the event times of the node,
//   U = d_L - d Y_L / Y,   V = c Y_L (Y - Y_L),   c = d (Y - d) / (Y^2 (Y - 1)).
// With L(t) the Nelson-Aalen estimate of the node, U is the sum of the martingale residuals
// event - L(time) of the rows of child 0. With C(t) the sum of c up to t and A(t) that of c Y, V is
// the sum of A(time) over the rows of child 0 less the sum of C(min(time, time')) over their pairs:
// a row that joins child 0 changes V by sums over the rows before and after its time.
//
// With left truncation a row is at risk from the first event time after its entry on: of L, A and C
// it has the value at its time less that at its entry, as if it were a row of its time, and another
// one of its entry with the negative weight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "grow/criteria/log_rank.hpp"
#include "grow/node.hpp"
#include "grow/problem.hpp"

namespace duramen {

class SurvivalNode {
 public:
  using Weight = std::int32_t;
  static constexpr bool kClasses = false;
  static constexpr bool kWhole = true;
  static constexpr bool kScoresRows = true;

  explicit SurvivalNode(const Problem& problem)
      : outcomes_(problem.outcomes),
        weights_(problem.table.n_rows),
        before_(problem.table.n_rows),
        last_(problem.table.n_rows),
        residuals_(problem.table.n_rows) {}

  // The rows come sorted by time.
  void load(const std::uint32_t* rows, std::uint32_t n, const Weight* weights, bool /*keeps*/) {
    n_ = n;
    weight_ = 0;
    ranks_.assign(1, 0);
    events_.assign(1, 0.0);
    at_risk_.assign(1, 0.0);
    for (std::uint32_t i = 0; i < n; ++i) {
      weights_[i] = weights[rows[i]];
      weight_ += weights_[i];
    }
    Weight left = weight_;
    for (std::uint32_t i = 0; i < n;) {
      const std::uint32_t time = outcomes_.time(rows[i]);
      const Weight at_risk = left;
      Weight events = 0;
      std::uint32_t end = i;
      for (; end < n && outcomes_.time(rows[end]) == time; ++end) {
        events += outcomes_.event(rows[end]) ? weights_[end] : 0;
        left -= weights_[end];
      }
      if (events > 0) {
        ranks_.push_back(time);
        events_.push_back(events);
        at_risk_.push_back(at_risk);
      }
      std::fill(last_.begin() + i, last_.begin() + end,
                static_cast<std::uint32_t>(events_.size() - 1));
      i = end;
    }
    if (outcomes_.first != nullptr) take_out_before_entry(rows);
    add_up_times();
    for (std::uint32_t i = 0; i < n; ++i) {
      const double event = outcomes_.event(rows[i]) ? 1.0 : 0.0;
      residuals_[i] = weights_[i] * (event - (hazard_[last_[i]] - hazard_[before_[i]]));
    }
  }

  std::uint32_t n_rows() const { return n_; }
  bool unit_weights() const { return weight_ == static_cast<Weight>(n_); }
  double weight() const { return weight_; }
  Weight whole() const { return weight_; }
  const Weight* weights() const { return weights_.data(); }
  // Martingale residuals, by which categories are sorted.
  const double* moments() const { return residuals_.data(); }

  // Whether no split can have a log-rank statistic.
  bool pure() const { return spread_ <= 0.0; }
  double impurity() const { return 0.0; }
  // What leaves hold is found once the trees are grown (survival/leaves.hpp).
  void append_leaf_values(std::vector<double>& values) const { values.push_back(0.0); }

  // Scores no farther apart than this are ties.
  double tolerance(double score) const { return LogRank::tolerance(n_, score); }
  double gain(double score) const { return score; }
  bool gains(double score) const { return score > tolerance(score); }
  double largest_score(const Settings&) const { return std::numeric_limits<double>::infinity(); }

  // The statistic of the split whose child 0 has the rows for which goes_first(position).
  template <class GoesFirst>
  double score_rows(GoesFirst&& goes_first) const {
    double excess = 0.0;
    double variance = 0.0;
    double first = 0.0;  // of child 0, at risk
    entering_.assign(n_times_ + 1, 0.0);
    std::uint32_t i = n_;
    for (std::size_t k = n_times_ + 1; k-- > 0;) {
      for (; i > 0 && last_[i - 1] == k; --i) {
        if (!goes_first(i - 1)) continue;
        excess += residuals_[i - 1];
        first += weights_[i - 1];
        entering_[before_[i - 1]] += weights_[i - 1];
      }
      first -= entering_[k];
      variance += step_[k] * first * (at_risk_[k] - first);
    }
    return statistic(excess, variance);
  }

  // scores[i], i < n_cuts, becomes the statistic of the split whose child 0 has the rows
  // order[0..i] and order[from..n); of those i alone for which ends_run(i), of others it is 0.
  template <class EndsRun>
  void score_cuts(const std::uint32_t* order, std::uint32_t from, std::uint32_t n_cuts,
                  EndsRun&& ends_run, double* scores) const {
    std::size_t n_runs = 0;
    for (std::uint32_t i = 0; i < n_cuts; ++i) n_runs += ends_run(i) ? 1 : 0;
    // Event times that cost AtRisk about as much as a row costs PairSums.
    constexpr std::size_t kPerRow = 20;
    if (n_times_ * (n_runs + n_cuts / 4) <= kPerRow * n_cuts) {
      score_with(AtRisk(*this), order, from, n_cuts, ends_run, scores);
    } else {
      score_with(PairSums(*this), order, from, n_cuts, ends_run, scores);
    }
  }

 private:
  static constexpr std::size_t kLanes = 4;

  struct Sum {
    double step = 0.0, weight = 0.0;
  };

  // The variance from the rows at risk in child 0 at every event time: for few times or few cuts.
  class AtRisk {
   public:
    explicit AtRisk(const SurvivalNode& node) : node_(node), first_(node.first_at_risk_) {
      first_.assign(node.step_.size(), 0.0);
    }
    void add(std::uint32_t i) {
      const double weight = node_.weights_[i];
      for (std::uint32_t k = node_.before_[i] + 1; k <= node_.last_[i]; ++k) first_[k] += weight;
    }
    double variance() const {
      double sums[kLanes] = {};  // in a fixed order on every processor
      const double* step = node_.step_.data();
      const double* at_risk = node_.at_risk_.data();
      for (std::size_t k = 0; k < first_.size(); k += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const double first = first_[k + lane];
          sums[lane] += step[k + lane] * (first * (at_risk[k + lane] - first));
        }
      }
      return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }

   private:
    const SurvivalNode& node_;
    std::vector<double>& first_;
  };

  // The same from sums over pairs of rows, in a tree of partial sums by event time (Fenwick 1994).
  class PairSums {
   public:
    explicit PairSums(const SurvivalNode& node) : node_(node), sums_(node.pair_sums_) {
      sums_.assign(node.n_times_ + 1, {});
    }
    void add(std::uint32_t i) {
      add(node_.last_[i], node_.weights_[i]);
      add(node_.before_[i], -node_.weights_[i]);
    }
    double variance() const { return single_ - pairs_; }

   private:
    void add(std::size_t k, double weight) {
      if (k == 0) return;  // before the first event time
      const double steps = node_.steps_[k];
      Sum before;  // of the rows in child 0 whose last event time is at most k
      for (std::size_t at = k; at > 0; at &= at - 1) {
        before.step += sums_[at].step;
        before.weight += sums_[at].weight;
      }
      pairs_ += weight * (2.0 * (before.step + steps * (total_ - before.weight)) + weight * steps);
      single_ += weight * node_.single_[k];
      total_ += weight;
      for (std::size_t at = k; at < sums_.size(); at += at & (~at + 1)) {
        sums_[at].step += weight * steps;
        sums_[at].weight += weight;
      }
    }

    const SurvivalNode& node_;
    std::vector<Sum>& sums_;
    double total_ = 0.0, single_ = 0.0, pairs_ = 0.0;
  };

  template <class Variance, class EndsRun>
  void score_with(Variance variance, const std::uint32_t* order, std::uint32_t from,
                  std::uint32_t n_cuts, EndsRun&& ends_run, double* scores) const {
    double excess = 0.0;
    const auto join = [&](std::uint32_t i) {
      excess += residuals_[i];
      variance.add(i);
    };
    for (std::uint32_t i = from; i < n_; ++i) join(order[i]);
    for (std::uint32_t i = 0; i < n_cuts; ++i) {
      join(order[i]);
      scores[i] = ends_run(i) ? statistic(excess, variance.variance()) : 0.0;
    }
  }

  // Numbers the last event time before each row is at risk, and takes it out up to there.
  void take_out_before_entry(const std::uint32_t* rows) {
    entering_.assign(at_risk_.size(), 0.0);
    for (std::uint32_t i = 0; i < n_; ++i) {
      const auto place =
          std::lower_bound(ranks_.begin() + 1, ranks_.end(), outcomes_.first[rows[i]]);
      before_[i] = static_cast<std::uint32_t>(place - ranks_.begin() - 1);
      entering_[before_[i]] += weights_[i];
    }
    double entering = 0.0;
    for (std::size_t k = at_risk_.size(); k-- > 1;) {
      entering += entering_[k];
      at_risk_[k] -= entering;
    }
  }

  // What the event times add up to, from their events and rows at risk.
  void add_up_times() {
    n_times_ = events_.size() - 1;
    const std::size_t padded = (events_.size() + kLanes - 1) / kLanes * kLanes;
    step_.assign(padded, 0.0);
    steps_.assign(padded, 0.0);
    single_.assign(padded, 0.0);
    hazard_.assign(padded, 0.0);
    at_risk_.resize(padded, 0.0);
    spread_ = 0.0;
    for (std::size_t k = 1; k <= n_times_; ++k) {
      const double d = events_[k];
      const double y = at_risk_[k];
      step_[k] = y > 1.0 ? d * (y - d) / (y * y * (y - 1.0)) : 0.0;
      steps_[k] = steps_[k - 1] + step_[k];
      single_[k] = single_[k - 1] + step_[k] * y;
      hazard_[k] = hazard_[k - 1] + d / y;
      spread_ += step_[k] * y * y;
    }
  }

  double statistic(double excess, double variance) const {
    return LogRank::score(excess, variance, spread_);
  }

  Outcomes outcomes_;
  std::uint32_t n_ = 0;
  Weight weight_ = 0;
  std::size_t n_times_ = 0;  // distinct event times of the node, numbered from 1
  double spread_ = 0.0;      // scale of the variance
  std::vector<Weight> weights_;
  // Of every row, the event times between which it is at risk: after the first, up to the last.
  std::vector<std::uint32_t> before_, last_;
  std::vector<double> residuals_;
  // By event time; steps_, single_ and hazard_ are the sums C, A and L above.
  std::vector<double> events_, at_risk_, step_, steps_, single_, hazard_;
  std::vector<std::uint32_t> ranks_;  // of the event times among all times
  mutable std::vector<double> entering_, first_at_risk_;
  mutable std::vector<Sum> pair_sums_;
};

}  // namespace duramen
