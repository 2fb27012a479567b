// Population importances of totally randomised multiway trees: a sum over all sets of features.
//
//   Imp(m, k) = 1 / (C(p,k) (p-k)) sum over |B| = k, m not in B, of h(B) - h(B + m)
//
// with h(B) the sum, over the cells into which the features of B divide the rows, of the cell's
// weight times its impurity (thesis, eq. 5.2; Louppe et al. 2013, eq. 3).
//
// The walk goes over cells, not over sets: from a cell to its parts by each later feature that does
// divide it. Features that do not are free: the cell stays as it is whether they are in the set or
// not, so one term counts for all their subsets (see lattice/tally.hpp). Cells of one class end the
// walk. Where every row counts 1, pairs of rows are dealt with beforehand: of two rows alone it
// is known which sets keep them together. What pairs score is taken out of every cell, cells of two
// rows are then worth nothing, and the walk ends at three rows. For p features and n rows, it
// meets some C(p, k) 2^k cells at its widest, k being about log2 n, and not 2^p sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grow/problem.hpp"
#include "impurity.hpp"

namespace duramen {

struct LatticeTable {
  std::size_t n_rows = 0;
  std::size_t n_features = 0;
  std::uint32_t n_classes = 0;
  const std::uint32_t* codes = nullptr;    // feature by row
  const std::uint32_t* classes = nullptr;  // per row
  const double* weights = nullptr;         // per row; or null: every row counts 1
  const double* numbers = nullptr;         // per class, for the variance; near 0
  Impurity criterion = Impurity::entropy;
  std::size_t depth = 0;  // largest size of the sets of features, in 1..n_features
};

// Importance by feature and size of the conditioning set, n_features by depth. `costs`, one a size,
// are the seconds that the walk may spend there, above 0 in sum. How the walk is divided and how
// progress is reported, in millionths, depends on them; the result does not.
std::vector<double> lattice_importances(const LatticeTable& table, const std::vector<double>& costs,
                                        unsigned n_threads, Monitor& monitor);

constexpr std::int64_t kLatticeDone = 1'000'000;

struct LatticeProbe {
  std::vector<double> work;  // per set: the work at the cells that come with it in the walk
  double all_work = 0.0;     // that, and the work on the way to those cells
  double seconds = 0.0;      // for all of it
};

// Measures the work at sets of `size` features, each ascending, one after the other in `sets`.
LatticeProbe probe_lattice(const LatticeTable& table, const std::uint32_t* sets, std::size_t n_sets,
                           std::size_t size, Monitor& monitor);

}  // namespace duramen
