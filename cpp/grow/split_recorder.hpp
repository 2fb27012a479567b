// The splits of a tree, of whichever family, as they are carried out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/table.hpp"
#include "forest/forest.hpp"
#include "grow/problem.hpp"
#include "grow/recorder.hpp"
#include "grow/split/candidate.hpp"
#include "grow/tree_rows.hpp"

namespace duramen {

template <class Weight>
class SplitRecorder {
 public:
  SplitRecorder(const Problem& problem, const TreeRows<Weight>& rows, Recorder& recorder)
      : table_(problem.table), rows_(rows), recorder_(recorder) {}

  // Records a split and makes room for its children; returns the first child's number.
  std::uint32_t add(std::uint32_t id, std::uint32_t degree, const Split& split,
                    const std::vector<std::uint32_t>& first_codes,
                    const std::vector<std::uint32_t>& bounds) {
    const std::size_t column = static_cast<std::size_t>(split.feature);
    const std::uint32_t first = recorder_.add_nodes(bounds.size() - 1);
    NodeRecord& record = recorder_[id];
    record.feature = static_cast<std::int32_t>(split.feature);
    record.child = static_cast<std::int32_t>(first);
    record.degree = degree;
    std::uint8_t flags = static_cast<std::uint8_t>(split.family);
    if (split.family == Family::multiway) {
      record_multiway(record, column, bounds);
    } else {
      const bool first_heavier =
          rows_.first_heavier(bounds[0], bounds[1], bounds[2], record.weight);
      if (first_heavier) flags |= kFirstHeavier;
      bool missing_first = first_heavier;
      if (table_.missing[column] != 0 && rows_.any_missing(column, bounds.front(), bounds.back())) {
        missing_first = split.missing_first;
      }
      if (split.family == Family::any) {
        record_set(record, column, first_codes, first_heavier, bounds);
      } else if (split.family == Family::one_vs_rest) {
        record.cut = split.low;
        if (table_.missing[column] != 0) missing_first = split.low == table_.n_values(column);
      } else {
        recorder_.record_ordered(id, split);
      }
      if (missing_first) flags |= kMissingFirst;
    }
    record.split = flags;
    return first;
  }

 private:
  // A bit a code; codes that the node has not seen go with the heavier child.
  void record_set(NodeRecord& record, std::size_t column,
                  const std::vector<std::uint32_t>& first_codes, bool first_heavier,
                  const std::vector<std::uint32_t>& bounds) {
    const std::uint32_t n_codes = table_.n_codes(column);
    record.cut = recorder_.pool_offset();
    std::vector<std::uint32_t> words((n_codes + 31) / 32, first_heavier ? ~0U : 0U);
    if (first_heavier) {
      if (n_codes % 32 != 0) words.back() = (1U << (n_codes % 32)) - 1;
      for (std::uint32_t i = bounds[1]; i < bounds[2]; ++i) {
        const std::uint32_t code = rows_.code(column, i);
        words[code / 32] &= ~(1U << (code % 32));
      }
    } else {
      for (const std::uint32_t code : first_codes) words[code / 32] |= 1U << (code % 32);
    }
    recorder_.pool().insert(recorder_.pool().end(), words.begin(), words.end());
  }

  // [number of children, the heaviest of them, the code of each, ascending]
  void record_multiway(NodeRecord& record, std::size_t column,
                       const std::vector<std::uint32_t>& bounds) {
    record.cut = recorder_.pool_offset();
    const std::uint32_t count = static_cast<std::uint32_t>(bounds.size() - 1);
    std::uint32_t heaviest = 0;
    double largest = -1.0;
    for (std::uint32_t c = 0; c < count; ++c) {
      const double weight = rows_.weigh(bounds[c], bounds[c + 1]);
      if (weight > largest) {
        largest = weight;
        heaviest = c;
      }
    }
    recorder_.pool().push_back(count);
    recorder_.pool().push_back(heaviest);
    for (std::uint32_t c = 0; c < count; ++c) {
      recorder_.pool().push_back(rows_.code(column, bounds[c]));
    }
  }

  const Table& table_;
  const TreeRows<Weight>& rows_;
  Recorder& recorder_;
};

}  // namespace duramen
