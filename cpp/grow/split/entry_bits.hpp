// The entries of sparse columns as bits: row after row for the whole table, and column after column
// for the rows of a subtree, so that its nodes read a word or a few for a column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "grow/problem.hpp"

namespace duramen {

// Exchanges rows and columns of 64 x 64 bits: halves of the block first, then quarters, and so on.
inline void transpose_bits(std::uint64_t* block) {
  std::uint64_t mask = 0xffffffffU;
  for (std::size_t half = 32; half != 0; half /= 2, mask ^= mask << half) {
    for (std::size_t start = 0; start < 64; start += 2 * half) {
      for (std::size_t i = start; i < start + half; ++i) {
        const std::uint64_t change = ((block[i] >> half) ^ block[i + half]) & mask;
        block[i] ^= change << half;
        block[i + half] ^= change;
      }
    }
  }
}

// Writes the places of the bits of a word behind `size` others; returns how many there are now.
inline std::uint32_t write_places(std::uint64_t word, std::size_t base, std::uint32_t size,
                                  std::uint32_t* places) {
  const std::uint32_t end = size + static_cast<std::uint32_t>(std::popcount(word));
  // Four at a time: how many there are is as good as random.
  for (; size < end; size += 4) {
    for (std::uint32_t k = 0; k < 4; ++k) {
      places[size + k] =
          static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(std::countr_zero(word));
      word &= word - 1;
    }
  }
  return end;
}

// Writes the places of the bits that two sequences of words have in common, in ascending order,
// and returns their number. Three more places than these may be written.
inline std::uint32_t common_bits(const std::uint64_t* words, const std::uint64_t* others,
                                 std::size_t n_words, std::uint32_t* places) {
  if (n_words == 1) return write_places(words[0] & others[0], 0, 0, places);
  constexpr std::size_t kSome = 64;
  std::uint32_t size = 0;
  std::uint32_t common[kSome];  // words with bits in common, found without a branch for each
  for (std::size_t start = 0; start < n_words; start += kSome) {
    const std::size_t end = std::min(start + kSome, n_words);
    std::size_t n_common = 0;
    for (std::size_t w = start; w < end; ++w) {
      common[n_common] = static_cast<std::uint32_t>(w);
      n_common += (words[w] & others[w]) != 0 ? 1 : 0;
    }
    for (std::size_t c = 0; c < n_common; ++c) {
      const std::uint32_t w = common[c];
      size = write_places(words[w] & others[w], SparseColumns::kWord * w, size, places);
    }
  }
  return size;
}

// The entries of sparse columns row after row: a bit for each column, and the codes of the entries
// in four bits each.
class EntryRows {
 public:
  static constexpr std::uint8_t kLarge = 15;  // this code or a larger one, which the column has

  EntryRows() = default;  // none: nodes are read from the columns
  EntryRows(const Table& table, std::size_t n_sparse)
      : n_words_((n_sparse + kWord - 1) / kWord), n_groups_((n_words_ + kGroup - 1) / kGroup) {
    const SparseColumns& sparse = table.sparse;
    bits_.resize(table.n_rows * n_words_);
    starts_.resize(table.n_rows);
    before_.resize(table.n_rows * n_groups_);
    std::size_t n_entries = 0;
    for (std::size_t v = 0; v < n_sparse * sparse.n_words; ++v) {
      n_entries += static_cast<std::size_t>(std::popcount(sparse.bits[v]));
    }
    codes_.resize(n_entries / 2 + 1);
    std::size_t start = 0;
    for (std::size_t v = 0; v < sparse.n_words; ++v) {
      const std::size_t n_rows = std::min(kWord, table.n_rows - kWord * v);
      for (std::size_t k0 = 0; k0 < n_sparse; k0 += kWord) {
        std::uint64_t block[kWord]{};
        const std::size_t count = std::min(kWord, n_sparse - k0);
        for (std::size_t k = 0; k < count; ++k)
          block[k] = sparse.bits[(k0 + k) * sparse.n_words + v];
        transpose_bits(block);
        for (std::size_t i = 0; i < n_rows; ++i) {
          bits_[(kWord * v + i) * n_words_ + k0 / kWord] = block[i];
        }
      }
      std::size_t next[kWord];
      for (std::size_t i = 0; i < n_rows; ++i) {
        const std::size_t r = kWord * v + i;
        next[i] = starts_[r] = start;
        for (std::size_t w = 0; w < n_words_; ++w) {
          if (w % kGroup == 0) {
            before_[r * n_groups_ + w / kGroup] = static_cast<std::uint32_t>(start - starts_[r]);
          }
          start += static_cast<std::size_t>(std::popcount(bits_[r * n_words_ + w]));
        }
      }
      for (std::size_t k = 0; k < n_sparse; ++k) {
        const std::size_t at = k * sparse.n_words + v;
        const std::size_t first = static_cast<std::size_t>(sparse.begin[k]) + sparse.before[at];
        const auto copy = [&](const auto* entries) {
          for (std::uint64_t word = sparse.bits[at]; word != 0; word &= word - 1) {
            const auto code = *entries++;
            const auto i = static_cast<std::size_t>(std::countr_zero(word));
            const std::size_t e = next[i]++;
            const unsigned held = code < kLarge ? code : kLarge;
            codes_[e / 2] = static_cast<std::uint8_t>(codes_[e / 2] | held << (e % 2 * 4));
          }
        };
        switch (sparse.width[k]) {
          case 0:
            copy(sparse.entries8 + first);
            break;
          case 1:
            copy(sparse.entries16 + first);
            break;
          default:
            copy(sparse.entries32 + first);
        }
      }
    }
  }

  bool empty() const { return bits_.empty(); }
  std::size_t n_words() const { return n_words_; }
  const std::uint64_t* row(std::size_t i) const { return bits_.data() + i * n_words_; }

  // The code of a row in the k-th sparse column, where it has an entry, or kLarge.
  std::uint8_t code(std::size_t row, std::size_t k) const {
    const std::uint64_t* group = bits_.data() + row * n_words_ + k / kWord / kGroup * kGroup;
    const std::size_t last = k / kWord % kGroup;
    std::size_t at = starts_[row] + before_[row * n_groups_ + k / kWord / kGroup];
    for (std::size_t w = 0; w < last; ++w) at += static_cast<std::size_t>(std::popcount(group[w]));
    const std::uint64_t below = (std::uint64_t{1} << (k % kWord)) - 1;
    at += static_cast<std::size_t>(std::popcount(group[last] & below));
    return codes_[at / 2] >> (at % 2 * 4) & kLarge;
  }

 private:
  static constexpr std::size_t kWord = SparseColumns::kWord;
  static constexpr std::size_t kGroup = 8;  // words that entries are counted before: a cache line

  std::size_t n_words_ = 0;   // of each row
  std::size_t n_groups_ = 0;  // of each row
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> starts_;    // per row: its first entry
  std::vector<std::uint32_t> before_;  // per group of words: entries of the row before it
  std::vector<std::uint8_t> codes_;    // two a byte
};

// A bit for each row of a subtree, sparse column after sparse column.
class SubtreeBits {
 public:
  SubtreeBits(const EntryRows& rows, std::size_t n_rows, std::size_t n_words)
      : entry_rows_(rows),
        n_words_(n_words),
        bits_(n_words * rows.n_words() * SparseColumns::kWord),
        rows_(n_words * SparseColumns::kWord),
        places_(n_rows) {}

  std::size_t most_rows() const { return rows_.size(); }

  void start_tree() { begin_ = end_ = nullptr; }

  // Whether the rows of a node are among those of the subtree: each is a range of the same array,
  // in which growth moves rows only within nodes.
  bool holds(const std::uint32_t* rows, std::uint32_t n) const {
    return begin_ <= rows && rows + n <= end_;
  }

  void load(const std::uint32_t* rows, std::uint32_t n) {
    constexpr std::size_t kWord = SparseColumns::kWord;
    begin_ = rows;
    end_ = rows + n;
    for (std::uint32_t i = 0; i < n; ++i) {
      rows_[i] = rows[i];
      places_[rows[i]] = i;
    }
    for (std::size_t w = 0; w < entry_rows_.n_words(); ++w) {
      for (std::size_t v = 0; v < n_words_; ++v) {
        std::uint64_t block[kWord]{};
        const std::size_t count = kWord * v < n ? std::min(kWord, n - kWord * v) : 0;
        for (std::size_t i = 0; i < count; ++i) {
          block[i] = entry_rows_.row(rows_[kWord * v + i])[w];
        }
        if (count > 0) transpose_bits(block);
        for (std::size_t k = 0; k < kWord; ++k) bits_[(kWord * w + k) * n_words_ + v] = block[k];
      }
    }
  }

  std::size_t n_words() const { return n_words_; }  // of each column
  const std::uint64_t* column(std::size_t k) const { return bits_.data() + k * n_words_; }
  std::uint32_t place(std::size_t row) const { return places_[row]; }  // of a row of the subtree
  std::uint32_t row(std::uint32_t place) const { return rows_[place]; }

 private:
  const EntryRows& entry_rows_;
  std::size_t n_words_;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> rows_, places_;
};

// Whether the nodes of subtrees look at so many columns that the bits of all columns at the rows of
// the subtree are worth their time. Decoys may have a row twice in a node.
inline bool subtrees_pay(const Problem& problem) {
  constexpr std::size_t kColumnsALook = 256;
  if (problem.decoys.cycle != nullptr) return false;
  const std::size_t depth = problem.settings.max_depth;
  const auto levels = static_cast<std::size_t>(std::bit_width(problem.table.n_rows));
  return problem.settings.max_features * (depth == 0 ? levels : std::min(levels, depth)) *
             kColumnsALook >=
         problem.table.n_columns;
}

}  // namespace duramen
