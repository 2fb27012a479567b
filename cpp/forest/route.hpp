// Sending rows down grown trees: rows of the training table by their codes, new rows by values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "forest/forest.hpp"
#include "grow/problem.hpp"
#include "grow/settings.hpp"

namespace duramen {

constexpr std::uint32_t kUnseen = 0xFFFFFFFFU;  // a category the table does not know

// Rows of the encoded table.
struct CodeRows {
  const Table& table;
  bool is_missing(std::size_t j, std::size_t row) const {
    return table.missing[j] != 0 && table.code(j, row) == table.n_values(j);
  }
  std::uint32_t code(std::size_t j, std::size_t row) const { return table.code(j, row); }
  bool first_of_ordered(std::size_t j, std::size_t row, std::uint32_t cut, double, bool) const {
    return table.code(j, row) <= cut;
  }
};

// New rows: numeric columns hold values, the others codes; NaN is missing, -1 an unseen category.
struct ValueRows {
  const Table& table;  // for kinds and distinct values alone
  const double* values;
  double at(std::size_t j, std::size_t row) const { return values[row * table.n_columns + j]; }
  bool is_missing(std::size_t j, std::size_t row) const { return std::isnan(at(j, row)); }
  std::uint32_t code(std::size_t j, std::size_t row) const {
    const double value = at(j, row);
    if (table.kind(j) != Kind::numeric) {
      return value < 0 ? kUnseen : static_cast<std::uint32_t>(value);
    }
    const double* begin = table.values(j);
    const double* end = begin + table.n_values(j);
    const double* place = std::lower_bound(begin, end, value);
    return place != end && *place == value ? static_cast<std::uint32_t>(place - begin) : kUnseen;
  }
  bool first_of_ordered(std::size_t j, std::size_t row, std::uint32_t cut, double threshold,
                        bool first_heavier) const {
    const double value = at(j, row);
    if (table.kind(j) == Kind::numeric) return value <= threshold;
    return value < 0 ? first_heavier : value <= cut;
  }
};

// One tree of a forest.
struct TreeView {
  TreeView(const ForestView& forest, std::size_t tree)
      : feature(forest.feature + forest.offsets[tree]),
        child(forest.child + forest.offsets[tree]),
        cut(forest.cut + forest.offsets[tree]),
        threshold(forest.threshold + forest.offsets[tree]),
        split(forest.split + forest.offsets[tree]),
        pool(forest.pool + forest.pool_offsets[tree]),
        n_nodes(static_cast<std::size_t>(forest.offsets[tree + 1] - forest.offsets[tree])) {}

  std::uint32_t n_children(std::size_t node) const {
    const bool multiway = (split[node] & kFamilyMask) == static_cast<int>(Family::multiway);
    return multiway ? pool[cut[node]] : 2U;
  }

  // Which child of an inner node a row goes to.
  template <class Rows>
  std::uint32_t side(std::size_t node, const Rows& rows, std::size_t row) const {
    const std::size_t j = static_cast<std::size_t>(feature[node]);
    const std::uint8_t flags = split[node];
    const Family family = static_cast<Family>(flags & kFamilyMask);
    const bool first_heavier = (flags & kFirstHeavier) != 0;
    const bool missing = rows.is_missing(j, row);
    const bool has_missing_code = rows.table.missing[j] != 0;
    switch (family) {
      case Family::ordered: {
        if (missing) return (flags & kMissingFirst) != 0 ? 0 : 1;
        return rows.first_of_ordered(j, row, cut[node], threshold[node], first_heavier) ? 0 : 1;
      }
      case Family::one_vs_rest: {
        if (missing) return (flags & kMissingFirst) != 0 ? 0 : 1;
        const std::uint32_t code = rows.code(j, row);
        if (code == kUnseen) return first_heavier ? 0 : 1;
        return code == cut[node] ? 0 : 1;
      }
      case Family::any: {
        const std::uint32_t code =
            missing ? missing_code(rows, j, has_missing_code) : rows.code(j, row);
        if (code == kUnseen) return first_heavier ? 0 : 1;
        return (pool[cut[node] + code / 32] >> (code % 32)) & 1U ? 0 : 1;
      }
      case Family::multiway:
        break;
    }
    const std::uint32_t code =
        missing ? missing_code(rows, j, has_missing_code) : rows.code(j, row);
    const std::uint32_t* map = pool + cut[node];
    const std::uint32_t* begin = map + 2;
    const std::uint32_t* end = begin + map[0];
    const std::uint32_t* place = std::lower_bound(begin, end, code);
    return place != end && *place == code ? static_cast<std::uint32_t>(place - begin) : map[1];
  }

  template <class Rows>
  std::size_t leaf(const Rows& rows, std::size_t row) const {
    std::size_t node = 0;
    while (feature[node] >= 0) {
      node = static_cast<std::size_t>(child[node]) + side(node, rows, row);
    }
    return node;
  }

  const std::int32_t* feature;
  const std::int32_t* child;
  const std::uint32_t* cut;
  const double* threshold;
  const std::uint8_t* split;
  const std::uint32_t* pool;
  std::size_t n_nodes;

 private:
  template <class Rows>
  static std::uint32_t missing_code(const Rows& rows, std::size_t j, bool has_missing_code) {
    return has_missing_code ? rows.table.n_values(j) : kUnseen;
  }
};

}  // namespace duramen
