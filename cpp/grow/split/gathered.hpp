// The codes of columns at the rows of a node, side by side, with the least and the largest of each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "grow/problem.hpp"
#include "grow/split/entry_bits.hpp"
#include "grow/working.hpp"
#include "lanes.hpp"
#include "processor.hpp"

namespace duramen {

// The entries of a sparse column at the rows of a node, in no order of meaning. All other rows of
// the node have the most frequent code.
template <class Code>
struct NodeEntries {
  std::vector<std::uint32_t> at;  // the row within the node
  std::vector<Code> codes;
  std::uint32_t size = 0;
  std::uint32_t n_rows = 0;  // of the node
  Code frequent{};

  bool all_rows() const { return size == n_rows; }

  // The least and the largest code of the node.
  std::pair<Code, Code> range() const {
    Code low = all_rows() ? codes[0] : frequent;
    Code high = low;
    for (std::uint32_t e = 0; e < size; ++e) {
      low = codes[e] < low ? codes[e] : low;
      high = codes[e] > high ? codes[e] : high;
    }
    return {low, high};
  }
};

// What is known of a column before its codes are read: nothing, or that it varies, that it is
// constant, or that it varies and is no better than the best split so far.
enum class Verdict { unknown, varies, constant, beaten };
inline bool decided(Verdict verdict) {
  return verdict == Verdict::constant || verdict == Verdict::beaten;
}

template <class T>
class Gathered {
 public:
  using Code = typename Working<T>::Code;
  using Entries = NodeEntries<Code>;
  static constexpr std::size_t kSide = 4;  // columns at a time

  Gathered(const Problem& problem, const Working<T>& working)
      : working_(working),
        n_columns_(working.n_columns()),
        side_stride_(problem.table.n_rows + kPadding),
        buffer_(side_stride_ * (std::is_integral_v<T> ? 1 : kSide)),
        row_starts_(problem.table.n_rows) {
    if (!working.any_sparse()) return;
    distinct_rows_ = problem.decoys.cycle == nullptr;
    n_words_ = problem.table.sparse.n_words;
    node_bits_.resize(n_words_);
    positions_.resize(problem.table.n_rows);
    if (!working.entry_rows().empty()) {
      const std::size_t n_columns = SparseColumns::kWord * working.entry_rows().n_words();
      const std::size_t n_words = std::min(
          {kSubtreeBytes / sizeof(std::uint64_t) / n_columns, kMostSubtreeWords, n_words_ / 2});
      if (n_words * SparseColumns::kWord > kFewRows) {
        subtree_bits_.emplace(working.entry_rows(), problem.table.n_rows, n_words);
      }
      node_rows_.resize(subtree_bits_ ? subtree_bits_->most_rows() : kFewRows);
      // Rows are read as a whole where the candidates would read most of their lines.
      const std::size_t stride = working.entry_rows().stride();
      if (2 * problem.settings.max_features >= stride / kLine) any_row_.resize(stride);
    }
    places_.resize(problem.table.n_rows + kPadding);
    for (Entries& entries : entries_) {
      entries.at.resize(problem.table.n_rows + kPadding);
      entries.codes.resize(problem.table.n_rows);
    }
  }

  // With `marks`, many sparse columns of the node are to be read.
  void start_node(const std::uint32_t* rows, std::uint32_t n, bool marks) {
    by_row_ = n <= working_.most_by_row();
    if (by_row_) {
      for (std::uint32_t i = 0; i < n; ++i) row_starts_[i] = rows[i] * n_columns_;
    }
    few_lines_ = !by_row_ && working_.few_lines();
    reads_columns_ = !by_row_ && !working_.any_sparse() && n >= kManyRows;
    subtree_ = nullptr;
    n_ = n;
    for (Word& word : words_) word.column = n_columns_;
    joined_ = by_entry_rows_ = by_bits_ = false;
    if (distinct_rows_ && marks) mark_node(rows, n);
  }

  void start_tree() {
    if (subtree_bits_) subtree_bits_->start_tree();
  }

  bool sparse(std::size_t column) const { return working_.sparse(column); }

  // Whether so much is read of a sparse column of the node that it is worth guessing which is next.
  bool reads_long() const { return by_bits_; }

  // Whether columns share no data, and each takes long enough that steps of several columns need
  // not overlap.
  bool reads_columns() const { return reads_columns_; }

  // Prefetches the position of a column, before its content.
  void prefetch_look(std::size_t column) const {
    if (!working_.any_sparse()) return;
    working_.prefetch_look(column);
    if (by_bits_) working_.prefetch_byte_entries(column);
  }
  // Asks for a column ahead of its use.
  void prefetch(std::size_t column) const {
    if (working_.dense()) working_.prefetch(column);
    if (few_lines_) working_.prefetch_column(column);
    if (!sparse(column)) return;
    const std::size_t k = working_.sparse_place(column);
    if (subtree_ != nullptr) {
      prefetch_line(subtree_->column(k));
    } else if (by_bits_) {
      working_.prefetch_entries(column);
    }
  }

  // Whether no row of the node is known to be an entry of the column, which is sparse then.
  bool no_entry(std::size_t column) const {
    if (!joined_ || !sparse(column)) return false;
    const EntryRows::Place place = place_in_row(column);
    return (any_row_[place.word] >> place.bit & 1) == 0;
  }

  // Whether it pays to guess which columns are next: saves 4 to 8 % of Extra-Trees on sparse
  // counts, and a fifth of random forests on 1,000 rows of 28,501 genotypes.
  bool guesses_next() const { return subtree_ != nullptr || by_bits_ || few_lines_; }

  // Whether rows of the node have places, and sparse columns bits at those of their entries.
  bool marked() const { return by_entry_rows_ || by_bits_; }
  std::size_t n_words() const {
    return subtree_ != nullptr ? subtree_->n_words() : by_bits_ ? n_words_ : 1;
  }
  // Of row i of the node.
  std::uint32_t place(const std::uint32_t* rows, std::uint32_t i) const {
    return subtree_ != nullptr ? subtree_->place(rows[i]) : by_bits_ ? rows[i] : i;
  }
  // Valid until the next call with the same side.
  const std::uint64_t* bits(std::size_t column, std::size_t c = 0) {
    if (by_bits_) return working_.byte_entries(column).bits;
    if (subtree_ != nullptr) return subtree_->column(working_.sparse_place(column));
    Word& word = words_[c];
    if (column != word.column) word = {column, words_of_rows<1>({place_in_row(column)})[0]};
    return &word.bits;
  }

  // Reads those of columns side by side, where they are read from the rows of the node.
  void read_bits(const std::uint32_t* columns, std::size_t count) {
    if (!by_entry_rows_ || subtree_ != nullptr) return;
    std::array<EntryRows::Place, kSide> places{};
    for (std::size_t c = 0; c < count; ++c) {
      if (sparse(columns[c])) places[c] = place_in_row(columns[c]);
    }
    const auto words = words_of_rows(places);
    for (std::size_t c = 0; c < count; ++c) words_[c] = {columns[c], words[c]};
  }

  // Calls visit(i, code) for the entries of a sparse column at the rows i of the node that was
  // started, in no order of meaning; returns how many there are.
  template <class Visit>
  std::uint32_t visit_entries(std::size_t column, const std::uint32_t* rows, std::uint32_t n,
                              Visit&& visit) {
    std::uint32_t* places = places_.data();
    std::uint32_t size = 0;
    if (by_entry_rows_) {
      size = find_in_rows(column, 0, places);
      prefetch_in_rows(column, places, size);
      visit_in_rows(column, rows, places, size, visit);
      return size;
    }
    working_.visit_sparse(column, [&](auto codes) {
      if (by_bits_) {
        size = visit_common_bits(codes.bits, node_bits_.data(), n_words_,
                                 [&](std::uint32_t row, std::uint32_t rank) {
                                   visit(positions_[row], codes.entries[rank]);
                                 });
        return;
      }
      constexpr std::size_t kWord = SparseColumns::kWord;
      // Without a branch for a row: which ones are entries is as good as random.
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint64_t word = codes.bits[rows[i] / kWord];
        places[size] = i;
        size += static_cast<std::uint32_t>(word >> (rows[i] % kWord) & 1);
      }
      for (std::uint32_t e = 0; e < size; ++e) {
        const std::uint32_t row = rows[places[e]];
        const std::uint64_t bit = std::uint64_t{1} << (row % kWord);
        visit(places[e], codes.entry(row / kWord, codes.bits[row / kWord], bit));
      }
    });
    return size;
  }

  // Calls visit(row, code) with the codes in the table, for the entries of a sparse column at a
  // node that is sought among all rows, and perhaps for those of other rows.
  template <class Visit>
  void visit_rows(std::size_t column, std::uint32_t n, Visit&& visit) {
    constexpr std::size_t kFraction = 2;  // of the rows, from which on all entries take less time
    working_.visit_sparse(column, [&](auto codes) {
      if (kFraction * n < positions_.size()) {
        visit_common_bits(
            codes.bits, node_bits_.data(), n_words_,
            [&](std::uint32_t row, std::uint32_t rank) { visit(row, codes.entries[rank]); });
        return;
      }
      std::uint32_t* places = places_.data();
      std::uint32_t size = 0;
      for (std::size_t w = 0; w < n_words_; ++w) {
        size = write_places(codes.bits[w], SparseColumns::kWord * w, size, places);
      }
      for (std::uint32_t e = 0; e < size; ++e) visit(places[e], codes.entries[e]);
    });
  }

  // The most frequent code of a sparse column.
  Code frequent_code(std::size_t column) const { return working_.frequent_code(column); }

  // The entries of a sparse column at the node that was started; valid until the next call with
  // the same side.
  const Entries& entries(std::size_t column, const std::uint32_t* rows, std::uint32_t n,
                         std::size_t side = 0) {
    Entries& result = entries_[side];
    result.n_rows = n;
    result.frequent = frequent_code(column);
    std::uint32_t* at = result.at.data();
    Code* codes = result.codes.data();
    result.size = visit_entries(column, rows, n, [&](std::uint32_t i, std::uint32_t code) {
      *at++ = i;
      *codes++ = static_cast<Code>(code);
    });
    return result;
  }
  // The least and the largest value among them.
  std::pair<T, T> range_of(std::size_t column, const Entries& entries) const {
    const auto [low, high] = entries.range();
    return {working_.value(column, low), working_.value(column, high)};
  }

  // One column; returns the least and the largest.
  std::pair<T, T> gather(std::size_t column, const std::uint32_t* rows, std::uint32_t n) {
    if (sparse(column)) {
      const Entries& own = entries(column, rows, n);
      std::fill_n(buffer_.data(), n, working_.value(column, own.frequent));
      for (std::uint32_t e = 0; e < own.size; ++e) {
        buffer_[own.at[e]] = working_.value(column, own.codes[e]);
      }
      return range_of(column, own);
    }
    if (by_row_) {
      const T* base = working_.rows() + column;
      return gather_from(n, buffer_.data(), [&](std::uint32_t i) { return base[row_starts_[i]]; });
    }
    const T* base = working_.column(column);
    return gather_from(n, buffer_.data(), [&](std::uint32_t i) { return base[rows[i]]; });
  }

  // Calls use(read) with a function that reads the code of a column at row i of the node.
  template <class Use>
  auto with_reader(std::size_t column, const std::uint32_t* rows, std::uint32_t n, Use&& use) {
    if (sparse(column)) {
      gather(column, rows, n);
      return use([codes = buffer_.data()](std::uint32_t i) { return codes[i]; });
    }
    if (by_row_) {
      return use([base = working_.rows() + column, starts = row_starts_.data()](std::uint32_t i) {
        return base[starts[i]];
      });
    }
    return use([base = working_.column(column), rows](std::uint32_t i) { return base[rows[i]]; });
  }

  // What was gathered last, of one column.
  const T* codes() const { return buffer_.data(); }

  // Gathers a column to a side, with the least and the largest of it. Of a sparse column the
  // entries are gathered.
  std::pair<T, T> gather_side(std::size_t column, const std::uint32_t* rows, std::uint32_t n,
                              std::size_t c) {
    if (sparse(column)) return range_of(column, entries(column, rows, n, c));
    if (by_row_) {
      const T* base = working_.rows() + column;
      return gather_from(n, side(c), [&](std::uint32_t i) { return base[row_starts_[i]]; });
    }
    const T* base = working_.column(column);
    return gather_from(n, side(c), [&](std::uint32_t i) { return base[rows[i]]; });
  }

  // The same of several columns. What judge(column) says of a sparse column is asked before its
  // codes are read. Returns a bit for each column that cannot be better than the best split so far:
  // it has no range.
  template <class Judge>
  std::uint32_t gather_side_by_side(const std::uint32_t* columns, std::size_t count,
                                    const std::uint32_t* rows, std::uint32_t n,
                                    std::pair<T, T>* ranges, Judge&& judge) {
    std::uint32_t left_out = 0;
    if (by_entry_rows_) {
      for (std::size_t c = 0; c < count; ++c) {
        if (!sparse(columns[c]) || no_entry(columns[c])) continue;
        Entries& own = entries_[c];
        own.size = 0;
        const Verdict verdict = judge(columns[c], c);
        if (verdict == Verdict::beaten) left_out |= 1U << c;
        if (decided(verdict)) continue;
        own.size = find_in_rows(columns[c], c, own.at.data());
        prefetch_in_rows(columns[c], own.at.data(), own.size);
      }
      for (std::size_t c = 0; c < count; ++c) {
        if (!sparse(columns[c])) {
          ranges[c] = gather_side(columns[c], rows, n, c);
          continue;
        }
        if (left_out >> c & 1) continue;
        if (no_entry(columns[c]) || entries_[c].size == 0) {
          ranges[c] = {T{}, T{}};
          continue;
        }
        Entries& own = entries_[c];
        own.n_rows = n;
        own.frequent = frequent_code(columns[c]);
        Code* codes = own.codes.data();
        visit_in_rows(
            columns[c], rows, own.at.data(), own.size,
            [&](std::uint32_t, std::uint32_t code) { *codes++ = static_cast<Code>(code); });
        ranges[c] = range_of(columns[c], own);
      }
      return left_out;
    }
    if (!by_row_ || count == 1) {
      for (std::size_t c = 0; c < count; ++c) ranges[c] = gather_side(columns[c], rows, n, c);
    } else if (count == 2) {
      gather_from_rows<2>(columns, n, ranges);
    } else if (count == 3) {
      gather_from_rows<3>(columns, n, ranges);
    } else {
      gather_from_rows<kSide>(columns, n, ranges);
    }
    return left_out;
  }

  T* side(std::size_t c) { return buffer_.data() + c * side_stride_; }
  const Entries& entries_of_side(std::size_t c) const { return entries_[c]; }

 private:
  // The bits of a column at a node of few rows.
  struct Word {
    std::size_t column = 0;
    std::uint64_t bits = 0;
  };

  // Together, the columns share the cache lines of a row.
  template <std::size_t kCount>
  void gather_from_rows(const std::uint32_t* columns, std::uint32_t n, std::pair<T, T>* ranges) {
    T low[kCount];
    T high[kCount];
    const T* base = working_.rows();
    for (std::size_t c = 0; c < kCount; ++c) low[c] = high[c] = base[row_starts_[0] + columns[c]];
    for (std::uint32_t i = 0; i < n; ++i) {
      const T* row = base + row_starts_[i];
      for (std::size_t c = 0; c < kCount; ++c) {
        const T value = row[columns[c]];
        side(c)[i] = value;
        low[c] = value < low[c] ? value : low[c];
        high[c] = value > high[c] ? value : high[c];
      }
    }
    for (std::size_t c = 0; c < kCount; ++c) ranges[c] = {low[c], high[c]};
  }

  template <class Read>
  std::pair<T, T> gather_from(std::uint32_t n, T* out, Read&& read) {
    constexpr std::uint32_t kWays = 4;  // independent chains of comparisons
    const T first = read(0);
    T low[kWays] = {first, first, first, first};
    T high[kWays] = {first, first, first, first};
    std::uint32_t i = 0;
    for (; i + kWays <= n; i += kWays) {
      for (std::uint32_t way = 0; way < kWays; ++way) {
        const T value = read(i + way);
        out[i + way] = value;
        low[way] = value < low[way] ? value : low[way];
        high[way] = value > high[way] ? value : high[way];
      }
    }
    for (; i < n; ++i) {
      const T value = read(i);
      out[i] = value;
      low[0] = value < low[0] ? value : low[0];
      high[0] = value > high[0] ? value : high[0];
    }
    return {std::min(std::min(low[0], low[1]), std::min(low[2], low[3])),
            std::max(std::max(high[0], high[1]), std::max(high[2], high[3]))};
  }

  // Where a sparse column is in the entries row after row.
  EntryRows::Place place_in_row(std::size_t column) const {
    return working_.entry_rows().place(working_.sparse_place(column));
  }

  // Of some columns, a bit for each row of a node of few rows: whether it has an entry there.
  template <std::size_t kCount>
  std::array<std::uint64_t, kCount> words_of_rows(
      const std::array<EntryRows::Place, kCount>& places) const {
    std::array<std::uint64_t, kCount> words{};
    for (std::uint32_t i = n_; i-- > 0;) {
      const std::uint64_t* row = node_rows_[i];
      for (std::size_t c = 0; c < kCount; ++c) {
        words[c] = 2 * words[c] + (row[places[c].word] >> places[c].bit & 1);
      }
    }
    return words;
  }

  // The rows of a node that are entries of a sparse column, from the entries row after row.
  std::uint32_t find_in_rows(std::size_t column, std::size_t c, std::uint32_t* at) {
    const std::uint64_t* of_column = bits(column, c);
    if (subtree_ == nullptr) return write_places(*of_column, 0, 0, at);
    const std::uint32_t size = common_bits(of_column, node_bits_.data(), subtree_->n_words(), at);
    for (std::uint32_t e = 0; e < size; ++e) at[e] = positions_[at[e]];
    return size;
  }

  // Asks for the codes of these ahead of their use.
  void prefetch_in_rows(std::size_t column, const std::uint32_t* at, std::uint32_t size) const {
    if (subtree_ == nullptr) return;  // the lines read for the bits contain them
    const std::size_t word = place_in_row(column).word;
    for (std::uint32_t e = 0; e < size; ++e) prefetch_line(node_rows_[at[e]] + word);
  }

  template <class Visit>
  void visit_in_rows(std::size_t column, const std::uint32_t* rows, const std::uint32_t* at,
                     std::uint32_t size, Visit&& visit) const {
    if (size == 0) return;
    const EntryRows& by_row = working_.entry_rows();
    const EntryRows::Place place = place_in_row(column);
    std::uint32_t e = 0;
    for (; e < size; ++e) {
      const std::uint32_t code = by_row.code(node_rows_[at[e]], place);
      if (code == EntryRows::kLarge) break;
      visit(at[e], code);
    }
    if (e == size) return;
    // Where the codes of the column lie is read only if one of them is large.
    working_.visit_sparse(column, [&](auto codes) {
      for (; e < size; ++e) {
        const std::uint32_t code = by_row.code(node_rows_[at[e]], place);
        visit(at[e], code == EntryRows::kLarge ? codes[rows[at[e]]] : code);
      }
    });
  }

  // Nodes of few rows are read from these rows: one by one, or from the bits of a subtree. In
  // others the words of a column are compared with those of the node, where that is quicker than a
  // look at each of its rows.
  void mark_node(const std::uint32_t* rows, std::uint32_t n) {
    by_entry_rows_ = n <= node_rows_.size();
    by_bits_ = !by_entry_rows_ && kRowsAWord * n >= n_words_;
    if (by_entry_rows_) {
      for (std::uint32_t i = 0; i < n; ++i) node_rows_[i] = working_.entry_rows().row(rows[i]);
      joined_ = !any_row_.empty() && n <= kFewRows;
      if (joined_) {
        join_rows(n);
        return;
      }
      if (!subtree_bits_) return;
      if (!subtree_bits_->holds(rows, n)) {
        if (n <= kFewRows) return;
        subtree_bits_->load(rows, n);
      }
      subtree_ = &*subtree_bits_;
      std::fill_n(node_bits_.begin(), subtree_->n_words(), 0U);
      for (std::uint32_t i = 0; i < n; ++i) mark(subtree_->place(rows[i]), i);
    } else if (by_bits_) {
      std::fill(node_bits_.begin(), node_bits_.end(), 0U);
      for (std::uint32_t i = 0; i < n; ++i) mark(rows[i], i);
    }
  }
  // Notes which columns have an entry in any row of the node. The rows are in the cache then.
  void join_rows(std::uint32_t n) {
    const std::size_t n_words = any_row_.size();
    std::copy_n(node_rows_[0], n_words, any_row_.begin());
    std::uint32_t i = 1;
    for (; i + 2 <= n; i += 2) {
      const std::uint64_t* first = node_rows_[i];
      const std::uint64_t* second = node_rows_[i + 1];
      for (std::size_t w = 0; w < n_words; ++w) any_row_[w] |= first[w] | second[w];
    }
    if (i < n) {
      const std::uint64_t* last = node_rows_[i];
      for (std::size_t w = 0; w < n_words; ++w) any_row_[w] |= last[w];
    }
  }
  void mark(std::uint32_t place, std::uint32_t position) {
    node_bits_[place / SparseColumns::kWord] |= std::uint64_t{1} << (place % SparseColumns::kWord);
    positions_[place] = position;
  }

  // The bits of a subtree, which fit into the second cache beside the other data.
  static constexpr std::size_t kSubtreeBytes = std::size_t{1} << 21;
  static constexpr std::size_t kMostSubtreeWords = 16;
  static constexpr std::uint32_t kManyRows = 1024;
  static constexpr std::size_t kRowsAWord = 1;   // words that take as long as a row
  static constexpr std::uint32_t kFewRows = 64;  // are not worth loading the bits of a subtree

  const Working<T>& working_;
  std::size_t n_columns_, side_stride_;
  bool by_row_ = false;
  bool reads_columns_ = false;
  bool few_lines_ = false;      // columns are short, and asked for as a whole
  bool by_entry_rows_ = false;  // the node is read from its rows
  bool joined_ = false;         // any_row_ is of the node
  bool by_bits_ = false;        // the node is marked among all rows
  bool distinct_rows_ = false;  // no node has a row twice
  std::size_t n_words_ = 0;
  std::optional<SubtreeBits> subtree_bits_;
  const SubtreeBits* subtree_ = nullptr;         // that the node is read from
  std::vector<const std::uint64_t*> node_rows_;  // in the table of entries row after row
  std::vector<std::uint64_t> any_row_;           // the bits that any row of the node has, or empty
  std::vector<std::uint64_t> node_bits_;
  std::uint32_t n_ = 0;                   // rows of the node
  Word words_[kSide];                     // of each side
  std::vector<std::uint32_t> places_;     // of the entries of a column
  std::vector<std::uint32_t> positions_;  // of the rows within the node, where it is marked
  Entries entries_[kSide];
  std::vector<T> buffer_;
  std::vector<std::size_t> row_starts_;
};

}  // namespace duramen
