// A digest of bytes that notices every change by accident, at the speed of memory; no defence
// against changes by design.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "random.hpp"

namespace duramen {

// Eight lanes take a word each in turn. Every step is a bijection of the lane for a given word, and
// of the word for a given lane: a change of one word always changes the lane.
class Digest {
 public:
  Digest() {
    for (std::size_t k = 0; k < kLanes; ++k) lanes_[k] = mix(k + 1);
  }

  // Appends bytes.
  void add(const char* bytes, std::size_t size) {
    std::size_t at = 0;
    if (size_ % kBytes != 0) {
      const std::size_t begun = size_ % kBytes;
      at = std::min(size, kBytes - begun);
      std::memcpy(rest_ + begun, bytes, at);
      if (begun + at == kBytes) step(rest_, kBytes);
    }
    for (; at + kBytes <= size; at += kBytes) step(bytes + at, kBytes);
    if (at < size) std::memcpy(rest_, bytes + at, size - at);
    size_ += size;
  }

  std::array<std::uint64_t, 2> finish() {
    step(rest_, size_ % kBytes);
    std::array<std::uint64_t, 2> result{mix(size_ + 1), mix(size_ + 2)};
    for (std::size_t k = 0; k < kLanes; ++k) {
      result[0] = mix(result[0] ^ lanes_[k]);
      result[1] = mix(std::rotl(result[1], 17) + lanes_[k] * kOdd);
    }
    return result;
  }

 private:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kBytes = 8 * kLanes;
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;

  // Up to a word for each lane; the last one may be short.
  void step(const char* bytes, std::size_t size) {
    for (std::size_t k = 0, at = 0; at < size; at += 8, ++k) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
      lanes_[k] = std::rotl(lanes_[k] ^ word, 29) * kOdd;
    }
  }

  std::array<std::uint64_t, kLanes> lanes_;
  std::size_t size_ = 0;
  char rest_[kBytes];
};

inline std::array<std::uint64_t, 2> digest(const char* bytes, std::size_t size) {
  Digest whole;
  whole.add(bytes, size);
  return whole.finish();
}

}  // namespace duramen
