// The entries of sparse columns as bits: row after row for the whole table, and column after column
// for the rows of a subtree, so that its nodes read a word or a few for a column.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "data/table.hpp"
#include "grow/problem.hpp"
#include "large_pages.hpp"
#include "processor.hpp"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace duramen {

// Exchanges rows and columns of 64 x 64 bits: row(i) is a word, column(k) where one goes to.
#ifdef __AVX2__
template <class Row, class Column>
void transpose_bits(Row&& row, Column&& column) {
  for (std::size_t start = 0; start < 64; start += 32) {
    // Of 32 rows of 8 bytes, each register gets one byte of every row, in steps that double how
    // many rows are next to each other; both of its halves at a time.
    __m256i bytes[8];
    for (std::size_t v = 0; v < 8; ++v) {
      const std::size_t i = start + v / 2 * 4 + v % 2;
      bytes[v] = _mm256_set_epi64x(
          static_cast<std::int64_t>(row(i + 18)), static_cast<std::int64_t>(row(i + 16)),
          static_cast<std::int64_t>(row(i + 2)), static_cast<std::int64_t>(row(i)));
    }
    __m256i twos[8];  // rows 4v, 4v + 1 and then 4v + 2, 4v + 3
    for (std::size_t v = 0; v < 8; v += 2) {
      twos[v] = _mm256_unpacklo_epi8(bytes[v], bytes[v + 1]);
      twos[v + 1] = _mm256_unpackhi_epi8(bytes[v], bytes[v + 1]);
    }
    __m256i fours[2][4];  // the lower and the upper four bytes of rows 4v..4v + 3
    for (std::size_t v = 0; v < 4; ++v) {
      fours[0][v] = _mm256_unpacklo_epi16(twos[2 * v], twos[2 * v + 1]);
      fours[1][v] = _mm256_unpackhi_epi16(twos[2 * v], twos[2 * v + 1]);
    }
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t pair = 0; pair < 2; ++pair) {
        __m256i eights[2];
        for (std::size_t v = 0; v < 2; ++v) {
          eights[v] = pair == 0 ? _mm256_unpacklo_epi32(fours[half][2 * v], fours[half][2 * v + 1])
                                : _mm256_unpackhi_epi32(fours[half][2 * v], fours[half][2 * v + 1]);
        }
        for (std::size_t last = 0; last < 2; ++last) {
          __m256i all = last == 0 ? _mm256_unpacklo_epi64(eights[0], eights[1])
                                  : _mm256_unpackhi_epi64(eights[0], eights[1]);
          const std::size_t byte = 4 * half + 2 * pair + last;
          for (std::size_t bit = 8; bit-- > 0;) {
            const auto word = static_cast<std::uint32_t>(_mm256_movemask_epi8(all));
            std::memcpy(reinterpret_cast<char*>(column(8 * byte + bit)) + start / 8, &word,
                        sizeof(word));
            all = _mm256_add_epi8(all, all);
          }
        }
      }
    }
  }
}
#else
// Exchanges two quarters of each square of 2 x kHalf bits along the diagonal of a block.
template <std::size_t kHalf>
void exchange_quarters(std::uint64_t* block, std::uint64_t mask) {
  for (std::size_t start = 0; start < 64; start += 2 * kHalf) {
    for (std::size_t i = start; i < start + kHalf; ++i) {
      const std::uint64_t change = ((block[i] >> kHalf) ^ block[i + kHalf]) & mask;
      block[i] ^= change << kHalf;
      block[i + kHalf] ^= change;
    }
  }
}

template <class Row, class Column>
void transpose_bits(Row&& row, Column&& column) {
  std::uint64_t block[64];
  for (std::size_t i = 0; i < 64; ++i) block[i] = row(i);
  exchange_quarters<32>(block, 0x00000000ffffffffU);
  exchange_quarters<16>(block, 0x0000ffff0000ffffU);
  exchange_quarters<8>(block, 0x00ff00ff00ff00ffU);
  exchange_quarters<4>(block, 0x0f0f0f0f0f0f0f0fU);
  exchange_quarters<2>(block, 0x3333333333333333U);
  exchange_quarters<1>(block, 0x5555555555555555U);
  for (std::size_t k = 0; k < 64; ++k) *column(k) = block[k];
}
#endif

constexpr std::size_t kLine = 8;                  // words of a cache line
constexpr std::size_t kMostBitWords = kLine - 1;  // of bits in a line of entries
constexpr std::size_t kLineBytes = kLine * sizeof(std::uint64_t);

// The first word from this one on that begins a cache line.
inline std::uint64_t* aligned_to_line(std::uint64_t* words) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(words) % kLineBytes;
  return words + (beyond == 0 ? 0 : (kLineBytes - beyond) / sizeof(std::uint64_t));
}

// The bits of a sparse column, and where its codes are bytes its entries.
struct ByteEntries {
  const std::uint64_t* bits = nullptr;
  const std::uint8_t* codes = nullptr;  // null where they are not
  std::uint32_t size = 0;               // number of these
  std::uint32_t frequent = 0;

  // Asks for a line of bits and a line of codes ahead of their use.
  void prefetch(std::size_t line) const {
    prefetch_line(bits + kLine * line);
    if (kLineBytes * line < size) prefetch_line(codes + kLineBytes * line);
  }
};

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

// The same, and visit(place, rank) for each of them, the rank being its place among the bits of the
// first sequence. Returns their number.
template <class Visit>
std::uint32_t visit_common_bits(const std::uint64_t* words, const std::uint64_t* others,
                                std::size_t n_words, Visit&& visit) {
  constexpr std::size_t kSome = 64;
  std::uint32_t size = 0;
  std::uint32_t rank = 0;
  std::uint32_t common[kSome], ranks[kSome];
  for (std::size_t start = 0; start < n_words; start += kSome) {
    const std::size_t end = std::min(start + kSome, n_words);
    std::size_t n_common = 0;
    for (std::size_t w = start; w < end; ++w) {
      common[n_common] = static_cast<std::uint32_t>(w);
      ranks[n_common] = rank;
      n_common += (words[w] & others[w]) != 0 ? 1 : 0;
      rank += static_cast<std::uint32_t>(std::popcount(words[w]));
    }
    for (std::size_t c = 0; c < n_common; ++c) {
      const std::uint64_t word = words[common[c]];
      const auto base = static_cast<std::uint32_t>(SparseColumns::kWord * common[c]);
      for (std::uint64_t left = word & others[common[c]]; left != 0; left &= left - 1) {
        const std::uint64_t before = word & (left ^ (left - 1)) >> 1;
        visit(base + static_cast<std::uint32_t>(std::countr_zero(left)),
              ranks[c] + static_cast<std::uint32_t>(std::popcount(before)));
        ++size;
      }
    }
  }
  return size;
}

// The entries of sparse columns row after row, in lines of eight words: a bit for each of some
// columns, and then the codes of their entries in four bits each, as far as they fit. All data of
// an entry lie in one cache line.
class EntryRows {
 public:
  static constexpr std::uint32_t kLarge = 15;  // this code or a larger one, or one without room

  // Where a column is in a row.
  struct Place {
    std::size_t word, bit;
  };

  EntryRows() = default;  // none: nodes are read from the columns
  EntryRows(const Table& table, std::size_t n_sparse) : n_words_((n_sparse + kWord - 1) / kWord) {
    const SparseColumns& sparse = table.sparse;
    lay_out(sparse, n_sparse, static_cast<double>(table.n_rows));
    fill_large(bits_, table.n_rows * stride_ + kLine);
    first_ = aligned_to_line(bits_.data());
    // As many rows at a time as a cache line of a column has.
    for (std::size_t v0 = 0; v0 < sparse.n_words; v0 += kLine) {
      const std::size_t v1 = std::min(v0 + kLine, sparse.n_words);
      const std::size_t end = std::min(kWord * v1, table.n_rows);
      for (std::size_t w0 = 0; w0 < n_words_; w0 += n_bits_) {
        for (std::size_t w = w0; w < std::min(w0 + n_bits_, n_words_); ++w) {
          const std::size_t count = std::min(kWord, n_sparse - kWord * w);
          for (std::size_t v = v0; v < v1; ++v) {
            std::uint64_t block[kWord];
            transpose_bits(
                [&](std::size_t k) {
                  return k < count ? sparse.bits[(kWord * w + k) * sparse.n_words + v] : 0;
                },
                [&](std::size_t i) { return block + i; });
            const std::size_t n_rows = std::min(kWord, end - kWord * v);
            for (std::size_t i = 0; i < n_rows; ++i) {
              first_[(kWord * v + i) * stride_ + word_of(w)] = block[i];
            }
          }
        }
        write_codes(sparse, v0, v1, kWord * w0, std::min(kWord * (w0 + n_bits_), n_sparse));
      }
    }
  }

  // Those of a table, which keeps them for its next forest where they are small.
  static std::shared_ptr<const EntryRows> of(const Table& table, std::size_t n_sparse) {
    const auto make = [&] { return std::make_shared<const EntryRows>(table, n_sparse); };
    const std::shared_ptr<SparseColumns::Derived>& derived = table.sparse.derived;
    if (derived == nullptr || table.n_rows * n_sparse > kMostKept) return make();
    const std::lock_guard<std::mutex> lock(derived->guard);
    if (derived->rows == nullptr) derived->rows = make();
    return std::static_pointer_cast<const EntryRows>(derived->rows);
  }

  bool empty() const { return bits_.empty(); }
  std::size_t n_words() const { return n_words_; }  // of bits in a row
  std::size_t n_bits() const { return n_bits_; }    // of these words in a line
  std::size_t stride() const { return stride_; }    // words of a row
  // The place of one of these words in a row.
  std::size_t word_of(std::size_t w) const { return place_of_word_[w]; }
  const std::uint64_t* row(std::size_t i) const { return first_ + i * stride_; }

  Place place(std::size_t k) const { return {word_of(k / kWord), k % kWord}; }

  // The code of a row that has an entry in a column, or kLarge.
  std::uint32_t code(const std::uint64_t* row, const Place& place) const {
    const std::size_t last = place.word % kLine;
    const std::uint64_t* line = row + (place.word - last);
    // How many entries of the line lie before it.
    auto at =
        static_cast<std::size_t>(std::popcount(line[last] & ((std::uint64_t{1} << place.bit) - 1)));
    for (std::size_t w = 0; w < last; ++w) {
      at += static_cast<std::size_t>(std::popcount(line[w]));
    }
    at = std::min(at, room_);
    const std::uint64_t codes = line[n_bits_ + at / kCodes];
    return static_cast<std::uint32_t>(codes >> (at % kCodes * kWidth)) & kLarge;
  }

 private:
  static constexpr std::size_t kWord = SparseColumns::kWord;
  static constexpr std::size_t kMostKept = std::size_t{1} << 29;  // values of the table
  static constexpr std::size_t kWidth = 4;                        // bits of a code
  static constexpr std::size_t kCodes = kWord / kWidth;

  // Chooses how many words of a line are bits. Few codes are to be without room.
  void lay_out(const SparseColumns& sparse, std::size_t n_sparse, double n_rows) {
    std::size_t n_entries = 0;
    for (std::size_t v = 0; v < n_sparse * sparse.n_words; ++v) {
      n_entries += static_cast<std::size_t>(std::popcount(sparse.bits[v]));
    }
    constexpr double kSpare = 1.5;
    const double density =
        static_cast<double>(n_entries) / (n_rows * static_cast<double>(n_sparse));
    const double of_codes = kSpare * density * kWidth;  // bits beside one of a column
    n_bits_ = std::clamp<std::size_t>(static_cast<std::size_t>(kLine / (1.0 + of_codes)), 1,
                                      kMostBitWords);
    room_ = (kLine - n_bits_) * kCodes - 1;  // the last code marks entries without room
    stride_ = (n_words_ + n_bits_ - 1) / n_bits_ * kLine;
    for (std::size_t w = 0; w < n_words_; ++w) {
      place_of_word_.push_back(static_cast<std::uint32_t>(w / n_bits_ * kLine + w % n_bits_));
    }
  }

  // Writes the codes of the columns of a line at some rows.
  void write_codes(const SparseColumns& sparse, std::size_t v0, std::size_t v1, std::size_t k0,
                   std::size_t k1) {
    std::uint16_t next[kLine * kWord]{};
    std::uint64_t* line = first_ + kWord * v0 * stride_ + k0 / kWord / n_bits_ * kLine + n_bits_;
    for (std::size_t k = k0; k < k1; ++k) {
      const std::size_t at = k * sparse.n_words;
      const std::size_t first = static_cast<std::size_t>(sparse.begin[k]) + sparse.before[at + v0];
      const auto copy = [&](const auto* entries) {
        for (std::size_t v = v0; v < v1; ++v) {
          for (std::uint64_t word = sparse.bits[at + v]; word != 0; word &= word - 1) {
            const auto i = kWord * (v - v0) + static_cast<std::size_t>(std::countr_zero(word));
            const std::size_t e = std::min<std::size_t>(next[i]++, room_);
            std::uint64_t code = std::min<std::uint64_t>(*entries++, kLarge);
            if (e == room_) code = kLarge;
            line[i * stride_ + e / kCodes] |= code << (e % kCodes * kWidth);
          }
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

  std::size_t n_words_ = 0;
  std::size_t n_bits_ = 1;  // words of bits in a line
  std::size_t room_ = 0;    // codes in a line
  std::size_t stride_ = 0;  // from row to row
  std::vector<std::uint64_t> bits_;
  std::uint64_t* first_ = nullptr;
  std::vector<std::uint32_t> place_of_word_;
};

// A bit for each row of a subtree, sparse column after sparse column. Saves a fifth of forests on
// sparse counts: the nodes of the subtree find the entries of a column in one word or a few.
class SubtreeBits {
 public:
  SubtreeBits(const EntryRows& rows, std::size_t n_rows, std::size_t most_words)
      : entry_rows_(rows),
        most_words_(most_words),
        places_(n_rows),
        lines_(most_words * SparseColumns::kWord) {
    fill_large(bits_, most_words * rows.n_words() * SparseColumns::kWord + kLine);
    first_ = aligned_to_line(bits_.data());
  }

  std::size_t most_rows() const { return most_words_ * SparseColumns::kWord; }

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
    n_words_ = (n + kWord - 1) / kWord;
    for (std::uint32_t i = 0; i < n; ++i) places_[rows[i]] = i;
    // Line after line of all rows, so that the written columns of a line stay in the cache.
    const std::size_t n_all = entry_rows_.n_words();
    for (std::size_t i = 0; i < n; ++i) lines_[i] = entry_rows_.row(rows[i]);
    // No node has a bit beyond the rows: values read there do not matter.
    for (std::size_t i = n; i < kWord * n_words_; ++i) lines_[i] = lines_[0];
    for (std::size_t w0 = 0, w1 = 0; w0 < n_all; w0 = w1) {
      const std::size_t line = entry_rows_.word_of(w0);
      w1 = std::min(w0 + entry_rows_.n_bits(), n_all);
      for (std::size_t v = 0; v < n_words_; ++v) {
        const std::uint64_t** here = lines_.data() + kWord * v;
        // Those of the next rows, or of the next line of the first ones.
        const bool last = v + 1 == n_words_;
        const std::uint64_t** next = last ? lines_.data() : here + kWord;
        const std::size_t ahead = last ? line + kLine : line;
        const std::size_t n_next = last ? std::min<std::size_t>(kWord, n)
                                        : std::min<std::size_t>(kWord, n - kWord * (v + 1));
        for (std::size_t i = 0; i < n_next; ++i) prefetch_line(next[i] + ahead);
        for (std::size_t w = w0; w < w1; ++w) {
          const std::size_t at = entry_rows_.word_of(w);
          std::uint64_t* out = first_ + kWord * w * n_words_ + v;
          transpose_bits([&](std::size_t i) { return here[i][at]; },
                         [&](std::size_t k) { return out + k * n_words_; });
        }
      }
    }
  }

  std::size_t n_words() const { return n_words_; }  // of each column
  const std::uint64_t* column(std::size_t k) const { return first_ + k * n_words_; }
  std::uint32_t place(std::size_t row) const { return places_[row]; }  // of a row of the subtree

 private:
  const EntryRows& entry_rows_;
  std::size_t most_words_, n_words_ = 0;
  const std::uint32_t* begin_ = nullptr;
  const std::uint32_t* end_ = nullptr;
  std::vector<std::uint64_t> bits_;
  std::uint64_t* first_;
  std::vector<std::uint32_t> places_;
  std::vector<const std::uint64_t*> lines_;  // the rows among the entries row after row
};

// Whether the nodes of subtrees read enough columns to repay the bits of all columns at the rows
// of the subtree. Decoys may have a row twice in a node.
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
