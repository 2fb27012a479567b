// The table laid out for growth: every column in one element type, column after column, and row
// after row too where that pays (small nodes then read few cache lines).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/table.hpp"
#include "grow/problem.hpp"
#include "grow/settings.hpp"
#include "grow/split/entry_bits.hpp"
#include "grow/split/ordered_entries.hpp"
#include "grow/value_samples.hpp"
#include "lanes.hpp"
#include "large_pages.hpp"
#include "processor.hpp"

namespace duramen {

// Tables up to this many rows with one-byte codes are scanned whole at every node, masked.
constexpr std::size_t kDenseRows = 256;

// Codes of a sparse column, up to which its rows are added up by code.
constexpr std::uint32_t kFewCodes = 256;

// A second layout is kept up to this many bytes.
constexpr std::size_t kRowMajorBytes = std::size_t{1} << 28;

template <class T>
class Working {
 public:
  using Code = std::conditional_t<std::numeric_limits<T>::is_integer, T, std::uint32_t>;

  explicit Working(const Problem& problem, EntryOrders<T> orders = {})
      : table_(problem.table),
        n_rows_(problem.table.n_rows),
        n_columns_(problem.table.n_columns),
        orders_(std::move(orders)) {
    const Table& table = problem.table;
    dense_ = sizeof(T) == 1 && n_rows_ <= kDenseRows;
    stride_ = dense_ ? (n_rows_ + kLane - 1) / kLane * kLane : n_rows_;
    std::size_t n_here = n_columns_;  // columns that lie here
    if (n_rows_ > kDenseRows && table.any_sparse()) n_here = leave_sparse();
    if (any_sparse() && subtrees_pay(problem))
      entry_rows_ = EntryRows::of(table, n_columns_ - n_here);
    if (any_sparse()) note_values();
    const T* in_place = dense_ ? nullptr : contiguous();
    if (in_place == nullptr) {
      fill_large(storage_, stride_ * n_here);
      for (std::size_t j = 0; j < n_columns_; ++j) {
        if (sparse(j)) continue;
        T* out = storage_.data() + place(j) * stride_;
        const double* values = table.values(j);
        table.visit_column(j, [&](auto codes) {
          for (std::size_t i = 0; i < n_rows_; ++i) {
            if constexpr (std::numeric_limits<T>::is_integer) {
              out[i] = static_cast<T>(codes[i]);
            } else {
              out[i] = static_cast<T>(values[codes[i]]);
            }
          }
        });
      }
      in_place = storage_.data();
    }
    columns_ = in_place;
    if constexpr (!std::numeric_limits<T>::is_integer) samples_.emplace(table);
    if (dense_) round_values(table);
    if (dense_ || !std::numeric_limits<T>::is_integer) {
      collides_.resize(n_columns_);
      for (std::size_t j = 0; j < n_columns_; ++j) {
        collides_[j] = distinct_when_rounded(table, j) ? 0 : 1;
      }
    }
    const bool fits = n_rows_ * n_columns_ * sizeof(T) <= kRowMajorBytes;
    if (dense_ || any_sparse() || !fits) return;
    const Settings& settings = problem.settings;
    const std::size_t least = std::max(settings.min_samples_split, 2 * settings.min_samples_leaf);
    const std::size_t most = rows_that_pay(problem);
    if (most < least) return;  // saves a third of 50 trees on 28,501 genotypes
    transpose();
    most_by_row_ = most;
  }

  // Of columns that are not sparse.
  const T* column(std::size_t j) const { return columns_ + place(j) * stride_; }
  const T* rows() const { return row_major_.data(); }
  std::size_t most_by_row() const { return most_by_row_; }  // rows of nodes that are read from them
  const EntryRows& entry_rows() const { return *entry_rows_; }  // perhaps none
  std::size_t n_columns() const { return n_columns_; }
  std::size_t stride() const { return stride_; }
  bool dense() const { return dense_; }

  // Columns that are read from their entries, as the table has them.
  bool any_sparse() const { return !places_.empty(); }
  bool sparse(std::size_t j) const { return any_sparse() && places_[j] < 0; }
  std::size_t sparse_place(std::size_t j) const { return static_cast<std::size_t>(~places_[j]); }
  // The bits and the entries of a sparse column.
  const ByteEntries& byte_entries(std::size_t j) const { return byte_entries_[j]; }
  // Calls visit(codes) with the codes of a sparse column.
  template <class Visitor>
  void visit_sparse(std::size_t j, Visitor&& visit) const {
    table_.visit_sparse(j, visit);
  }
  // The most frequent code of a sparse column.
  Code frequent_code(std::size_t j) const {
    return static_cast<Code>(table_.sparse.frequent[sparse_place(j)]);
  }
  // A code of a sparse column as a T.
  T value(std::size_t j, std::uint32_t code) const {
    if constexpr (std::numeric_limits<T>::is_integer) {
      return static_cast<T>(code);
    } else {
      return code < kLookValues ? looks_[j].values[code] : static_cast<T>(table_.values(j)[code]);
    }
  }
  // The last code of a sparse column whose value is at most a limit; that of its first is.
  Code code_up_to(std::size_t j, T limit) const {
    if constexpr (std::numeric_limits<T>::is_integer) {
      return limit;
    } else {
      const auto& values = looks_[j].values;
      std::uint32_t code = 0;
      while (code + 1 < kLookValues && values[code + 1] <= limit) ++code;
      if (code + 1 < kLookValues) return code;
      const double* all = table_.values(j);
      return static_cast<Code>(
          std::upper_bound(all + code, all + table_.n_values(j), limit,
                           [](T bound, double value) { return bound < static_cast<T>(value); }) -
          all - 1);
    }
  }
  // The last value of a sparse column if the first is the most frequent, else infinity.
  T last_value(std::size_t j) const { return looks_[j].last; }
  // The entries of sparse columns in the order of their codes, perhaps none.
  const EntryOrders<T>& orders() const { return orders_; }
  // Of any column, by row.
  T at(std::size_t j, std::size_t row) const {
    if (!sparse(j)) return column(j)[row];
    return value(j, table_.code(j, row));
  }

  // Distinct values of a column of a dense table in single precision, filled up with infinities, or
  // null where they do not tell the values apart.
  const float* rounded(std::size_t j) const {
    return collides_[j] ? nullptr : rounded_.data() + j * value_stride_;
  }
  // Where T is float, some of the values of each column; null elsewhere.
  const ValueSamples* samples() const { return samples_ ? &*samples_ : nullptr; }

  // Whether a column of a dense table has its values in single precision.
  bool exact(std::size_t j) const { return exact_[j] != 0; }
  // Whether different values of a column are equal in single precision.
  bool collides(std::size_t j) const { return collides_[j] != 0; }

  // Asks for a column of a dense table ahead of its use.
  void prefetch(std::size_t j) const {
    const char* codes = reinterpret_cast<const char*>(column(j));
    for (std::size_t at = 0; at < stride_; at += kLineBytes) prefetch_line(codes + at);
    const char* values = reinterpret_cast<const char*>(rounded_.data() + j * value_stride_);
    for (std::size_t at = 0; at < value_stride_ * sizeof(float); at += kLineBytes) {
      prefetch_line(values + at);
    }
  }
  // Whether the columns are not in the cache, and each takes a few lines.
  bool few_lines() const {
    constexpr std::size_t kMostLines = 32;
    constexpr std::size_t kCache = std::size_t{1} << 20;
    return std::is_integral_v<T> && !dense_ && !any_sparse() &&
           stride_ * sizeof(T) <= kMostLines * kLineBytes &&
           stride_ * n_columns_ * sizeof(T) > kCache;
  }
  void prefetch_column(std::size_t j) const {
    const char* codes = reinterpret_cast<const char*>(column(j));
    for (std::size_t at = 0; at < stride_ * sizeof(T); at += kLineBytes) prefetch_line(codes + at);
  }
  // Asks for where a sparse column lies, and for its bits and the codes of its entries.
  void prefetch_byte_entries(std::size_t j) const { prefetch_line(byte_entries_.data() + j); }
  void prefetch_entries(std::size_t j) const {
    const ByteEntries& entries = byte_entries_[j];
    for (std::size_t line = 0; kLine * line < table_.sparse.n_words; ++line) {
      entries.prefetch(line);
    }
  }
  // Prefetches the data of a column that every node reads.
  void prefetch_look(std::size_t j) const { prefetch_line(looks_.data() + j); }

 private:
  std::size_t place(std::size_t j) const {
    return any_sparse() ? static_cast<std::size_t>(places_[j]) : j;
  }

  // Gives the columns that are not sparse their places; returns how many there are.
  std::size_t leave_sparse() {
    places_.resize(n_columns_);
    std::int32_t next = 0;
    for (std::size_t j = 0; j < n_columns_; ++j) {
      places_[j] = table_.is_sparse(j) ? ~static_cast<std::int32_t>(table_.slot[j]) : next++;
    }
    return static_cast<std::size_t>(next);
  }

  void note_values() {
    if (!std::numeric_limits<T>::is_integer) looks_.resize(n_columns_);
    byte_entries_.resize(n_columns_);
    for (std::size_t j = 0; j < n_columns_; ++j) {
      if (!sparse(j)) continue;
      table_.visit_sparse(j, [&](auto codes) {
        ByteEntries& entries = byte_entries_[j];
        entries.bits = codes.bits;
        entries.frequent = codes.frequent;
        if constexpr (sizeof(*codes.entries) == 1) {
          entries.codes = codes.entries;
          entries.size = static_cast<std::uint32_t>(table_.sparse.n_entries(sparse_place(j)));
        }
      });
      if constexpr (!std::numeric_limits<T>::is_integer) {
        const double* values = table_.values(j);
        const std::uint32_t n_values = table_.n_values(j);
        for (std::uint32_t code = 0; code < std::min(n_values, kLookValues); ++code) {
          looks_[j].values[code] = static_cast<T>(values[code]);
        }
        if (frequent_code(j) == 0 && n_values > 1)
          looks_[j].last = static_cast<T>(values[n_values - 1]);
      }
    }
  }

  // The block itself where it already is all of the columns that lie here, in this type.
  const T* contiguous() const {
    constexpr std::uint8_t block = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : 2;
    if constexpr (!std::numeric_limits<T>::is_integer) return nullptr;
    for (std::size_t j = 0; j < n_columns_; ++j) {
      if (sparse(j)) continue;
      if (table_.block_of[j] != block || table_.slot[j] != static_cast<std::int64_t>(place(j))) {
        return nullptr;
      }
    }
    if constexpr (sizeof(T) == 1) {
      return reinterpret_cast<const T*>(table_.block8);
    } else if constexpr (sizeof(T) == 2) {
      return reinterpret_cast<const T*>(table_.block16);
    } else {
      return reinterpret_cast<const T*>(table_.block32);
    }
  }

  static bool distinct_when_rounded(const Table& table, std::size_t j) {
    const double* values = table.values(j);
    for (std::uint32_t v = 0; v < table.n_values(j); ++v) {
      if (!(std::fabs(values[v]) <= std::numeric_limits<float>::max())) return false;
      if (v > 0 && !(static_cast<float>(values[v - 1]) < static_cast<float>(values[v]))) {
        return false;
      }
    }
    return true;
  }

  void round_values(const Table& table) {
    // Rows taken from a larger table bring all of its values.
    for (std::size_t j = 0; j < n_columns_; ++j) {
      value_stride_ = std::max<std::size_t>(value_stride_, table.n_values(j));
    }
    constexpr std::size_t kFloats = kLineBytes / sizeof(float);
    value_stride_ = (value_stride_ + kFloats - 1) / kFloats * kFloats;
    rounded_.assign(value_stride_ * n_columns_, std::numeric_limits<float>::infinity());
    exact_.resize(n_columns_);
    for (std::size_t j = 0; j < n_columns_; ++j) {
      bool exact = true;
      for (std::uint32_t v = 0; v < table.n_values(j); ++v) {
        const double value = table.values(j)[v];
        rounded_[j * value_stride_ + v] = static_cast<float>(value);
        exact &= static_cast<double>(static_cast<float>(value)) == value;
      }
      exact_[j] = exact ? 1 : 0;
    }
  }

  // Nodes whose rows fit the cache are read from the rows: children find them there again. So are
  // larger ones whose candidates are read together, where these lie in more cache lines than the
  // rows.
  static std::size_t rows_that_pay(const Problem& problem) {
    constexpr std::size_t kBytes = std::size_t{1} << 19;
    constexpr std::size_t kBytesOfLarger = std::size_t{1} << 21;
    const std::size_t p = std::max<std::size_t>(problem.table.n_columns, 1);
    const std::size_t most = kBytes / (p * sizeof(T));
    if (std::is_integral_v<T>) return most;
    const std::size_t of_few_lines = problem.settings.max_features * problem.table.n_rows / p;
    return std::max(most, std::min(kBytesOfLarger / (p * sizeof(T)), of_few_lines));
  }

  void transpose() {
    fill_large(row_major_, n_rows_ * n_columns_);
    constexpr std::size_t kTile = 32;
    for (std::size_t i0 = 0; i0 < n_rows_; i0 += kTile) {
      const std::size_t i1 = std::min(i0 + kTile, n_rows_);
      for (std::size_t j0 = 0; j0 < n_columns_; j0 += kTile) {
        const std::size_t j1 = std::min(j0 + kTile, n_columns_);
        for (std::size_t i = i0; i < i1; ++i) {
          for (std::size_t j = j0; j < j1; ++j) {
            row_major_[i * n_columns_ + j] = columns_[j * stride_ + i];
          }
        }
      }
    }
  }

  const Table& table_;
  std::size_t n_rows_, n_columns_, stride_ = 0, value_stride_ = 0;
  EntryOrders<T> orders_;
  std::shared_ptr<const EntryRows> entry_rows_ = std::make_shared<const EntryRows>();
  // Of columns that lie here, their place among them; of sparse ones, their number among those,
  // inverted. None: all columns lie here in their order.
  std::vector<std::int32_t> places_;
  // What is read of a sparse column at any node where it has entries, in one cache line: its first
  // values, with infinities where there are fewer, and the last one.
  static constexpr std::uint32_t kLookValues = EntryRows::kLarge;
  struct alignas(64) Look {
    Look() { values.fill(std::numeric_limits<T>::infinity()); }
    std::array<T, kLookValues> values;
    T last = std::numeric_limits<T>::infinity();
  };
  std::vector<Look> looks_;  // where T is float
  std::vector<ByteEntries> byte_entries_;
  bool dense_ = false;
  const T* columns_ = nullptr;
  std::vector<T> storage_;
  std::vector<T> row_major_;
  std::size_t most_by_row_ = 0;
  std::vector<float> rounded_;
  std::vector<std::uint8_t> collides_, exact_;
  std::optional<ValueSamples> samples_;
};

}  // namespace duramen
