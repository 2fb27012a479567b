// What all the trees of a forest share while they grow: read-only, but for the monitor.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "data/table.hpp"
#include "grow/guidance.hpp"
#include "grow/settings.hpp"
#include "impurity.hpp"

namespace duramen {

// Lets another thread watch and stop a long call.
struct Monitor {
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> done{0};
};

// Survival of every row: twice the rank of its time, plus 1 where the event occurred then; and the
// rank of the first time at which it is at risk (left truncation).
struct Outcomes {
  const std::uint32_t* codes = nullptr;  // null: another target
  std::uint32_t n_times = 0;             // distinct times
  const std::uint32_t* first = nullptr;  // null: all rows are at risk from the first time on

  std::uint32_t time(std::size_t row) const { return codes[row] / 2; }
  bool event(std::size_t row) const { return codes[row] % 2 != 0; }
};

// Decoys of the columns (decoys.hpp), if there is a cycle.
struct Decoys {
  const std::uint32_t* cycle = nullptr;  // all rows; the decoy has the value of the next row
  const std::uint32_t* bounds =
      nullptr;               // first place of each stratum in it, and the number of rows
  std::size_t n_strata = 0;  // the last row of a stratum is followed by its first
  const std::uint8_t* judged = nullptr;  // columns that are compared with their decoys
};

// A regression target on the grid, and as it is.
struct GridTarget {
  double grid = 0.0;
  double response = 0.0;
};

struct Problem {
  Table table;
  Settings settings;
  std::uint64_t seed = 0;
  std::uint32_t n_classes = 0;             // 0: regression
  const std::uint32_t* classes = nullptr;  // class of every row
  const double* response = nullptr;        // regression target, less its origin
  Outcomes outcomes;                       // survival target
  const double* weights = nullptr;         // or null: every row weighs 1
  bool whole_weights = true;               // all weights are whole numbers of moderate size
  std::vector<double> grid_response;       // centred, on a grid where all sums are exact
  int grid_shift = 0;                      // a unit of the target is 2^grid_shift of its steps
  // Where many rows are equal, the code of the target of every row, and the targets by code: they
  // stay in the cache, the arrays of all rows do not. Else none.
  std::vector<std::uint16_t> target_codes;
  std::vector<GridTarget> coded_targets;
  double response_error = 0.0;           // of one on the grid, in steps, but for a common shift
  std::uint32_t most_codes = 2;          // of any column
  std::vector<std::uint32_t> row_order;  // rows sorted by class, or by time
  // Multiplicity of every row in the bag of the only tree that this table is for (patches.hpp);
  // null: bags are drawn.
  const std::uint32_t* multiplicity = nullptr;
  LogTable logs;
  Decoys decoys;
  Guidance guidance;
  Monitor* monitor = nullptr;

  // Fills the fields that are derived from the public fields.
  void prepare();
  void note_codes();
  void order_rows();
  void code_targets();

  bool stopped() const {
    return monitor != nullptr && monitor->stop.load(std::memory_order_relaxed);
  }

  // Whether a row that is in a bag weighs 1.
  bool unit_weights() const {
    return weights == nullptr && !settings.bootstrap && !settings.balanced_subsample;
  }
};

// The exponent of the lowest bit that is set in a number.
inline int lowest_bit(double number) {
  if (number == 0.0) return std::numeric_limits<int>::max();
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(number, &exponent), 53));
  return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits));
}

inline void Problem::note_codes() {
  for (std::size_t j = 0; j < table.n_columns; ++j) {
    most_codes = std::max(most_codes, table.n_codes(j));
  }
}

inline void Problem::order_rows() {
  const std::size_t n = table.n_rows;
  row_order.resize(n);
  std::iota(row_order.begin(), row_order.end(), 0U);
  if (n_classes > 0) {
    std::vector<std::uint32_t> start(n_classes + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++start[classes[i] + 1];
    for (std::uint32_t k = 0; k < n_classes; ++k) start[k + 1] += start[k];
    for (std::size_t i = 0; i < n; ++i) {
      row_order[start[classes[i]]++] = static_cast<std::uint32_t>(i);
    }
  } else if (outcomes.codes != nullptr) {
    std::stable_sort(row_order.begin(), row_order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return outcomes.codes[a] < outcomes.codes[b];
    });
  }
}

inline void Problem::prepare() {
  const std::size_t n = table.n_rows;
  note_codes();
  double total = 0.0;
  double largest = 1.0;
  whole_weights = !settings.balanced_subsample;
  if (weights != nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      total += weights[i];
      largest = std::max(largest, weights[i]);
      if (weights[i] != std::floor(weights[i])) whole_weights = false;
    }
  } else {
    total = static_cast<double>(n);
  }
  double mass = total;
  if (settings.bootstrap) {
    // A bag may repeat its heaviest row or group; what it can weigh at most bounds the tables.
    const std::size_t n_units = settings.n_units(n);
    if (settings.group_of != nullptr) {
      std::vector<double> of_groups(n_units, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        of_groups[settings.group_of[i]] += weights == nullptr ? 1.0 : weights[i];
      }
      for (const double weight : of_groups) largest = std::max(largest, weight);
    }
    const double draws = settings.row_samples == 0 ? n_units : settings.row_samples;
    mass = draws * largest;
  }
  constexpr double kLargestTable = 1 << 22;
  const bool logs_read = reads_logs(settings.criterion);
  if (mass > kLargestTable && (logs_read || weights != nullptr)) {
    whole_weights = false;
  }
  if (whole_weights && logs_read) logs = LogTable(static_cast<std::size_t>(mass));

  order_rows();
  if (n_classes > 0 || outcomes.codes != nullptr) return;
  // Rows of weight 0 are in no tree: they must not coarsen the grid.
  const auto counts = [this](std::size_t i) { return weights == nullptr || weights[i] > 0.0; };
  double mean = 0.0;
  double n_counted = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    if (counts(i)) mean += (response[i] - mean) / ++n_counted;
  }
  double reach = 0.0;
  double largest_response = 0.0;
  int unit = std::numeric_limits<int>::max();  // all responses are whole multiples of 2^unit
  for (std::size_t i = 0; i < n; ++i) {
    if (!counts(i)) continue;
    reach = std::max(reach, std::fabs(response[i] - mean));
    largest_response = std::max(largest_response, std::fabs(response[i]));
    unit = std::min(unit, lowest_bit(response[i]));
  }
  grid_response.assign(n, 0.0);
  if (reach > 0.0) {
    int mass_exponent = 0;
    int reach_exponent = 0;
    std::frexp(std::max(mass, 1.0), &mass_exponent);
    std::frexp(reach, &reach_exponent);
    // |sum w y| stays below 2^53 steps.
    grid_shift = 52 - mass_exponent - reach_exponent;
    double low = 0.5;
    double high = -0.5;
    for (std::size_t i = 0; i < n; ++i) {
      if (!counts(i)) continue;
      const double exact = std::ldexp(response[i] - mean, grid_shift);
      grid_response[i] = std::nearbyint(exact);
      low = std::min(low, exact - grid_response[i]);
      high = std::max(high, exact - grid_response[i]);
    }
    // A shift of all responses changes all scores of a node equally. The responses themselves are
    // known to half a unit in the last place: of themselves, less an origin as they are, or where
    // an offset that is gone has rounded them. Then they are multiples of a unit that is small
    // beside their range, but not as small as it could be.
    constexpr int kWholeNumbers = 32;  // responses of fewer bits are exact multiples of it
    response_error = (high - low) / 2.0 + std::ldexp(largest_response, grid_shift - 53);
    if (reach_exponent - unit > kWholeNumbers) {
      response_error =
          std::max(response_error, (high - low) / 2.0 + std::ldexp(0.5, grid_shift + unit));
    }
  }
  code_targets();
}

inline void Problem::code_targets() {
  constexpr std::size_t kWorthIt = 4096;  // rows
  constexpr std::size_t kSample = 1024;
  constexpr std::size_t kMostCodes = std::size_t{1} << 16;
  const std::size_t n = table.n_rows;
  if (n < kWorthIt) return;
  const auto distinct = [](std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  std::vector<double> values;
  for (std::size_t i = 0; i < kSample; ++i) values.push_back(response[i * n / kSample]);
  distinct(values);
  if (values.size() > kSample / 4) return;
  values.assign(response, response + n);
  distinct(values);
  if (values.size() > std::min(kMostCodes, n / 4)) return;
  target_codes.resize(n);
  coded_targets.resize(values.size());
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = std::lower_bound(values.begin(), values.end(), response[i]) - values.begin();
    target_codes[i] = static_cast<std::uint16_t>(code);
    // Rows of weight 0 have no place on the grid.
    if (weights == nullptr || weights[i] > 0.0) {
      coded_targets[static_cast<std::size_t>(code)] = {grid_response[i], response[i]};
    }
  }
}

}  // namespace duramen
