// Kernel objects: arrays that Python owns, checked once and lent to any number of calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "data/table.hpp"
#include "forest/forest.hpp"
#include "forest/route.hpp"
#include "grow/settings.hpp"
#include "permute/permute.hpp"

namespace duramen::python {

// The columns of a table without its rows.
struct Schema {
  Schema(Vector<double> cut_values, Vector<std::int64_t> value_offsets, Vector<std::uint8_t> kinds,
         Vector<std::uint8_t> missing);
  std::size_t n_columns() const { return kinds.shape(0); }

  Vector<double> cut_values;
  Vector<std::int64_t> value_offsets;
  Vector<std::uint8_t> kinds, missing;
};

// Rows that go down trees, given by their codes (Table) or their values (Values).
struct Rows {
  duramen::Table view;             // of values: the columns alone
  const double* values = nullptr;  // row by column; null for codes
  std::size_t n_rows = 0;

  template <class Visitor>
  decltype(auto) visit(Visitor&& visit) const {
    return values == nullptr ? visit(duramen::CodeRows{view})
                             : visit(duramen::ValueRows{view, values});
  }

 protected:
  explicit Rows(const Schema& schema);

 private:
  Schema schema_;
};

// Columns that are stored by their entries (data/table.hpp).
struct SparseColumns {
  SparseColumns(std::size_t n_rows, Matrix<std::uint64_t> bits, Vector<std::uint32_t> frequent,
                Vector<std::uint8_t> width, Vector<std::int64_t> begin,
                Vector<std::uint8_t> entries8, Vector<std::uint16_t> entries16,
                Vector<std::uint32_t> entries32);

  duramen::SparseColumns view;
  std::size_t n_rows = 0;
  std::size_t n_columns = 0;

 private:
  Matrix<std::uint64_t> bits_;
  Vector<std::uint32_t> frequent_;
  Vector<std::uint8_t> width_;
  Vector<std::int64_t> begin_;
  Vector<std::uint8_t> entries8_;
  Vector<std::uint16_t> entries16_;
  Vector<std::uint32_t> entries32_;
  std::shared_ptr<const std::vector<std::uint32_t>> before_;
};

struct Table : Rows {
  Table(const Schema& schema, Matrix<std::uint8_t> block8, Matrix<std::uint16_t> block16,
        Matrix<std::uint32_t> block32, Vector<std::uint8_t> block_of, Vector<std::int64_t> slot,
        const SparseColumns* sparse);

 private:
  std::optional<SparseColumns> sparse_;
  Matrix<std::uint8_t> block8_;
  Matrix<std::uint16_t> block16_;
  Matrix<std::uint32_t> block32_;
  Vector<std::uint8_t> block_of_;
  Vector<std::int64_t> slot_;
};

struct Values : Rows {
  Values(const Schema& schema, Matrix<double> values);

 private:
  Matrix<double> values_;
};

// Class codes, or numbers where n_classes is 0, or codes of survival (Outcomes) of n_times times;
// of left-truncated survival 64 bits, of which the upper half is the first rank at risk.
struct Target {
  using Codes = std::vector<std::uint32_t>;
  using Numbers = std::variant<Vector<std::uint32_t>, Vector<std::uint64_t>, Vector<double>>;
  Target(Numbers values, std::uint32_t n_classes, std::uint32_t n_times);

  duramen::Truth view;

 private:
  Numbers values_;
  std::shared_ptr<const Codes> codes_, first_;  // the halves of 64 bits
};

struct Forest {
  Forest(Vector<std::int64_t> offsets, Vector<std::int64_t> leaf_offsets,
         Vector<std::int64_t> pool_offsets, Vector<std::int32_t> feature,
         Vector<std::int32_t> child, Vector<std::uint32_t> cut, Vector<double> threshold,
         Vector<std::uint8_t> split, Vector<std::uint32_t> pool, Vector<std::uint32_t> rows,
         Vector<std::uint32_t> node_degree, Vector<double> node_weight, Vector<double> impurity,
         Matrix<double> leaf_values);

  duramen::ForestView view;
  std::size_t n_columns = 0;  // that a table needs at least

 private:
  Vector<std::int64_t> offsets_, leaf_offsets_, pool_offsets_;
  Vector<std::int32_t> feature_, child_;
  Vector<std::uint32_t> cut_;
  Vector<double> threshold_;
  Vector<std::uint8_t> split_;
  Vector<std::uint32_t> pool_, rows_, degree_;
  Vector<double> weight_, impurity_;
  Matrix<double> leaf_values_;
};

// Groups of rows that a bag draws as a whole; none where each row is drawn by itself.
class BagGroups {
 public:
  explicit BagGroups(std::optional<Vector<std::uint32_t>> of_row = std::nullopt)
      : of_row_(std::move(of_row)) {
    if (!of_row_) return;
    const std::uint32_t* first = of_row_->data();
    const std::size_t n = of_row_->shape(0);
    const std::uint32_t last = n == 0 ? 0 : *std::max_element(first, first + n);
    need(last < n, "groups must be numbers of groups");
    count_ = last + 1;
  }

  void add_to(duramen::Settings& settings, std::size_t n_rows) const {
    if (!of_row_) return;
    need(of_row_->shape(0) == n_rows, "groups has not one entry a row");
    settings.group_of = of_row_->data();
    settings.n_groups = count_;
  }

 private:
  std::optional<Vector<std::uint32_t>> of_row_;
  std::uint32_t count_ = 0;
};

// Seed and settings that draw the bags of a forest's trees again, or the draws themselves.
struct Bag {
  std::uint32_t row_samples;
  bool bootstrap;
  std::uint64_t seed, first_tree;
  // Rows that are copies of one another have the same number here; see permute.hpp.
  std::optional<Vector<std::uint32_t>> originals;
  BagGroups groups;
  std::optional<Matrix<std::uint32_t>> drawn;  // tree by draw

  // For a number of trees of the forest, from tree `begin` on, and a number of rows.
  duramen::Settings settings(std::size_t n_trees, std::size_t n_rows,
                             std::uint64_t begin = 0) const {
    duramen::Settings settings;
    settings.row_samples = row_samples;
    settings.bootstrap = bootstrap;
    groups.add_to(settings, n_rows);
    if (drawn) {
      settings.drawn = drawn->data();
      settings.n_drawn = drawn->shape(1);
      begin += first_tree;
      need(begin + n_trees <= drawn->shape(0), "drawn has not the rows of each tree");
      const std::uint32_t* first = settings.drawn + begin * settings.n_drawn;
      const std::uint32_t* last = first + n_trees * settings.n_drawn;
      need(std::all_of(first, last, [&](std::uint32_t row) { return row < n_rows; }),
           "drawn must be numbers of rows");
    }
    return settings;
  }
};

inline void need_fit(const Forest& forest, const Rows& rows) {
  need(forest.n_columns <= rows.view.n_columns, "the forest splits on columns that the rows lack");
}

inline void need_no_survival(const Target& target) {
  need(target.view.outcomes.codes == nullptr, "the target must be classes or numbers");
}

inline void need_fit(const Rows& rows, const Target& target) {
  need(target.view.n_rows == rows.n_rows, "the target has not one entry a row");
}

inline void need_fit(const Forest& forest, const Rows& rows, const Target& target) {
  need_fit(forest, rows);
  need_fit(rows, target);
  need(forest.view.n_values == (target.view.n_classes > 0 ? target.view.n_classes : 1),
       "the leaves of the forest are not of the classes of the target");
}

}  // namespace duramen::python
