// The few operations on whole lanes of bytes that compilers do not find by themselves. Both forms
// compute equal whole numbers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#if defined(__AVX2__) || defined(__BMI2__)
#include <immintrin.h>
#endif

namespace duramen {

constexpr std::size_t kLane = 32;  // lengths of byte sequences are multiples of this

constexpr std::uint32_t kSetOfFew = 8;  // rows at most whose sets are held by a byte

// A set of bytes: a bit for each.
struct ByteSet {
  alignas(32) std::uint64_t words[4]{};
};

constexpr std::array<ByteSet, 256> one_byte_each() {
  std::array<ByteSet, 256> sets{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    sets[byte].words[byte / 64] = std::uint64_t{1} << (byte % 64);
  }
  return sets;
}
inline constexpr std::array<ByteSet, 256> kBitOfByte = one_byte_each();

// Whether some neighbours in a sequence of n + 1 entries are equal.
template <class T>
bool has_equal_neighbours(const T* values, std::size_t n) {
  T equal = 0;
  for (std::size_t i = 0; i < n; ++i) equal |= static_cast<T>(values[i] == values[i + 1] ? 1 : 0);
  return equal != 0;
}

// Bits begin..end-1 of a sequence of words that are set.
inline std::uint32_t count_bits(const std::uint64_t* words, std::uint32_t begin,
                                std::uint32_t end) {
  if (begin == end) return 0;
  const std::uint32_t first = begin / 64;
  const std::uint32_t last = (end - 1) / 64;
  const std::uint64_t head = ~std::uint64_t{0} << (begin % 64);
  const std::uint64_t tail = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) return static_cast<std::uint32_t>(std::popcount(words[first] & head & tail));
  auto count = std::popcount(words[first] & head) + std::popcount(words[last] & tail);
  for (std::uint32_t w = first + 1; w < last; ++w) count += std::popcount(words[w]);
  return static_cast<std::uint32_t>(count);
}

// A bit for every value, set where it is at most `limit`. `values` may be read up to the next
// multiple of 64; bits from n on are meaningless.
template <class T>
void bits_up_to(const T* values, T limit, std::size_t n, std::uint64_t* words) {
  for (std::size_t i = 0; i < n; i += 64) {
    std::uint64_t word = 0;
    const std::size_t lanes = std::min<std::size_t>(64, n - i);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      word |= static_cast<std::uint64_t>(values[i + lane] <= limit) << lane;
    }
    words[i / 64] = word;
  }
}

#ifdef __BMI2__
constexpr bool kExtractsBits = true;  // by an instruction
// The bits of a word where a mask has bits, next to each other.
inline std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) {
  return _pext_u64(word, mask);
}
#else
constexpr bool kExtractsBits = false;
inline std::uint64_t extract_bits(std::uint64_t word, std::uint64_t mask) {
  std::uint64_t bits = 0;
  for (std::size_t k = 0; mask != 0; mask &= mask - 1, ++k) {
    bits |= (word >> std::countr_zero(mask) & 1) << k;
  }
  return bits;
}
#endif

#ifdef __AVX2__

// The largest of n numbers but for NaN; minus infinity where there is none.
inline double largest_of(const double* values, std::size_t n) {
  double top = -std::numeric_limits<double>::infinity();
  if (n < 4) {
    for (std::size_t i = 0; i < n; ++i) top = values[i] > top ? values[i] : top;
    return top;
  }
  // The instruction takes the second number where one is NaN.
  __m256d tops = _mm256_set1_pd(top);
  __m256d others = tops;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    tops = _mm256_max_pd(_mm256_loadu_pd(values + i), tops);
    others = _mm256_max_pd(_mm256_loadu_pd(values + i + 4), others);
  }
  if (i + 4 <= n) tops = _mm256_max_pd(_mm256_loadu_pd(values + i), tops);
  tops = _mm256_max_pd(_mm256_loadu_pd(values + n - 4), _mm256_max_pd(tops, others));
  const __m128d half = _mm_max_pd(_mm256_castpd256_pd128(tops), _mm256_extractf128_pd(tops, 1));
  return _mm_cvtsd_f64(_mm_max_sd(half, _mm_unpackhi_pd(half, half)));
}

// Which of the 256 bytes occur, a bit for each, at some places; `positions` of each byte becomes
// the last of them, counted in their order.
inline void set_of_bytes(const std::uint8_t* bytes, const std::uint32_t* places, std::uint32_t n,
                         std::uint8_t* positions, std::uint64_t* set) {
  __m256i all = _mm256_setzero_si256();
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint8_t byte = bytes[places[i]];
    positions[byte] = static_cast<std::uint8_t>(i);
    const auto* bit = reinterpret_cast<const __m256i*>(kBitOfByte[byte].words);
    all = _mm256_or_si256(all, _mm256_load_si256(bit));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(set), all);
}

template <>
inline void bits_up_to<float>(const float* values, float limit, std::size_t n,
                              std::uint64_t* words) {
  const __m256 bound = _mm256_set1_ps(limit);
  for (std::size_t i = 0; i < n; i += 64) {
    std::uint64_t word = 0;
    for (std::size_t lane = 0; lane < 64 && i + lane < n; lane += 8) {
      const __m256 in = _mm256_cmp_ps(_mm256_loadu_ps(values + i + lane), bound, _CMP_LE_OQ);
      word |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_ps(in))) << lane;
    }
    words[i / 64] = word;
  }
}

// For each of the first `lanes` (4 or 8) of 8 codes, calls visit(i, set): a bit for every code that
// is above it.
template <class Visit>
void visit_sets_above(const std::int32_t* codes, std::size_t lanes, Visit&& visit) {
  if (lanes <= 4) {
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(codes));
    for (std::size_t i = 0; i < 4; ++i) {
      const __m128i above = _mm_cmpgt_epi32(all, _mm_set1_epi32(codes[i]));
      visit(i, static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(above))));
    }
    return;
  }
  const __m256i all = _mm256_load_si256(reinterpret_cast<const __m256i*>(codes));
  for (std::size_t i = 0; i < 8; ++i) {
    const __m256i above = _mm256_cmpgt_epi32(all, _mm256_set1_epi32(codes[i]));
    visit(i, static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(above))));
  }
}

// Sums of whole weights and of moments where the value is at most `limit`. All three may be read up
// to the next multiple of 8, where weights and moments are 0.
inline std::pair<std::int32_t, double> sums_up_to(const float* values, float limit,
                                                  const std::int32_t* weights,
                                                  const double* moments, std::size_t n) {
  const __m256 bound = _mm256_set1_ps(limit);
  __m256i weight = _mm256_setzero_si256();
  __m256d low = _mm256_setzero_pd();
  __m256d high = _mm256_setzero_pd();
  for (std::size_t i = 0; i < n; i += 8) {
    const __m256i in =
        _mm256_castps_si256(_mm256_cmp_ps(_mm256_loadu_ps(values + i), bound, _CMP_LE_OQ));
    weight = _mm256_add_epi32(
        weight,
        _mm256_and_si256(in, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + i))));
    const __m256d in_low = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(in)));
    const __m256d in_high =
        _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm256_extracti128_si256(in, 1)));
    low = _mm256_add_pd(low, _mm256_and_pd(in_low, _mm256_loadu_pd(moments + i)));
    high = _mm256_add_pd(high, _mm256_and_pd(in_high, _mm256_loadu_pd(moments + i + 4)));
  }
  const __m128i fold =
      _mm_add_epi32(_mm256_castsi256_si128(weight), _mm256_extracti128_si256(weight, 1));
  const __m128i fold2 = _mm_add_epi32(fold, _mm_shuffle_epi32(fold, 0x4E));
  const std::int32_t total = _mm_cvtsi128_si32(fold2) + _mm_extract_epi32(fold2, 1);
  const __m256d both = _mm256_add_pd(low, high);
  const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(both), _mm256_extractf128_pd(both, 1));
  return {total, _mm_cvtsd_f64(half) + _mm_cvtsd_f64(_mm_unpackhi_pd(half, half))};
}

inline __m256i load_lane(const std::uint8_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// A bit for every byte, set where it is at most `limit`.
inline void byte_bits_up_to(const std::uint8_t* bytes, std::uint8_t limit, std::size_t n,
                            std::uint64_t* words) {
  const __m256i bound = _mm256_set1_epi8(static_cast<char>(limit));
  for (std::size_t i = 0; i < n; i += kLane) {
    const __m256i here = load_lane(bytes + i);
    const __m256i in = _mm256_cmpeq_epi8(_mm256_min_epu8(here, bound), here);
    const std::uint64_t bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(in));
    words[i / 64] = i % 64 == 0 ? bits : words[i / 64] | bits << 32;
  }
}

// 0xFF for every bit that is set, 0 for the others.
inline void expand_bits(const std::uint64_t* words, std::size_t n, std::uint8_t* mask) {
  const __m256i spread = _mm256_setr_epi64x(0x0000000000000000, 0x0101010101010101,
                                            0x0202020202020202, 0x0303030303030303);
  const __m256i places = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
  for (std::size_t i = 0; i < n; i += kLane) {
    const auto bits = static_cast<std::int32_t>(words[i / 64] >> (i % 64));
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits), spread);
    const __m256i in = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, places), places);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(mask + i), in);
  }
}

// Least and largest byte where the mask is 0xFF.
inline std::pair<std::uint8_t, std::uint8_t> masked_range(const std::uint8_t* bytes,
                                                          const std::uint8_t* mask, std::size_t n) {
  __m256i low = _mm256_set1_epi8(-1);
  __m256i high = _mm256_setzero_si256();
  for (std::size_t i = 0; i < n; i += kLane) {
    const __m256i here = load_lane(bytes + i);
    const __m256i in = load_lane(mask + i);
    high = _mm256_max_epu8(high, _mm256_and_si256(here, in));
    // Complemented, the least byte is the largest.
    low = _mm256_min_epu8(low, _mm256_or_si256(here, _mm256_xor_si256(in, _mm256_set1_epi8(-1))));
  }
  const __m128i low16 = _mm_min_epu8(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  const __m128i high16 =
      _mm_xor_si128(_mm_max_epu8(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)),
                    _mm_set1_epi8(-1));
  // The least of 16-bit words comes with one instruction: fold pairs of bytes into words first.
  const __m128i low8 = _mm_min_epu8(low16, _mm_srli_epi16(low16, 8));
  const __m128i high8 = _mm_min_epu8(high16, _mm_srli_epi16(high16, 8));
  const __m128i bytes_only = _mm_set1_epi16(0xFF);
  const int least = _mm_cvtsi128_si32(_mm_minpos_epu16(_mm_and_si128(low8, bytes_only)));
  const int most = _mm_cvtsi128_si32(_mm_minpos_epu16(_mm_and_si128(high8, bytes_only)));
  return {static_cast<std::uint8_t>(least), static_cast<std::uint8_t>(~most)};
}

// Sum of amounts where the byte is at most `limit`.
inline std::uint32_t sum_up_to(const std::uint8_t* bytes, std::uint8_t limit,
                               const std::uint8_t* amounts, std::size_t n) {
  const __m256i bound = _mm256_set1_epi8(static_cast<char>(limit));
  __m256i sum = _mm256_setzero_si256();
  for (std::size_t i = 0; i < n; i += kLane) {
    const __m256i here = load_lane(bytes + i);
    const __m256i in = _mm256_cmpeq_epi8(_mm256_min_epu8(here, bound), here);
    sum = _mm256_add_epi64(
        sum, _mm256_sad_epu8(_mm256_and_si256(in, load_lane(amounts + i)), _mm256_setzero_si256()));
  }
  const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(half) + _mm_extract_epi32(half, 2));
}

// Number of entries that are at most `limit`; n is a multiple of 8.
inline std::uint32_t count_up_to(const float* values, float limit, std::size_t n) {
  const __m256 bound = _mm256_set1_ps(limit);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; i += 8) {
    const __m256 in = _mm256_cmp_ps(_mm256_loadu_ps(values + i), bound, _CMP_LE_OQ);
    count +=
        static_cast<std::uint32_t>(std::popcount(static_cast<unsigned>(_mm256_movemask_ps(in))));
  }
  return count;
}

#else

inline double largest_of(const double* values, std::size_t n) {
  constexpr std::size_t kWays = 16;
  double top[kWays];
  std::fill_n(top, kWays, -std::numeric_limits<double>::infinity());
  std::size_t i = 0;
  for (; i + kWays <= n; i += kWays) {
    for (std::size_t way = 0; way < kWays; ++way) {
      const double value = values[i + way];
      top[way] = value > top[way] ? value : top[way];
    }
  }
  for (; i < n; ++i) top[0] = values[i] > top[0] ? values[i] : top[0];
  for (std::size_t half = kWays / 2; half > 0; half /= 2) {
    for (std::size_t way = 0; way < half; ++way) {
      top[way] = top[way + half] > top[way] ? top[way + half] : top[way];
    }
  }
  return top[0];
}

inline void set_of_bytes(const std::uint8_t* bytes, const std::uint32_t* places, std::uint32_t n,
                         std::uint8_t* positions, std::uint64_t* set) {
  std::fill_n(set, 4, std::uint64_t{0});
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint8_t byte = bytes[places[i]];
    positions[byte] = static_cast<std::uint8_t>(i);
    for (std::size_t w = 0; w < 4; ++w) set[w] |= kBitOfByte[byte].words[w];
  }
}

template <class Visit>
void visit_sets_above(const std::int32_t* codes, std::size_t lanes, Visit&& visit) {
  for (std::size_t i = 0; i < lanes; ++i) {
    std::uint32_t above = 0;
    for (std::size_t j = 0; j < lanes; ++j) above |= codes[j] > codes[i] ? 1U << j : 0U;
    visit(i, above);
  }
}

inline void byte_bits_up_to(const std::uint8_t* bytes, std::uint8_t limit, std::size_t n,
                            std::uint64_t* words) {
  bits_up_to(bytes, limit, n, words);
}

inline void expand_bits(const std::uint64_t* words, std::size_t n, std::uint8_t* mask) {
  for (std::size_t i = 0; i < n; ++i) mask[i] = (words[i / 64] >> (i % 64)) & 1U ? 0xFF : 0;
}

// The sums are exact, so that their order does not matter.
inline std::pair<std::int32_t, double> sums_up_to(const float* values, float limit,
                                                  const std::int32_t* weights,
                                                  const double* moments, std::size_t n) {
  std::int32_t weight = 0;
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool in = values[i] <= limit;
    weight += in ? weights[i] : 0;
    sum += in ? moments[i] : 0.0;
  }
  return {weight, sum};
}

inline std::uint32_t count_up_to(const float* values, float limit, std::size_t n) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += values[i] <= limit ? 1U : 0U;
  return count;
}

inline std::pair<std::uint8_t, std::uint8_t> masked_range(const std::uint8_t* bytes,
                                                          const std::uint8_t* mask, std::size_t n) {
  std::uint8_t low = 0xFF;
  std::uint8_t high = 0;
  for (std::size_t i = 0; i < n; ++i) {
    low = std::min<std::uint8_t>(low, static_cast<std::uint8_t>(bytes[i] | ~mask[i]));
    high = std::max<std::uint8_t>(high, bytes[i] & mask[i]);
  }
  return {low, high};
}

inline std::uint32_t sum_up_to(const std::uint8_t* bytes, std::uint8_t limit,
                               const std::uint8_t* amounts, std::size_t n) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += bytes[i] <= limit ? amounts[i] : 0U;
  return sum;
}

#endif

}  // namespace duramen
