#include "lattice/rows.hpp"

namespace duramen::lattice {
namespace {

// Appends bits to words that are 0 beyond the bits appended so far.
class Appender {
 public:
  explicit Appender(Word* words) : words_(words) {}
  void add(Word bits, std::size_t n_bits) {
    if (n_bits == 0) return;
    const std::size_t shift = used_ % kWordBits;
    words_[used_ / kWordBits] |= bits << shift;
    if (shift + n_bits > kWordBits) words_[used_ / kWordBits + 1] |= bits >> (kWordBits - shift);
    used_ += n_bits;
  }

 private:
  Word* words_;
  std::size_t used_ = 0;
};

}  // namespace

void find_peers(Rows& rows, std::size_t n_rows) {
  rows.peers.assign(n_rows, 0);
  for (std::size_t start = 0; start < n_rows;) {
    const std::size_t word_end = std::min(n_rows, (start / kWordBits + 1) * kWordBits);
    std::size_t end = start + 1;
    while (end < word_end && rows.classes[end] == rows.classes[start]) ++end;
    const Word mask = first_rows(end - start) << (start % kWordBits);
    std::fill(rows.peers.begin() + static_cast<std::ptrdiff_t>(start),
              rows.peers.begin() + static_cast<std::ptrdiff_t>(end), mask);
    start = end;
  }
}

void pack(const ManyWords& space, ManyWords::Cell cell, std::size_t n_rows,
          const std::uint32_t* features, std::size_t n_features,
          const std::vector<std::uint32_t>& first, Rows& packed) {
  const Rows& rows = space.rows();
  packed.words = words_for(n_rows);
  packed.planes.resize(packed.words * first.back());
  packed.classes.clear();
  packed.weights.clear();
  for (std::size_t w = 0; w < space.words(); ++w) {
    for (Word rest = cell[w]; rest != 0; rest &= rest - 1) {
      const std::size_t row = w * kWordBits + lowest(rest);
      packed.classes.push_back(rows.classes[row]);
      if (!rows.weights.empty()) packed.weights.push_back(rows.weights[row]);
    }
  }
  find_peers(packed, n_rows);
  for (std::size_t i = 0; i < n_features; ++i) {
    for (std::uint32_t q = first[features[i]]; q < first[features[i] + 1]; ++q) {
      Word* to = packed.planes.data() + q * packed.words;
      std::fill(to, to + packed.words, 0);
      Appender appender(to);
      const Word* from = rows.plane(q);
      for (std::size_t w = 0; w < space.words(); ++w) {
        appender.add(gather(from[w], cell[w]), size_of(cell[w]));
      }
    }
  }
}

}  // namespace duramen::lattice
