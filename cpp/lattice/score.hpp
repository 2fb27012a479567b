// What a cell adds to the uncertainty of Y: its weight times its impurity, as a whole number.
//
// Whole multiples of a fixed step add up without rounding, in any order: sums over the lattice are
// exact, the same for every number of threads, and terms that cancel do so to the last bit.
//
// With rows that all count 1, the part that comes from pairs of rows can be set aside (see
// lattice.hpp): the score is then less what all pairs of rows of different class in the cell would
// score alone, and cells of two rows score 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "impurity.hpp"
#include "lattice/rows.hpp"

namespace duramen::lattice {

using Score = std::int64_t;
__extension__ typedef __int128 Sum;

// Scores stay below 2^61 in size.
inline double step_for(double largest) { return std::exp2(60 - std::ceil(std::log2(largest))); }

// n H = n log2 n - sum_k n_k log2 n_k. A pair of different classes has 2 bits, and there are
// (n^2 - sum_k n_k^2) / 2 such pairs: setting them aside changes the table alone.
class CountedEntropy {
 public:
  CountedEntropy(std::size_t total, double steps, bool less_pairs) : table_(total + 1) {
    for (std::size_t n = 0; n <= total; ++n) {
      const double count = static_cast<double>(n);
      // Entries may be beyond 64 bits; differences are not, so the remainder by 2^64 will do.
      const auto log_part = static_cast<Sum>(std::nearbyint(n_log2_n(count) * steps));
      const auto pair_part = static_cast<Sum>(count * count * steps);
      table_[n] = static_cast<std::uint64_t>(less_pairs ? log_part - pair_part : log_part);
    }
  }

  template <class Space>
  Score operator()(const Space& space, typename Space::Cell cell) const {
    std::int64_t n = 0;
    std::uint64_t classes = 0;
    space.template each_class<Count>(cell, [&](std::uint32_t, std::int64_t count) {
      n += count;
      classes += table_[static_cast<std::size_t>(count)];
    });
    return static_cast<Score>(table_[static_cast<std::size_t>(n)] - classes);
  }

 private:
  std::vector<std::uint64_t> table_;
};

// How much of the score is left where pairs of n rows are set aside. Gini's index sums the
// variances of the indicators of the classes. For the variance, a pair scores half the square of
// its difference, and all pairs n / 2 times what the cell scores.
inline double share_kept(std::int64_t n, bool less_pairs) {
  return less_pairs ? 1.0 - static_cast<double>(n) / 2.0 : 1.0;
}

// sum_k n_k (n - n_k) / n.
class CountedGini {
 public:
  CountedGini(double steps, bool less_pairs) : steps_(steps), less_pairs_(less_pairs) {}

  template <class Space>
  Score operator()(const Space& space, typename Space::Cell cell) const {
    std::int64_t total = 0;
    space.template each_class<Count>(cell, [&](std::uint32_t, std::int64_t n) { total += n; });
    std::int64_t sum = 0;
    space.template each_class<Count>(
        cell, [&](std::uint32_t, std::int64_t n) { sum += n * (total - n); });
    return static_cast<Score>(static_cast<double>(sum) / static_cast<double>(total) *
                              share_kept(total, less_pairs_) * steps_);
  }

 private:
  double steps_;
  bool less_pairs_;
};

// sum_k n_k (y_k - mean)^2.
class CountedVariance {
 public:
  CountedVariance(const double* numbers, double steps, bool less_pairs)
      : numbers_(numbers), steps_(steps), less_pairs_(less_pairs) {}

  template <class Space>
  Score operator()(const Space& space, typename Space::Cell cell) const {
    std::int64_t total = 0;
    double moment = 0.0;
    space.template each_class<Count>(cell, [&](std::uint32_t k, std::int64_t n) {
      total += n;
      moment += static_cast<double>(n) * numbers_[k];
    });
    const double mean = moment / static_cast<double>(total);
    double sum = 0.0;
    space.template each_class<Count>(cell, [&](std::uint32_t k, std::int64_t n) {
      const double off = numbers_[k] - mean;
      sum += static_cast<double>(n) * (off * off);
    });
    return static_cast<Score>(sum * share_kept(total, less_pairs_) * steps_);
  }

 private:
  const double* numbers_;
  double steps_;
  bool less_pairs_;
};

// The same scores of rows with weights: sum_k w_k log2 (w / w_k) and so on. The criterion is chosen
// as the walk runs, which spares the compiler two more walks.
class Weighted {
 public:
  Weighted(Impurity criterion, const double* numbers, double steps)
      : criterion_(criterion), numbers_(numbers), steps_(steps) {}

  template <class Space>
  Score operator()(const Space& space, typename Space::Cell cell) const {
    double total = 0.0;
    double moment = 0.0;
    space.template each_class<Weight>(cell, [&](std::uint32_t k, double w) {
      total += w;
      if (numbers_ != nullptr) moment += w * numbers_[k];
    });
    const double mean = moment / total;
    double sum = 0.0;
    space.template each_class<Weight>(
        cell, [&](std::uint32_t k, double w) { sum += score_of_class(k, w, total, mean); });
    if (criterion_ == Impurity::gini) sum /= total;
    return static_cast<Score>(sum * steps_);
  }

 private:
  double score_of_class(std::uint32_t k, double w, double total, double mean) const {
    switch (criterion_) {
      case Impurity::entropy:
        return w * std::log2(total / w);
      case Impurity::gini:
        return w * (total - w);
      case Impurity::variance: {
        const double off = numbers_[k] - mean;
        return w * (off * off);
      }
    }
    __builtin_unreachable();
  }

  Impurity criterion_;
  const double* numbers_;
  double steps_;
};

}  // namespace duramen::lattice
