// Orders of short code sequences: by counting comparisons (no branches, all lanes busy) while they
// are short, by a set of bits where the codes differ and lie close, by counting codes otherwise.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace duramen {

template <class T>
class Sorter {
 public:
  // order[0..n) becomes the positions of codes[0..n) by ascending code, equal codes by position.
  // low and high bound the codes. order must hold n entries.
  void sort(const T* codes, std::size_t n, T low, T high, std::uint32_t* order) {
    if (n <= kRankLimit) {
      by_ranks(codes, n, order);
      return;
    }
    const std::uint32_t range = static_cast<std::uint32_t>(high - low);
    const bool close = range < kBitLimit && range / 16 <= n;
    if (close && range + 1 >= n && by_bits(codes, n, low, range, order)) return;
    const int bits = std::bit_width(range);
    if (bits <= 8 || (std::size_t{1} << bits) <= 2 * n) {
      one_pass(codes, n, low, range, order);
    } else {
      radix(codes, n, low, bits, order);
    }
  }

 private:
  // A code and its position in one number, so that all are distinct.
  using Key = std::conditional_t<sizeof(T) == 1, std::int16_t,
                                 std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>>;
  static constexpr std::size_t kRankLimit = sizeof(T) == 1 ? 64 : sizeof(T) == 2 ? 32 : 16;
  static constexpr std::uint32_t kBitLimit = 8192;  // beyond, the positions leave the first cache
  static constexpr int kPositionBits = 6;
  static constexpr std::size_t kLane = 32 / sizeof(Key);

  void by_ranks(const T* codes, std::size_t n, std::uint32_t* order) {
    alignas(64) Key keys[kRankLimit];
    alignas(64) Key ranks[kRankLimit];
    const std::size_t padded = (n + kLane - 1) / kLane * kLane;
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = static_cast<Key>((static_cast<Key>(codes[i]) << kPositionBits) | i);
    }
    for (std::size_t i = n; i < padded; ++i) keys[i] = 0;
    for (std::size_t block = 0; block < padded; block += kLane) {
      Key rank[kLane] = {};
      for (std::size_t i = 0; i < n; ++i) {
        const Key key = keys[i];
        for (std::size_t lane = 0; lane < kLane; ++lane) {
          rank[lane] = static_cast<Key>(rank[lane] + (keys[block + lane] > key ? 1 : 0));
        }
      }
      for (std::size_t lane = 0; lane < kLane; ++lane) ranks[block + lane] = rank[lane];
    }
    for (std::size_t i = 0; i < n; ++i) order[ranks[i]] = static_cast<std::uint32_t>(i);
  }

  // Marks the codes in a set of bits and reads it in order; false where two codes are equal. Saves
  // an eighth of random forests on columns of many values.
  bool by_bits(const T* codes, std::size_t n, T low, std::uint32_t range, std::uint32_t* order) {
    const std::size_t n_words = range / 64 + 1;
    marks_.assign(n_words, 0);
    if (positions_.size() <= range) positions_.resize(std::size_t{range} + 1);
    std::uint64_t twice = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t code = static_cast<std::uint32_t>(codes[i] - low);
      std::uint64_t& word = marks_[code / 64];
      const std::uint64_t bit = std::uint64_t{1} << (code % 64);
      twice |= word & bit;
      word |= bit;
      positions_[code] = static_cast<std::uint32_t>(i);
    }
    if (twice != 0) return false;
    for (std::size_t w = 0; w < n_words; ++w) {
      const std::uint32_t* positions = positions_.data() + w * 64;
      for (std::uint64_t word = marks_[w]; word != 0; word &= word - 1) {
        *order++ = positions[std::countr_zero(word)];
      }
    }
    return true;
  }

  void one_pass(const T* codes, std::size_t n, T low, std::uint32_t range, std::uint32_t* order) {
    counts_.assign(std::size_t{range} + 2, 0);
    std::uint32_t* counts = counts_.data() + 1;
    for (std::size_t i = 0; i < n; ++i) ++counts[codes[i] - low];
    std::uint32_t* start = counts_.data();
    for (std::uint32_t c = 0; c <= range; ++c) start[c + 1] += start[c];
    for (std::size_t i = 0; i < n; ++i) {
      order[start[codes[i] - low]++] = static_cast<std::uint32_t>(i);
    }
  }

  // Least significant digit first, in two or three passes.
  void radix(const T* codes, std::size_t n, T low, int bits, std::uint32_t* order) {
    const int passes = bits <= 20 ? 2 : 3;
    const int digit = (bits + passes - 1) / passes;
    const std::size_t buckets = std::size_t{1} << digit;
    const std::uint32_t mask = static_cast<std::uint32_t>(buckets - 1);
    counts_.assign(buckets * static_cast<std::size_t>(passes), 0);
    for (std::size_t i = 0; i < n; ++i) {
      std::uint32_t code = static_cast<std::uint32_t>(codes[i] - low);
      for (int pass = 0; pass < passes; ++pass) {
        ++counts_[static_cast<std::size_t>(pass) * buckets + (code & mask)];
        code >>= digit;
      }
    }
    spare_.resize(n);
    std::uint32_t* source = nullptr;
    // The last pass must write to `order`.
    std::uint32_t* target = passes % 2 == 1 ? order : spare_.data();
    for (int pass = 0; pass < passes; ++pass) {
      std::uint32_t* count = counts_.data() + static_cast<std::size_t>(pass) * buckets;
      std::uint32_t sum = 0;
      for (std::size_t b = 0; b < buckets; ++b) {
        const std::uint32_t here = count[b];
        count[b] = sum;
        sum += here;
      }
      const int shift = pass * digit;
      for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t position = source ? source[i] : static_cast<std::uint32_t>(i);
        const std::uint32_t code = static_cast<std::uint32_t>(codes[position] - low);
        target[count[(code >> shift) & mask]++] = position;
      }
      source = target;
      target = target == order ? spare_.data() : order;
    }
  }

  std::vector<std::uint32_t> counts_, spare_, positions_;
  std::vector<std::uint64_t> marks_;
};

}  // namespace duramen
