#include "data/encode.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "data/column_coder.hpp"
#include "data/table.hpp"

namespace duramen {
namespace {

// A run of neighbouring columns that lie side by side in every row, or a single column.
struct Tile {
  std::size_t begin, end;
};

template <class Function>
auto with_scalar(Scalar type, Function function) {
  switch (type) {
    case Scalar::float64:
      return function(double{});
    case Scalar::float32:
      return function(float{});
    case Scalar::int64:
      return function(std::int64_t{});
    case Scalar::int32:
      return function(std::int32_t{});
    case Scalar::int16:
      return function(std::int16_t{});
    default:
      return function(std::uint8_t{});
  }
}

// The columns of one tile, row by row as they lie in memory, to one column after another.
template <class T>
void gather(const ColumnView& first, std::size_t width, std::size_t n_rows, T* tile) {
  const char* row = first.data;
  for (std::size_t i = 0; i < n_rows; ++i, row += first.stride) {
    const T* x = reinterpret_cast<const T*>(row);
    for (std::size_t k = 0; k < width; ++k) tile[k * n_rows + i] = x[k];
  }
}

bool side_by_side(const ColumnView& a, const ColumnView& b) {
  if (a.rows != nullptr || b.rows != nullptr) return false;
  const auto size = static_cast<std::ptrdiff_t>(size_of(a.type));
  return a.type == b.type && a.stride == b.stride && a.stride != size && b.data == a.data + size;
}

std::vector<Tile> cut_into_tiles(std::span<const ColumnView> columns, std::size_t width) {
  std::vector<Tile> tiles;
  for (std::size_t j = 0; j < columns.size();) {
    std::size_t end = j + 1;
    while (end < columns.size() && end - j < width && side_by_side(columns[end - 1], columns[end]))
      ++end;
    tiles.push_back({j, end});
    j = end;
  }
  return tiles;
}

template <class Row>
void scatter(const Row* rows, std::size_t count, const std::uint32_t* from, std::uint32_t* to) {
  for (std::size_t i = 0; i < count; ++i) to[rows[i]] = from[i];
}

// The most entries of a column that stays sparse among these, if they came sparse.
double most_entries(std::span<const ColumnView> columns, double n_rows) {
  if (n_rows <= static_cast<double>(kSparseRows)) return -1.0;
  double n_entries = 0.0;
  for (const ColumnView& view : columns) n_entries += static_cast<double>(view.n_values);
  return sparse_density(n_entries / n_rows / static_cast<double>(columns.size())) * n_rows;
}

// Codes of a sparse column at every row. `own` is memory that is kept.
template <class T>
Coded encode_sparse(const ColumnView& view, std::size_t n_rows, ColumnCoder& coder,
                    std::vector<std::uint32_t>& own, std::uint32_t* codes, double* values) {
  const std::size_t count = view.n_values;
  const std::size_t n_zeros = n_rows - count;
  const T* x = reinterpret_cast<const T*>(view.data);
  std::vector<T> room(x, x + count);
  if (n_zeros > 0) room.push_back(T{0});
  own.resize(room.size());
  coder.set_size(room.size());
  Coded coded = coder.encode(room.data(), own.data(), values);
  if (coded.rejected) return coded;
  // Every row counts, the last place for all rows of no value.
  std::vector<std::size_t> counts(coded.n_codes, 0);
  for (std::size_t i = 0; i < count; ++i) ++counts[own[i]];
  if (n_zeros > 0) {
    counts[own[count]] += n_zeros;
    std::fill_n(codes, n_rows, own[count]);
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  coded.frequent = static_cast<std::uint32_t>(most - counts.begin());
  coded.n_entries = n_rows - *most;
  if (view.long_rows) {
    scatter(static_cast<const std::int64_t*>(view.rows), count, own.data(), codes);
  } else {
    scatter(static_cast<const std::int32_t*>(view.rows), count, own.data(), codes);
  }
  return coded;
}

}  // namespace

std::size_t size_of(Scalar type) {
  return with_scalar(type, [](auto zero) { return sizeof(zero); });
}

Encoder::Encoder(std::size_t n_rows, unsigned n_threads)
    : n_rows_(n_rows), n_threads_(std::max(1u, n_threads)) {
  offsets.extend(1);
  offsets.data()[0] = 0;
}

void Encoder::place(std::uint32_t n_values, bool missing, const Coded* sparse) {
  const std::size_t column = n_columns();
  const std::uint64_t n_codes = std::uint64_t{n_values} + missing;
  const std::uint8_t of_width = n_codes <= 0x100 ? 0 : n_codes <= 0x10000 ? 1 : 2;
  const std::uint8_t block = sparse ? Table::kSparse : of_width;
  const auto lengthen = [](auto& buffer, std::size_t by) {
    const std::size_t used = buffer.size();
    buffer.extend(by);
    return used;
  };
  const auto lengthen_block = [&](auto& codes, auto& entries) {
    return sparse ? lengthen(entries, sparse->n_entries) : lengthen(codes, n_rows_) / n_rows_;
  };
  std::size_t used = of_width == 0   ? lengthen_block(narrow, entries8)
                     : of_width == 1 ? lengthen_block(middle, entries16)
                                     : lengthen_block(wide, entries32);
  if (sparse) {
    bits.extend(n_words());
    const std::size_t k = lengthen(width, 1);
    begin.extend(1);
    frequent.extend(1);
    width.data()[k] = of_width;
    begin.data()[k] = static_cast<std::int64_t>(used);
    frequent.data()[k] = sparse->frequent;
    used = k;
  }
  values.extend(n_values);
  block_of.extend(1);
  slot.extend(1);
  missing_of.extend(1);
  offsets.extend(1);
  block_of.data()[column] = block;
  slot.data()[column] = static_cast<std::int64_t>(used);
  missing_of.data()[column] = missing;
  offsets.data()[column + 1] = offsets.data()[column] + n_values;
}

void Encoder::write_codes(std::size_t column, const std::uint32_t* codes) {
  const auto write = [&](auto& block) {
    auto* to = block.data() + static_cast<std::size_t>(slot.data()[column]) * n_rows_;
    using Code = std::remove_reference_t<decltype(*to)>;
    for (std::size_t i = 0; i < n_rows_; ++i) to[i] = static_cast<Code>(codes[i]);
  };
  if (block_of.data()[column] == 0) write(narrow);
  if (block_of.data()[column] == 1) write(middle);
  if (block_of.data()[column] == 2) write(wide);
}

void Encoder::write_entries(std::size_t column, const std::uint32_t* codes) {
  const auto k = static_cast<std::size_t>(slot.data()[column]);
  const std::uint32_t most = frequent.data()[k];
  std::uint64_t* words = bits.data() + k * n_words();
  const auto write = [&](auto& entries) {
    auto* to = entries.data() + begin.data()[k];
    using Code = std::remove_reference_t<decltype(*to)>;
    for (std::size_t w = 0; w < n_words(); ++w) {
      std::uint64_t word = 0;
      const std::size_t first = 64 * w;
      const std::size_t last = std::min(first + 64, n_rows_);
      for (std::size_t i = first; i < last; ++i) {
        word |= static_cast<std::uint64_t>(codes[i] != most) << (i - first);
      }
      words[w] = word;
      for (; word != 0; word &= word - 1) {
        *to++ = static_cast<Code>(codes[first + static_cast<std::size_t>(std::countr_zero(word))]);
      }
    }
  };
  if (width.data()[k] == 0) write(entries8);
  if (width.data()[k] == 1) write(entries16);
  if (width.data()[k] == 2) write(entries32);
}

bool Encoder::add_codes(std::span<const std::uint32_t> codes, std::uint32_t n_values,
                        bool missing) {
  const std::uint64_t n_codes = std::uint64_t{n_values} + missing;
  std::uint32_t largest = 0;
  for (const std::uint32_t code : codes) largest = std::max(largest, code);
  if (codes.size() != n_rows_ || largest >= n_codes) return false;
  const std::size_t column = n_columns();
  place(n_values, missing);
  double* value = values.data() + offsets.data()[column];
  for (std::uint32_t c = 0; c < n_values; ++c) value[c] = c;
  write_codes(column, codes.data());
  return true;
}

std::ptrdiff_t Encoder::add(std::span<const ColumnView> columns,
                            const std::function<bool()>& interrupted) {
  // The columns are taken in batches: threads encode a batch in memory of its own, one thread finds
  // each column's place in order, threads write there. Batches bound the memory; order makes the
  // outcome independent of the threads.
  constexpr std::size_t tile_bytes = std::size_t{1} << 19, batch_bytes = std::size_t{1} << 20;
  if (columns.empty()) return kAccepted;
  const std::size_t width = std::min<std::size_t>(
      columns.size(), std::clamp<std::size_t>(tile_bytes / (8 * n_rows_), 1, 64));
  const std::vector<Tile> tiles = cut_into_tiles(columns, width);
  const std::size_t bytes_a_tile = (sizeof(std::uint32_t) + sizeof(double)) * n_rows_ * width;
  const auto n_threads = static_cast<unsigned>(std::min<std::size_t>(n_threads_, tiles.size()));
  const std::size_t tiles_a_batch =
      std::min(tiles.size(), n_threads * std::clamp<std::size_t>(batch_bytes / bytes_a_tile, 1, 8));

  std::vector<std::uint32_t> codes(tiles_a_batch * width * n_rows_);
  std::vector<double> distinct(codes.size());
  std::vector<Coded> coded(tiles_a_batch * width);
  const std::size_t column_before = n_columns();
  const double most = most_entries(columns, static_cast<double>(n_rows_));

  std::atomic<std::size_t> next_tile{0}, next_column{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::ptrdiff_t outcome = kAccepted;
  bool stop = false;
  auto last_asked = std::chrono::steady_clock::now();
  std::barrier<> meeting(n_threads);

  const auto fail = [&] {
    if (!failed.exchange(true)) failure = std::current_exception();
  };

  const auto encode_tiles = [&](std::size_t first, std::size_t last, ColumnCoder& coder,
                                std::vector<double>& room, std::vector<std::uint32_t>& own) {
    const std::size_t offset = tiles[first].begin;
    for (std::size_t t; (t = first + next_tile++) < last;) {
      const Tile tile = tiles[t];
      const ColumnView& view = columns[tile.begin];
      with_scalar(view.type, [&](auto zero) {
        using T = decltype(zero);
        if (view.rows != nullptr) {
          const std::size_t at = (tile.begin - offset) * n_rows_;
          coded[tile.begin - offset] =
              encode_sparse<T>(view, n_rows_, coder, own, codes.data() + at, distinct.data() + at);
          return;
        }
        coder.set_size(n_rows_);
        const T* x = reinterpret_cast<const T*>(view.data);
        if (view.stride != static_cast<std::ptrdiff_t>(sizeof(T))) {
          room.resize((sizeof(T) * n_rows_ * width + sizeof(double) - 1) / sizeof(double));
          T* to = reinterpret_cast<T*>(room.data());
          gather(view, tile.end - tile.begin, n_rows_, to);
          x = to;
        }
        for (std::size_t j = tile.begin; j < tile.end; ++j, x += n_rows_) {
          const std::size_t at = (j - offset) * n_rows_;
          coded[j - offset] = coder.encode(x, codes.data() + at, distinct.data() + at);
        }
      });
    }
  };

  const auto place_batch = [&](std::size_t begin, std::size_t end) {
    next_tile = next_column = 0;
    for (std::size_t j = begin; j < end && !stop; ++j) {
      const Coded& column = coded[j - begin];
      if (column.rejected) {
        outcome = static_cast<std::ptrdiff_t>(j);
        stop = true;
      } else {
        const bool sparse =
            columns[j].rows != nullptr && static_cast<double>(column.n_entries) <= most;
        place(column.n_codes - column.missing, column.missing, sparse ? &column : nullptr);
      }
    }
    const auto now = std::chrono::steady_clock::now();
    if (!stop && now - last_asked > std::chrono::milliseconds(100)) {
      last_asked = now;
      if (interrupted()) {
        outcome = kInterrupted;
        stop = true;
      }
    }
  };

  const auto write_batch = [&](std::size_t begin, std::size_t end) {
    for (std::size_t j; (j = begin + next_column++) < end;) {
      const std::size_t at = (j - begin) * n_rows_;
      const std::size_t column = column_before + j;
      const std::int64_t* offset = offsets.data() + column;
      std::copy_n(distinct.data() + at, offset[1] - offset[0], values.data() + offset[0]);
      if (block_of.data()[column] == Table::kSparse) {
        write_entries(column, codes.data() + at);
      } else {
        write_codes(column, codes.data() + at);
      }
    }
  };

  const auto work = [&](unsigned thread) {
    std::vector<double> room;
    std::vector<std::uint32_t> own;
    std::unique_ptr<ColumnCoder> coder;
    for (std::size_t first = 0; first < tiles.size(); first += tiles_a_batch) {
      const std::size_t last = std::min(first + tiles_a_batch, tiles.size());
      const std::size_t begin = tiles[first].begin, end = tiles[last - 1].end;
      try {
        if (!coder) coder = std::make_unique<ColumnCoder>();
        encode_tiles(first, last, *coder, room, own);
      } catch (...) {
        fail();
      }
      meeting.arrive_and_wait();
      if (thread == 0 && !failed) {
        try {
          place_batch(begin, end);
        } catch (...) {
          fail();
        }
      }
      meeting.arrive_and_wait();
      if (stop || failed) return;
      write_batch(begin, end);
      meeting.arrive_and_wait();
    }
  };

  std::vector<std::thread> helpers;
  for (unsigned t = 1; t < n_threads; ++t) {
    try {
      helpers.emplace_back(work, t);
    } catch (...) {  // the system refuses further threads: go on with the started ones
      meeting.arrive_and_drop();
    }
  }
  work(0);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
  return outcome;
}

}  // namespace duramen
