// Rows of a table as bits: a cell is a set of rows, a feature a few planes of bits.
//
// A feature with m values has ceil(log2 m) planes: plane q holds bit q of every row's code. Rows
// are sorted by class, so the classes of a cell follow each other.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#ifdef __BMI2__
#include <immintrin.h>
#endif

namespace duramen::lattice {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

inline std::size_t words_for(std::size_t n_rows) { return (n_rows + kWordBits - 1) / kWordBits; }
inline std::size_t lowest(Word bits) { return static_cast<std::size_t>(std::countr_zero(bits)); }
inline std::size_t size_of(Word bits) { return static_cast<std::size_t>(std::popcount(bits)); }

struct Rows {
  std::size_t words = 0;
  std::vector<Word> planes;            // plane by word
  std::vector<Word> peers;             // per row: the rows of its word that share its class
  std::vector<std::uint32_t> classes;  // per row
  std::vector<double> weights;         // per row; empty where every row counts 1
  const Word* plane(std::size_t number) const { return planes.data() + number * words; }
};

// How much rows count: their number, or their weight.
struct Count {
  using Amount = std::int64_t;
  static Amount of(const Rows&, std::size_t, Word bits) { return std::popcount(bits); }
};

struct Weight {
  using Amount = double;
  static Amount of(const Rows& rows, std::size_t word, Word bits) {
    double sum = 0.0;
    for (; bits != 0; bits &= bits - 1) sum += rows.weights[word * kWordBits + lowest(bits)];
    return sum;
  }
};

// The bits of `word` that the mask selects, moved together.
inline Word gather(Word word, Word mask) {
#ifdef __BMI2__
  return _pext_u64(word, mask);
#else
  Word packed = 0;
  for (unsigned place = 0; mask != 0; mask &= mask - 1, ++place) {
    packed |= ((word >> lowest(mask)) & 1U) << place;
  }
  return packed;
#endif
}

// Cells of at most 64 rows.
class OneWord {
 public:
  using Cell = Word;
  explicit OneWord(const Rows& rows) : rows_(rows), planes_(rows.planes.data()) {}

  // Whether some plane of `first` .. `last` - 1 tells rows of the cell apart.
  bool splits(Cell cell, std::size_t first, std::size_t last) const {
    bool mixed = false;
    for (; first != last; ++first) {
      const Word in = cell & planes_[first];
      mixed |= (in != 0) & (in != cell);
    }
    return mixed;
  }
  bool pure(Cell cell) const { return (cell & ~rows_.peers[lowest(cell)]) == 0; }
  std::size_t count(Cell cell) const { return size_of(cell); }

  template <class Measure, class Use>
  void each_class(Cell cell, Use&& use) const {
    while (cell != 0) {
      const std::size_t row = lowest(cell);
      const Word peers = rows_.peers[row];
      use(rows_.classes[row], Measure::of(rows_, 0, cell & peers));
      cell &= ~peers;
    }
  }

  // Calls use(part) for the parts into which the planes divide the cell; those of one class only
  // may be left out.
  template <class Use>
  void each_part(Cell cell, std::size_t first, std::size_t last, Use&& use) {
    for (; first != last; ++first) {
      const Word in = cell & planes_[first];
      if (in == 0 || in == cell) continue;
      if (first + 1 != last) {
        each_part(in, first + 1, last, use);
      } else if (!pure(in)) {
        use(in);
      }
      cell ^= in;
    }
    if (!pure(cell)) use(cell);
  }

 private:
  const Rows& rows_;
  const Word* planes_;
};

// Memory for cells of many words, taken and given back in order.
class CellStack {
 public:
  explicit CellStack(std::size_t words) : memory_(new Word[words]) {}
  Word* take(std::size_t words) {
    Word* taken = memory_.get() + used_;
    used_ += words;
    return taken;
  }
  std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }

 private:
  std::unique_ptr<Word[]> memory_;
  std::size_t used_ = 0;
};

// Cells of any number of rows.
class ManyWords {
 public:
  using Cell = const Word*;
  ManyWords(const Rows& rows, CellStack& stack) : rows_(rows), stack_(stack), words_(rows.words) {}

  std::size_t words() const { return words_; }
  const Rows& rows() const { return rows_; }

  bool splits(Cell cell, std::size_t first, std::size_t last) const {
    for (; first != last; ++first) {
      const Word* plane = rows_.plane(first);
      Word ones = 0;
      Word zeros = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        ones |= cell[w] & plane[w];
        zeros |= cell[w] & ~plane[w];
      }
      if (ones != 0 && zeros != 0) return true;
    }
    return false;
  }

  bool pure(Cell cell) const {
    std::size_t low = 0;
    while (cell[low] == 0) ++low;
    std::size_t high = words_ - 1;
    while (cell[high] == 0) --high;
    const std::size_t last = kWordBits - 1 - static_cast<std::size_t>(std::countl_zero(cell[high]));
    return rows_.classes[low * kWordBits + lowest(cell[low])] ==
           rows_.classes[high * kWordBits + last];
  }

  std::size_t count(Cell cell) const {
    std::size_t n = 0;
    for (std::size_t w = 0; w < words_; ++w) n += size_of(cell[w]);
    return n;
  }

  template <class Measure, class Use>
  void each_class(Cell cell, Use&& use) const {
    std::uint32_t current = 0;
    typename Measure::Amount amount = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      for (Word rest = cell[w]; rest != 0;) {
        const std::size_t row = w * kWordBits + lowest(rest);
        if (rows_.classes[row] != current) {
          if (amount > 0) use(current, amount);
          current = rows_.classes[row];
          amount = 0;
        }
        amount += Measure::of(rows_, w, rest & rows_.peers[row]);
        rest &= ~rows_.peers[row];
      }
    }
    if (amount > 0) use(current, amount);
  }

  template <class Use>
  void each_part(Cell cell, std::size_t first, std::size_t last, Use&& use) {
    const std::size_t mark = stack_.mark();
    for (; first != last; ++first) {
      const Word* plane = rows_.plane(first);
      const std::size_t before = stack_.mark();
      Word* in = stack_.take(words_);
      Word* out = stack_.take(words_);
      Word ones = 0;
      Word zeros = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        ones |= in[w] = cell[w] & plane[w];
        zeros |= out[w] = cell[w] & ~plane[w];
      }
      if (ones == 0 || zeros == 0) {
        stack_.release(before);
        continue;
      }
      if (!pure(in)) each_part(in, first + 1, last, use);
      cell = out;
    }
    if (!pure(cell)) use(cell);
    stack_.release(mark);
  }

 private:
  const Rows& rows_;
  CellStack& stack_;
  std::size_t words_;
};

// Words that the cells of one path need: two a plane at every level, and one to start from.
inline std::size_t stack_words(std::size_t words, std::size_t most_planes, std::size_t levels) {
  return words * (2 * most_planes * (levels + 1) + 2);
}

// Moves the rows of a cell together: planes `first[f]` .. `first[f + 1]` - 1 of some features.
void pack(const ManyWords& space, ManyWords::Cell cell, std::size_t n_rows,
          const std::uint32_t* features, std::size_t n_features,
          const std::vector<std::uint32_t>& first, Rows& packed);

// Fills `peers` from `classes`.
void find_peers(Rows& rows, std::size_t n_rows);

// The cell of the first n rows.
inline Word first_rows(std::size_t n_rows) {
  return n_rows == kWordBits ? ~Word{0} : (Word{1} << n_rows) - 1;
}

}  // namespace duramen::lattice
