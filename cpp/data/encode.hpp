// Dense codes: every value of a column becomes its rank among the column's sorted distinct values.
//
// An Encoder takes columns in order, a few or all of them at a time, and keeps for each the codes
// in the narrowest of uint8, uint16 and uint32, and the distinct values as float64. NaN has the
// code after the last value. -0.0 equals 0.0. What it yields depends neither on the number of
// threads nor on how the columns were handed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "large_pages.hpp"

namespace duramen {

struct Coded;

// A growing array of plain numbers whose memory can be given away. It grows by realloc, which moves
// pages and copies nothing where the system can, so that codes never lie in memory twice. Growth
// reads codes at random: large arrays lie in large pages.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  T* data() { return data_; }
  std::size_t size() const { return size_; }

  // Lengthens the array by `count` elements of any value.
  void extend(std::size_t count) {
    if (size_ + count > capacity_) {
      std::size_t wanted = capacity_ + capacity_ / 2;
      resize_to(wanted > size_ + count ? wanted : size_ + count);
    }
    size_ += count;
  }

  // Gives the memory away, cut to its length; the receiver calls std::free.
  T* release() {
    resize_to(size_ ? size_ : 1);
    move_to_large_pages(data_, size_ * sizeof(T));
    size_ = capacity_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  void resize_to(std::size_t capacity) {
    if (capacity > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    void* moved = std::realloc(data_, capacity * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

enum class Scalar : std::uint8_t { float64, float32, int64, int32, int16, uint8 };

std::size_t size_of(Scalar type);

// One column lying in someone else's memory; `stride` is the number of bytes from row to row. Of a
// sparse column, whose values follow each other, the rows ascend; other rows hold zero.
struct ColumnView {
  const char* data;
  std::ptrdiff_t stride;
  Scalar type;
  const void* rows = nullptr;  // null: every row in its order
  bool long_rows = false;      // int64, not int32
  std::size_t n_values = 0;    // that are given, of a sparse column
};

// In tables of few rows no column stays sparse (table.hpp), as growth would unpack it.
inline constexpr std::size_t kSparseRows = 256;

// A column that came sparse stays so up to this proportion of entries, by that of its table. Where
// most columns have few, growth reads all in one way, also the few with more; where most have many,
// random cuts are quicker in columns that are not sparse.
inline double sparse_density(double of_table) {
  constexpr double kFew = 0.2;
  return of_table <= kFew ? 2.0 / 3 : 1.0 / 3;
}

class Encoder {
 public:
  explicit Encoder(std::size_t n_rows, unsigned n_threads);

  static constexpr std::ptrdiff_t kAccepted = -1;
  static constexpr std::ptrdiff_t kInterrupted = -2;

  // Encodes the columns, dense or sparse. Returns kAccepted; or the index, among these columns, of
  // the first one that cannot be encoded (an infinity, or an integer beyond 2^53 that float64
  // cannot hold); or kInterrupted once `interrupted`, asked ten times a second by the calling
  // thread, said yes. After anything but kAccepted the encoder is of no further use.
  std::ptrdiff_t add(std::span<const ColumnView> columns, const std::function<bool()>& interrupted);

  // Takes a column that is coded already: codes < n_values, or = n_values where `missing`.
  // Returns false, and takes nothing, when a code is too large.
  bool add_codes(std::span<const std::uint32_t> codes, std::uint32_t n_values, bool missing);

  std::size_t n_rows() const { return n_rows_; }
  std::size_t n_columns() const { return block_of.size(); }

  Buffer<std::uint8_t> narrow;    // (k8, n_rows)
  Buffer<std::uint16_t> middle;   // (k16, n_rows)
  Buffer<std::uint32_t> wide;     // (k32, n_rows)
  Buffer<std::uint64_t> bits;     // (k, n_words) the entries of the k sparse columns: see table.hpp
  Buffer<std::uint8_t> entries8;  // their codes, column after column, by their width
  Buffer<std::uint16_t> entries16;  //
  Buffer<std::uint32_t> entries32;  //
  Buffer<std::uint8_t> width;       // (k,)
  Buffer<std::int64_t> begin;       // (k,) first entry of each column
  Buffer<std::uint32_t> frequent;   // (k,)
  Buffer<double> values;            // distinct values, column after column
  Buffer<std::int64_t> offsets;     // (p + 1,) where each column's values begin
  Buffer<std::uint8_t> block_of;    // (p,) 0 narrow, 1 middle, 2 wide, 3 sparse
  Buffer<std::int64_t> slot;        // (p,) row in that block
  Buffer<std::uint8_t> missing_of;  // (p,) 1 where some value is missing

 private:
  // Finds the place of a column with `n_values` values and appends its description. Of a column
  // that is stored sparse, `sparse` tells of its entries.
  void place(std::uint32_t n_values, bool missing, const Coded* sparse = nullptr);
  void write_codes(std::size_t column, const std::uint32_t* codes);
  void write_entries(std::size_t column, const std::uint32_t* codes);
  std::size_t n_words() const { return (n_rows_ + 63) / 64; }

  std::size_t n_rows_;
  unsigned n_threads_;
};

}  // namespace duramen
