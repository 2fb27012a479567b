// The values of one column as ranks among its distinct values.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

// Compiled once for each generation of processors and chosen at load; these functions only compare
// and count, so that every version gives the same bits.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DURAMEN_EVERY_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define DURAMEN_EVERY_PROCESSOR
#endif

namespace duramen {

inline constexpr std::size_t kSmall =
    256;  // number of rows up to which ranks are counted, not sorted
inline constexpr std::size_t kLanes = 8;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

// rank[i] = #{j < count : x[j] < x[i]}; x and rank have room up to the next multiple of kLanes.
DURAMEN_EVERY_PROCESSOR
static void count_smaller(const double* x, std::size_t count, std::int64_t* rank) {
  for (std::size_t begin = 0; begin < count; begin += kLanes) {
    double mine[kLanes];
    std::int64_t smaller[kLanes] = {};
    for (std::size_t k = 0; k < kLanes; ++k) mine[k] = x[begin + k];
    for (std::size_t j = 0; j < count; ++j) {
      const double other = x[j];
      for (std::size_t k = 0; k < kLanes; ++k) smaller[k] += other < mine[k];
    }
    for (std::size_t k = 0; k < kLanes; ++k) rank[begin + k] = smaller[k];
  }
}

// Makes -0.0 zero and NaN infinite. Returns 1 if there was a NaN, plus 2 if there was an infinity.
DURAMEN_EVERY_PROCESSOR
static int settle(double* x, std::size_t count) {
  std::int64_t missing = 0, infinite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = x[i] + 0.0;
    missing |= value != value ? 1 : 0;
    infinite |= std::fabs(value) == kInfinity ? 2 : 0;
    x[i] = value != value ? kInfinity : value;
  }
  return static_cast<int>(missing | infinite);
}

// An unsigned number in the same order as the doubles (which hold no NaN and no -0.0), and back.
inline std::uint64_t key_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto sign = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> 63);
  return bits ^ (sign | 0x8000000000000000u);
}

inline double double_of(std::uint64_t key) {
  const std::uint64_t negative = (key >> 63) - 1;  // all ones for the key of a negative number
  return std::bit_cast<double>(key ^ (negative | 0x8000000000000000u));
}

// What a column became: how many codes it uses, that of the missing value included.
struct Coded {
  std::uint32_t n_codes = 0;
  bool missing = false;
  bool rejected = false;
  std::uint32_t frequent = 0;  // of a sparse column: the most frequent code
  std::size_t n_entries = 0;   // and the number of rows with another one
};

// Sorts and counts the values of one column at a time, in memory that it keeps.
class ColumnCoder {
 public:
  // The number of values of the columns to come, 1 or more.
  void set_size(std::size_t n) {
    n_ = n;
    if (n_ <= kSmall) {
      const std::size_t padded = (n_ + kLanes - 1) / kLanes * kLanes;
      small_.resize(padded);
      rank_.resize(padded);
    }
  }

  // `codes` and `values` have a place for each value. With missing values the last value has no
  // meaning.
  template <class T>
  Coded encode(const T* x, std::uint32_t* codes, double* values) {
    if (n_ <= kSmall) return encode_by_counting_ranks(x, codes, values);
    if constexpr (std::is_floating_point_v<T>) {
      return encode_floating(x, codes, values);
    } else {
      std::int64_t low = x[0], high = x[0];
      for (std::size_t i = 1; i < n_; ++i) {
        low = std::min<std::int64_t>(low, x[i]);
        high = std::max<std::int64_t>(high, x[i]);
      }
      if (low < -kLargestExact || high > kLargestExact) return {.rejected = true};
      return encode_integers(x, low, high, false, codes, values);
    }
  }

 private:
  template <class T>
  Coded encode_by_counting_ranks(const T* x, std::uint32_t* codes, double* values) {
    Coded coded;
    double* v = small_.data();
    for (std::size_t i = 0; i < n_; ++i) {
      if constexpr (std::is_same_v<T, std::int64_t>) {
        if (x[i] < -kLargestExact || x[i] > kLargestExact) return {.rejected = true};
      }
      v[i] = static_cast<double>(x[i]);
    }
    if constexpr (std::is_floating_point_v<T>) {
      const int outcome = settle(v, n_);
      if (outcome >= 2) return {.rejected = true};
      coded.missing = outcome == 1;
    }
    for (std::size_t i = n_; i < small_.size(); ++i) v[i] = 0.0;
    count_smaller(v, n_, rank_.data());
    // Ties share a rank and leave gaps after it: number the ranks that occur.
    std::uint8_t occurs[kSmall] = {};
    double at_rank[kSmall];
    std::uint32_t dense[kSmall];
    for (std::size_t i = 0; i < n_; ++i) {
      occurs[rank_[i]] = 1;
      at_rank[rank_[i]] = v[i];
    }
    std::uint32_t next = 0;
    for (std::size_t r = 0; r < n_; ++r) {
      dense[r] = next;
      values[next] = at_rank[r];
      next += occurs[r];
    }
    for (std::size_t i = 0; i < n_; ++i) codes[i] = dense[rank_[i]];
    coded.n_codes = next;
    return coded;
  }

  template <class T>
  Coded encode_floating(const T* x, std::uint32_t* codes, double* values) {
    if (Coded coded; encode_if_integral(x, codes, values, coded)) return coded;
    keys_.resize(n_);
    bool missing = false, infinite = false;
    std::uint64_t all = ~std::uint64_t{0}, any = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double value = static_cast<double>(x[i]) + 0.0;
      const bool absent = value != value;
      missing |= absent;
      infinite |= std::fabs(value) == kInfinity;
      const std::uint64_t key = key_of(absent ? kInfinity : value);
      keys_[i] = key;
      all &= key;
      any |= key;
    }
    if (infinite) return {.rejected = true};
    Coded coded = sort_keys(all, any, codes);
    coded.missing = missing;
    for (std::uint32_t c = 0; c < coded.n_codes; ++c) values[c] = double_of(distinct_[c]);
    return coded;
  }

  // Columns of whole numbers held as floating point are encoded as integers, which is quicker.
  template <class T>
  bool encode_if_integral(const T* x, std::uint32_t* codes, double* values, Coded& coded) {
    constexpr double limit = static_cast<double>(kLargestExact);
    double low = limit, high = -limit;
    bool missing = false;
    for (std::size_t i = 0; i < n_; ++i) {
      const double value = static_cast<double>(x[i]);
      if (value != value) {
        missing = true;
        continue;
      }
      if (!(std::fabs(value) <= limit) ||
          value != static_cast<double>(static_cast<std::int64_t>(value)))
        return false;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (low > high) low = high = 0.0;  // nothing but missing values
    coded = encode_integers(x, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high),
                            missing, codes, values);
    return true;
  }

  // Whole numbers within low..high, of which NaN is the only exception.
  template <class T>
  Coded encode_integers(const T* x, std::int64_t low, std::int64_t high, bool missing,
                        std::uint32_t* codes, double* values) {
    const auto span = static_cast<std::uint64_t>(high - low) + 1;  // also the place of missing
    const auto place = [&](T value) -> std::uint64_t {
      if constexpr (std::is_floating_point_v<T>) {
        if (value != value) return span;
      }
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value) - low);
    };
    Coded coded;
    if (span <= 8 * std::uint64_t{n_}) {
      table_.assign(span + 1, 0);
      for (std::size_t i = 0; i < n_; ++i) table_[place(x[i])] = 1;
      for (std::uint64_t k = 0; k <= span; ++k) {
        if (table_[k] == 0) continue;
        table_[k] = coded.n_codes;
        values[coded.n_codes++] = static_cast<double>(low + static_cast<std::int64_t>(k));
      }
      for (std::size_t i = 0; i < n_; ++i) codes[i] = table_[place(x[i])];
    } else {
      keys_.resize(n_);
      std::uint64_t all = ~std::uint64_t{0}, any = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        const std::uint64_t key = place(x[i]);
        keys_[i] = key;
        all &= key;
        any |= key;
      }
      coded = sort_keys(all, any, codes);
      for (std::uint32_t c = 0; c < coded.n_codes; ++c)
        values[c] = static_cast<double>(low + static_cast<std::int64_t>(distinct_[c]));
    }
    coded.missing = missing;
    return coded;
  }

  // Ranks keys_; `all` and `any` are their conjunction and disjunction. Leaves distinct_.
  //
  // A key's leading varying bits are packed above its row number in one 64-bit word and the words
  // are sorted by radix, least digit first. A few bits more than the rows need tell nearly all
  // values apart; the rest is put right by insertion.
  Coded sort_keys(std::uint64_t all, std::uint64_t any, std::uint32_t* codes) {
    const std::uint64_t varying = all ^ any;
    if (varying == 0) {
      std::fill_n(codes, n_, 0u);
      distinct_.assign(1, any);
      return {.n_codes = 1};
    }
    const int row_bits = std::bit_width(n_ - 1);
    const int low = std::countr_zero(varying);
    const int key_bits = 64 - std::countl_zero(varying) - low;
    int bits = std::min({key_bits, row_bits + 12, 64 - row_bits});
    const int passes = n_ <= 2048 ? (bits + 7) / 8 : (bits + 10) / 11;
    const int digit_bits = (bits + passes - 1) / passes;
    bits = std::min({key_bits, passes * digit_bits, 64 - row_bits});
    const int shift = low + key_bits - bits;
    const std::uint64_t key_mask = (std::uint64_t{1} << bits) - 1;
    const std::uint64_t row_mask = (std::uint64_t{1} << row_bits) - 1;

    words_.resize(n_);
    if (spare_.capacity() < distinct_.capacity()) spare_.swap(distinct_);
    spare_.resize(n_);
    radix_words(shift, key_mask, row_bits, passes, digit_bits);

    // The words' keys in full, in order; then nothing but exact neighbours is compared. They take
    // the place of the words that are spare now: eight bytes a row less.
    distinct_.swap(spare_);
    std::uint64_t* sorted = distinct_.data();
    for (std::size_t i = 0; i < n_; ++i) sorted[i] = keys_[words_[i] & row_mask];
    if (shift > low) mend_order(sorted, row_bits);

    std::uint32_t code = 0;
    std::uint64_t last = sorted[0];
    for (std::size_t i = 0; i < n_; ++i) {
      const std::uint64_t key = sorted[i];
      code += key != last;
      last = key;
      sorted[code] = key;  // code <= i: what is overwritten has been read
      codes[words_[i] & row_mask] = code;
    }
    return {.n_codes = code + 1};
  }

  void radix_words(int shift, std::uint64_t key_mask, int row_bits, int passes, int digit_bits) {
    const std::size_t digits = std::size_t{1} << digit_bits;
    const std::uint64_t digit_mask = digits - 1;
    histogram_.assign(digits * static_cast<std::size_t>(passes), 0);
    for (std::size_t i = 0; i < n_; ++i) {
      std::uint64_t key = keys_[i] >> shift & key_mask;
      words_[i] = key << row_bits | i;
      for (int pass = 0; pass < passes; ++pass, key >>= digit_bits)
        ++histogram_[digits * static_cast<std::size_t>(pass) + (key & digit_mask)];
    }
    for (int pass = 0; pass < passes; ++pass) {
      std::uint32_t* begin = histogram_.data() + digits * static_cast<std::size_t>(pass);
      const int at = row_bits + pass * digit_bits;
      if (begin[words_[0] >> at & digit_mask] == n_) continue;  // the digit never varies
      std::uint32_t total = 0;
      for (std::size_t d = 0; d < digits; ++d) total += std::exchange(begin[d], total);
      for (std::size_t i = 0; i < n_; ++i) {
        const std::uint64_t word = words_[i];
        spare_[begin[word >> at & digit_mask]++] = word;
      }
      words_.swap(spare_);
    }
  }

  // Words agree with the full keys except within groups of equal leading bits; sorts those groups.
  void mend_order(std::uint64_t* sorted, int row_bits) {
    constexpr std::size_t far = 24;  // groups in which a key must move farther are sorted whole
    for (std::size_t i = 1; i < n_; ++i) {
      if (sorted[i] >= sorted[i - 1]) continue;
      const std::uint64_t key = sorted[i];
      const std::uint64_t word = words_[i];
      std::size_t hole = i;
      for (; hole > 0 && sorted[hole - 1] > key && i - hole < far; --hole) {
        sorted[hole] = sorted[hole - 1];
        words_[hole] = words_[hole - 1];
      }
      sorted[hole] = key;
      words_[hole] = word;
      if (i - hole < far) continue;
      const std::uint64_t prefix = word >> row_bits;
      std::size_t begin = hole, end = i + 1;
      while (begin > 0 && words_[begin - 1] >> row_bits == prefix) --begin;
      while (end < n_ && words_[end] >> row_bits == prefix) ++end;
      sort_group(sorted, begin, end);
      i = end - 1;
    }
  }

  void sort_group(std::uint64_t* sorted, std::size_t begin, std::size_t end) {
    group_.clear();
    for (std::size_t i = begin; i < end; ++i) group_.emplace_back(sorted[i], words_[i]);
    std::sort(group_.begin(), group_.end());
    for (std::size_t i = begin; i < end; ++i) {
      sorted[i] = group_[i - begin].first;
      words_[i] = group_[i - begin].second;
    }
  }

  std::size_t n_ = 0;
  std::vector<double> small_;
  std::vector<std::int64_t> rank_;
  std::vector<std::uint64_t> keys_, words_, spare_, distinct_;
  std::vector<std::uint32_t> table_, histogram_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> group_;
};

}  // namespace duramen
