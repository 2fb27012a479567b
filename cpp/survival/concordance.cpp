#include "survival/concordance.hpp"

#include <algorithm>
#include <numeric>

namespace duramen {

std::vector<std::uint32_t> rows_by_time(const Outcomes& outcomes, std::size_t n_rows) {
  std::vector<std::uint32_t> rows(n_rows);
  std::iota(rows.begin(), rows.end(), 0U);
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return outcomes.codes[a] < outcomes.codes[b];
  });
  return rows;
}

std::vector<std::uint32_t> rows_by_entry(const Outcomes& outcomes,
                                         const std::vector<std::uint32_t>& rows) {
  if (outcomes.first == nullptr) return {};
  std::vector<std::uint32_t> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return outcomes.first[a] > outcomes.first[b];
  });
  return sorted;
}

Pairs count_pairs(const Outcomes& outcomes, const std::vector<std::uint32_t>& rows,
                  const double* risks) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const std::uint32_t row : rows) values.push_back(risks[row]);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  PairCounter counter;
  return counter.count(
      outcomes, rows, static_cast<std::uint32_t>(values.size()), [&](std::uint32_t row) {
        const auto place = std::lower_bound(values.begin(), values.end(), risks[row]);
        return static_cast<std::uint32_t>(place - values.begin());
      });
}

}  // namespace duramen
