// Counter-based random numbers: a stream is named by (seed, tree, node, purpose), so that no draw
// depends on the number of threads, on the order of the trees, or on other draws.
#pragma once

#include <cstdint>

namespace duramen {

// The finaliser of SplitMix64: a bijection of 64 bits that avalanches.
inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

enum class Purpose : std::uint64_t {
  node = 0,
  bag = 1,
  columns = 2,
  permutation = 3,
  context = 4,
  decoy = 5,
  noise = 6,
  rewiring = 7,
  node_test = 8
};

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t tree, std::uint64_t node, Purpose purpose)
      : Random(key(seed, tree), node, purpose) {}

  // What the streams of a tree share.
  static std::uint64_t key(std::uint64_t seed, std::uint64_t tree) {
    return mix(mix(seed + kGolden) + tree * kGolden);
  }
  Random(std::uint64_t key, std::uint64_t node, Purpose purpose)
      : state_(mix(key + node * kGolden) +
               static_cast<std::uint64_t>(purpose) * 0xd1342543de82ef95ULL) {}

  std::uint64_t next() { return mix(state_ += kGolden); }

  // Uniform on 0..n-1, exactly (multiplication with rejection); n >= 1.
  std::uint32_t below(std::uint32_t n) {
    std::uint64_t product = (next() >> 32) * n;
    if (static_cast<std::uint32_t>(product) < n) {
      const std::uint32_t floor = static_cast<std::uint32_t>(-n) % n;
      while (static_cast<std::uint32_t>(product) < floor) product = (next() >> 32) * n;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

  // Uniform on [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace duramen
