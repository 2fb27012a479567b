// The codes of columns at the rows of a node, side by side, with the least and the largest of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/problem.hpp"
#include "grow/working.hpp"
#include "lanes.hpp"

namespace duramen {

template <class T>
class Gathered {
 public:
  static constexpr std::size_t kSide = 4;  // columns at a time

  Gathered(const Problem& problem, const Working<T>& working)
      : working_(working),
        n_columns_(working.n_columns()),
        side_stride_(problem.table.n_rows + kPadding),
        buffer_(side_stride_ * (std::is_integral_v<T> ? 1 : kSide)),
        row_starts_(problem.table.n_rows) {}

  void start_node(const std::uint32_t* rows, std::uint32_t n) {
    by_row_ = working_.rows() != nullptr && n * n_columns_ * sizeof(T) <= kRowMajorNodeBytes;
    if (by_row_) {
      for (std::uint32_t i = 0; i < n; ++i) row_starts_[i] = rows[i] * n_columns_;
    }
  }

  // One column; returns the least and the largest.
  std::pair<T, T> gather(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    if (by_row_) {
      const T* base = working_.rows() + column;
      return gather_from(n, buffer_.data(), [&](std::uint32_t i) { return base[row_starts_[i]]; });
    }
    const T* base = working_.column(column);
    return gather_from(n, buffer_.data(), [&](std::uint32_t i) { return base[rows[i]]; });
  }

  // Calls use(read) with what reads the code of a column at row i of the node.
  template <class Use>
  auto with_reader(std::size_t column, const std::uint32_t* rows, Use&& use) const {
    if (by_row_) {
      return use([base = working_.rows() + column, starts = row_starts_.data()](std::uint32_t i) {
        return base[starts[i]];
      });
    }
    return use([base = working_.column(column), rows](std::uint32_t i) { return base[rows[i]]; });
  }

  // What was gathered last, of one column.
  const T* codes() const { return buffer_.data(); }

  // Gathers several columns, each to its side, with the least and the largest of each.
  void gather_side_by_side(const std::uint32_t* columns, std::size_t count,
                           const std::uint32_t* rows, std::uint32_t n, std::pair<T, T>* ranges) {
    if (!by_row_ || count != kSide) {
      for (std::size_t c = 0; c < count; ++c) {
        const T* base = by_row_ ? working_.rows() + columns[c] : working_.column(columns[c]);
        ranges[c] =
            by_row_ ? gather_from(n, side(c), [&](std::uint32_t i) { return base[row_starts_[i]]; })
                    : gather_from(n, side(c), [&](std::uint32_t i) { return base[rows[i]]; });
      }
      return;
    }
    // Together, the columns share the cache lines of a row.
    T low[kSide];
    T high[kSide];
    const T* base = working_.rows();
    for (std::size_t c = 0; c < kSide; ++c) low[c] = high[c] = base[row_starts_[0] + columns[c]];
    for (std::uint32_t i = 0; i < n; ++i) {
      const T* row = base + row_starts_[i];
      for (std::size_t c = 0; c < kSide; ++c) {
        const T value = row[columns[c]];
        side(c)[i] = value;
        low[c] = value < low[c] ? value : low[c];
        high[c] = value > high[c] ? value : high[c];
      }
    }
    for (std::size_t c = 0; c < kSide; ++c) ranges[c] = {low[c], high[c]};
  }

  T* side(std::size_t c) { return buffer_.data() + c * side_stride_; }

 private:
  // Nodes whose rows fit the cache are read from the rows: children find them there again.
  static constexpr std::size_t kRowMajorNodeBytes = std::size_t{1} << 19;

  template <class Read>
  std::pair<T, T> gather_from(std::uint32_t n, T* out, Read&& read) {
    constexpr std::uint32_t kWays = 4;  // independent chains of comparisons
    const T first = read(0);
    T low[kWays] = {first, first, first, first};
    T high[kWays] = {first, first, first, first};
    std::uint32_t i = 0;
    for (; i + kWays <= n; i += kWays) {
      for (std::uint32_t way = 0; way < kWays; ++way) {
        const T value = read(i + way);
        out[i + way] = value;
        low[way] = value < low[way] ? value : low[way];
        high[way] = value > high[way] ? value : high[way];
      }
    }
    for (; i < n; ++i) {
      const T value = read(i);
      out[i] = value;
      low[0] = value < low[0] ? value : low[0];
      high[0] = value > high[0] ? value : high[0];
    }
    return {std::min(std::min(low[0], low[1]), std::min(low[2], low[3])),
            std::max(std::max(high[0], high[1]), std::max(high[2], high[3]))};
  }

  const Working<T>& working_;
  std::size_t n_columns_, side_stride_;
  bool by_row_ = false;
  std::vector<T> buffer_;
  std::vector<std::size_t> row_starts_;
};

}  // namespace duramen
