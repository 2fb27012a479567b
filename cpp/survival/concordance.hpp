// Harrell's concordance index of risks with survival (Harrell, Lee and Mark 1996).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/problem.hpp"

namespace duramen {

// A pair of rows is comparable where the one with the earlier time had the event then, and the
// other was at risk; at equal times, where one had the event and the other had not. It is
// concordant where the first of the two has the higher risk, and counts one half where the risks
// are equal.
struct Pairs {
  std::int64_t concordant = 0;
  std::int64_t tied = 0;
  std::int64_t comparable = 0;

  double concordance() const {
    return (static_cast<double>(concordant) + 0.5 * static_cast<double>(tied)) /
           static_cast<double>(comparable);
  }
};

// Rows in the order in which they leave the risk sets of ever earlier times; none without entries.
std::vector<std::uint32_t> rows_by_entry(const Outcomes& outcomes,
                                         const std::vector<std::uint32_t>& rows);

// Counts the pairs of rows with their risks as ranks, in O(n log n).
class PairCounter {
 public:
  // rows: sorted by their code (Outcomes), ascending. rank_of(row) < n_ranks.
  template <class RankOf>
  Pairs count(const Outcomes& outcomes, const std::vector<std::uint32_t>& rows,
              std::uint32_t n_ranks, RankOf&& rank_of) {
    below_.assign(std::size_t{n_ranks} + 1, 0);
    equal_.assign(n_ranks, 0);
    Pairs pairs;
    std::int64_t n_later = 0;
    const auto add = [&](std::uint32_t row, std::int64_t count) {
      const std::uint32_t rank = rank_of(row);
      equal_[rank] += count;
      n_later += count;
      for (std::size_t at = std::size_t{rank} + 1; at < below_.size(); at += at & (~at + 1)) {
        below_[at] += count;
      }
    };
    const auto join = [&](std::uint32_t row) { add(row, 1); };
    by_entry_ = rows_by_entry(outcomes, rows);
    std::size_t n_left = 0;  // rows that were not yet at risk
    for (std::size_t end = rows.size(); end > 0;) {
      const std::uint32_t time = outcomes.time(rows[end - 1]);
      for (; n_left < by_entry_.size() && outcomes.first[by_entry_[n_left]] > time; ++n_left) {
        add(by_entry_[n_left], -1);
      }
      std::size_t begin = end;  // of the rows of this time; those without the event come first
      while (begin > 0 && outcomes.time(rows[begin - 1]) == time) --begin;
      std::size_t first_event = begin;
      for (; first_event < end && !outcomes.event(rows[first_event]); ++first_event) {
        join(rows[first_event]);
      }
      for (std::size_t i = first_event; i < end; ++i) {
        const std::uint32_t rank = rank_of(rows[i]);
        for (std::size_t at = rank; at > 0; at &= at - 1) pairs.concordant += below_[at];
        pairs.tied += equal_[rank];
        pairs.comparable += n_later;
      }
      for (std::size_t i = first_event; i < end; ++i) join(rows[i]);
      end = begin;
    }
    return pairs;
  }

 private:
  std::vector<std::int64_t> below_, equal_;  // of later rows: by partial sums over ranks, by rank
  std::vector<std::uint32_t> by_entry_;
};

// Rows of a target sorted by their code.
std::vector<std::uint32_t> rows_by_time(const Outcomes& outcomes, std::size_t n_rows);

// Pairs of rows by their risks, of those rows alone that are in `rows`, sorted by code.
Pairs count_pairs(const Outcomes& outcomes, const std::vector<std::uint32_t>& rows,
                  const double* risks);

}  // namespace duramen
