// The table as all walks over the lattice share it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lattice/lattice.hpp"
#include "lattice/rows.hpp"

namespace duramen::lattice {

// Beyond it, pairs would cost more than they save, and take bits from the scores.
inline constexpr std::size_t kMostRowsForPairs = 1024;
// Up to this depth few cells are as small as that.
inline constexpr std::size_t kFlatDepth = 2;

struct Ground {
  LatticeTable table;
  std::vector<std::uint32_t> order;        // rows by class
  std::vector<std::uint32_t> first_plane;  // per feature, and one more
  Rows rows;
  std::vector<std::uint32_t> by_row;  // codes, row by feature, where pairs are set aside
  bool pairs = false;                 // set aside
  std::size_t smallest = 2;           // rows of the smallest cells that score
  std::size_t levels = 0;  // the most features that can divide a cell one after the other
  std::size_t most_planes = 1;

  explicit Ground(const LatticeTable& lattice_table)
      : table(lattice_table), order(lattice_table.n_rows) {
    const std::size_t n = table.n_rows;
    const std::size_t p = table.n_features;
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
      return table.classes[i] < table.classes[j];
    });
    pairs = table.weights == nullptr && n <= kMostRowsForPairs && table.depth > kFlatDepth;
    smallest = pairs ? 3 : 2;
    levels = std::min(table.depth, n);
    first_plane.assign(p + 1, 0);
    for (std::size_t f = 0; f < p; ++f) {
      const std::uint32_t* codes = table.codes + f * n;
      const auto planes =
          static_cast<std::uint32_t>(std::bit_width(*std::max_element(codes, codes + n)));
      first_plane[f + 1] = first_plane[f] + planes;
      most_planes = std::max<std::size_t>(most_planes, planes);
    }
    fill_rows();
    if (!pairs) return;
    by_row.resize(n * p);
    for (std::size_t f = 0; f < p; ++f) {
      for (std::size_t i = 0; i < n; ++i) by_row[i * p + f] = table.codes[f * n + order[i]];
    }
  }

 private:
  void fill_rows() {
    const std::size_t n = table.n_rows;
    rows.words = words_for(n);
    rows.classes.resize(n);
    for (std::size_t i = 0; i < n; ++i) rows.classes[i] = table.classes[order[i]];
    if (table.weights != nullptr) {
      rows.weights.resize(n);
      for (std::size_t i = 0; i < n; ++i) rows.weights[i] = table.weights[order[i]];
    }
    find_peers(rows, n);
    rows.planes.assign(first_plane.back() * rows.words, 0);
    for (std::size_t f = 0; f < table.n_features; ++f) {
      for (std::uint32_t q = first_plane[f]; q < first_plane[f + 1]; ++q) {
        Word* plane = rows.planes.data() + q * rows.words;
        for (std::size_t i = 0; i < n; ++i) {
          const Word code = table.codes[f * n + order[i]];
          plane[i / kWordBits] |= ((code >> (q - first_plane[f])) & 1U) << (i % kWordBits);
        }
      }
    }
  }
};

}  // namespace duramen::lattice
