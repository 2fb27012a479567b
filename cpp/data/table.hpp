// A table of dense codes as the kernel sees it: pointers into arrays that Python owns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace duramen {

enum class Kind : std::uint8_t { numeric = 0, ordinal = 1, nominal = 2 };

// Columns that are stored by their entries: the rows that do not have the most frequent code. A bit
// a row says which these are, and their codes follow each other in the order of the rows.
struct SparseColumns {
  static constexpr std::size_t kWord = 64;

  // Data that the first forest derives from the columns, for later forests.
  struct Derived {
    std::mutex guard;
    std::shared_ptr<const void> rows;
  };

  std::size_t n_words = 0;                // of each column
  const std::uint64_t* bits = nullptr;    // column after column
  const std::uint32_t* before = nullptr;  // per word: entries of the column in the words before it
  const std::uint32_t* frequent = nullptr;  // per column: the most frequent code
  const std::uint8_t* width = nullptr;      // per column: 0, 1 or 2, for codes of 8, 16 or 32 bits
  const std::int64_t* begin = nullptr;      // per column: its first entry among those of its width
  const std::uint8_t* entries8 = nullptr;
  const std::uint16_t* entries16 = nullptr;
  const std::uint32_t* entries32 = nullptr;
  std::shared_ptr<Derived> derived = nullptr;  // perhaps none

  std::size_t n_entries(std::size_t column) const {
    const std::size_t last = (column + 1) * n_words - 1;
    return before[last] + static_cast<std::size_t>(std::popcount(bits[last]));
  }
};

// The codes of a sparse column, read like an array of them.
template <class Code>
struct SparseCodes {
  const std::uint64_t* bits;
  const std::uint32_t* before;
  const Code* entries;
  std::uint32_t frequent;

  std::uint32_t operator[](std::size_t row) const {
    const std::uint64_t word = bits[row / SparseColumns::kWord];
    const std::uint64_t bit = std::uint64_t{1} << (row % SparseColumns::kWord);
    return word & bit ? entry(row / SparseColumns::kWord, word, bit) : frequent;
  }
  // Writes the codes of all rows.
  template <class T>
  void unpack(std::size_t n_rows, T* out) const {
    std::fill_n(out, n_rows, static_cast<T>(frequent));
    const Code* next = entries;
    for (std::size_t start = 0; start < n_rows; start += SparseColumns::kWord) {
      for (std::uint64_t word = bits[start / SparseColumns::kWord]; word != 0; word &= word - 1) {
        out[start + static_cast<std::size_t>(std::countr_zero(word))] = static_cast<T>(*next++);
      }
    }
  }
  // The code of the entry of one bit of a word.
  std::uint32_t entry(std::size_t at, std::uint64_t word, std::uint64_t bit) const {
    return entries[before[at] + static_cast<std::uint32_t>(std::popcount(word & (bit - 1)))];
  }
};

struct Table {
  static constexpr std::uint8_t kSparse = 3;  // the block of sparse columns

  std::size_t n_rows = 0;
  std::size_t n_columns = 0;
  const std::uint8_t* block8 = nullptr;  // one row of a block is one column of the table
  const std::uint16_t* block16 = nullptr;
  const std::uint32_t* block32 = nullptr;
  SparseColumns sparse;
  const std::uint8_t* block_of = nullptr;  // per column: 0, 1, 2 or kSparse
  const std::int64_t* slot = nullptr;      // per column: its row in the block, or its sparse column
  const double* cut_values = nullptr;      // sorted distinct values, column after column
  const std::int64_t* value_offsets = nullptr;
  const std::uint8_t* kinds = nullptr;
  const std::uint8_t* missing = nullptr;  // per column: 1 where a code for missing exists

  // Number of distinct values, the missing one not counted: also the code of missing.
  std::uint32_t n_values(std::size_t j) const {
    return static_cast<std::uint32_t>(value_offsets[j + 1] - value_offsets[j]);
  }
  std::uint32_t n_codes(std::size_t j) const { return n_values(j) + (missing[j] ? 1U : 0U); }
  const double* values(std::size_t j) const { return cut_values + value_offsets[j]; }
  Kind kind(std::size_t j) const { return static_cast<Kind>(kinds[j]); }

  std::uint32_t code(std::size_t j, std::size_t row) const {
    const std::size_t at = static_cast<std::size_t>(slot[j]) * n_rows + row;
    switch (block_of[j]) {
      case 0:
        return block8[at];
      case 1:
        return block16[at];
      case 2:
        return block32[at];
      default:
        return sparse_code(j, row);
    }
  }

  bool is_sparse(std::size_t j) const { return block_of[j] == kSparse; }
  bool any_sparse() const {
    for (std::size_t j = 0; j < n_columns; ++j) {
      if (is_sparse(j)) return true;
    }
    return false;
  }

  // Calls visit(codes) with the codes of the rows: a pointer, or SparseCodes.
  template <class Visitor>
  void visit_column(std::size_t j, Visitor&& visit) const {
    if (is_sparse(j)) {
      visit_sparse(j, visit);
      return;
    }
    const std::size_t at = static_cast<std::size_t>(slot[j]) * n_rows;
    switch (block_of[j]) {
      case 0:
        visit(block8 + at);
        break;
      case 1:
        visit(block16 + at);
        break;
      default:
        visit(block32 + at);
    }
  }

  // The same for a column that is known to be sparse.
  template <class Visitor>
  void visit_sparse(std::size_t j, Visitor&& visit) const {
    const auto k = static_cast<std::size_t>(slot[j]);
    const auto codes = [&]<class Code>(const Code* entries) {
      const std::size_t word = k * sparse.n_words;
      return SparseCodes<Code>{sparse.bits + word, sparse.before + word, entries + sparse.begin[k],
                               sparse.frequent[k]};
    };
    switch (sparse.width[k]) {
      case 0:
        visit(codes(sparse.entries8));
        break;
      case 1:
        visit(codes(sparse.entries16));
        break;
      default:
        visit(codes(sparse.entries32));
    }
  }

 private:
  [[gnu::noinline]] std::uint32_t sparse_code(std::size_t j, std::size_t row) const {
    std::uint32_t code = 0;
    visit_sparse(j, [&](auto codes) { code = codes[row]; });
    return code;
  }
};

}  // namespace duramen
