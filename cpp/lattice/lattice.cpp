#include "lattice/lattice.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <mutex>
#include <numeric>
#include <type_traits>

#include "lattice/ground.hpp"
#include "lattice/rows.hpp"
#include "lattice/score.hpp"
#include "lattice/tally.hpp"
#include "lattice/tasks.hpp"
#include "parallel.hpp"

namespace duramen {
namespace {

using lattice::CellStack;
using lattice::fraction_of;
using lattice::Ground;
using lattice::ManyWords;
using lattice::OneWord;
using lattice::prefix_size;
using lattice::Rows;
using lattice::Sum;
using lattice::Tally;
using lattice::Task;
using lattice::TaskList;
using lattice::Word;

template <class Scorer>
class Walker {
 public:
  Walker(const Ground& ground, const Scorer& score, const Monitor& monitor)
      : ground_(ground),
        score_(score),
        monitor_(monitor),
        depth_(ground.table.depth),
        tally_(ground.table.n_features, ground.table.depth),
        stack_(lattice::stack_words(ground.rows.words, ground.most_planes, ground.levels)),
        path_(ground.levels + 1),
        free_(ground.table.n_features + 1),
        open_(ground.levels + 1),
        all_(ground.table.n_features) {
    std::iota(all_.begin(), all_.end(), 0U);
  }

  void walk(const Task& task) {
    task_ = &task;
    start();
  }

  // The work at the cells of a set, without the sets below.
  double probe(const Task& task) {
    probing_ = true;
    work_ = 0.0;
    walk(task);
    return work_;
  }
  double all_work() const { return all_work_; }

  // Adds the scores of pairs with rows `begin` .. `end` - 1, by class.
  template <class PairScore>
  void add_pairs(std::size_t begin, std::size_t end, PairScore&& score);

  const Tally& tally() const { return tally_; }

 private:
  void start() {
    const std::size_t n = ground_.table.n_rows;
    const std::uint32_t* features = all_.data();
    if (ground_.rows.words == 1) {
      OneWord space(ground_.rows);
      visit(space, lattice::first_rows(n), features, all_.size(), 0, 0);
      return;
    }
    ManyWords space(ground_.rows, stack_);
    const std::size_t mark = stack_.mark();
    visit(space, everything(ground_.rows.words, n), features, all_.size(), 0, 0);
    stack_.release(mark);
  }

  const Word* everything(std::size_t words, std::size_t n_rows) {
    Word* cell = stack_.take(words);
    std::fill(cell, cell + words, ~Word{0});
    cell[words - 1] = lattice::first_rows(n_rows - (words - 1) * lattice::kWordBits);
    return cell;
  }

  // A cell that the first `b` features of the path made; `features` may divide it further.
  template <class Space>
  void visit(Space& space, typename Space::Cell cell, const std::uint32_t* features,
             std::size_t n_features, std::size_t b, std::size_t n_free) {
    if (monitor_.stop.load(std::memory_order_relaxed)) return;
    std::vector<std::uint32_t>& open = open_[b];
    if (open.size() < n_features) open.resize(n_features);
    std::size_t n_open = 0;
    for (std::size_t i = 0; i < n_features; ++i) {
      const std::uint32_t f = features[i];
      const bool splits = space.splits(cell, ground_.first_plane[f], ground_.first_plane[f + 1]);
      open[n_open] = f;
      free_[n_free] = f;
      n_open += splits;
      n_free += !splits;
    }
    if (probing_) count_work(space, n_features, n_open, b, n_free);
    const bool on_the_way = b < task_->prefix.size();
    if (!on_the_way) {
      tally_.add(score_(space, cell), path_.data(), b, free_.data(), n_free);
      if (task_->alone) return;
    }
    const std::size_t n = space.count(cell);
    if (n_open == 0 || n <= ground_.smallest) return;
    descend(space, cell, n, n_open, b, n_free);
  }

  // Goes on with the parts of a cell, in fewer words where that pays.
  template <class Space>
  void descend(Space& space, typename Space::Cell cell, std::size_t n, std::size_t n_open,
               std::size_t b, std::size_t n_free) {
    if constexpr (std::is_same_v<Space, ManyWords>) {
      const std::size_t words = lattice::words_for(n);
      if ((words == 1 || 2 * words <= space.words()) && n_open > 1 && b + 1 < depth_) {
        if (n_packed_ == packed_.size()) packed_.emplace_back();
        Rows& rows = packed_[n_packed_++];
        pack(space, cell, n, open_[b].data(), n_open, ground_.first_plane, rows);
        if (words == 1) {
          OneWord inner(rows);
          divide(inner, lattice::first_rows(n), n_open, b, n_free);
        } else {
          ManyWords inner(rows, stack_);
          const std::size_t mark = stack_.mark();
          divide(inner, everything(words, n), n_open, b, n_free);
          stack_.release(mark);
        }
        --n_packed_;
        return;
      }
    }
    divide(space, cell, n_open, b, n_free);
  }

  template <class Space>
  void divide(Space& space, typename Space::Cell cell, std::size_t n_open, std::size_t b,
              std::size_t n_free) {
    const std::uint32_t* open = open_[b].data();
    if (b < task_->prefix.size()) {
      const std::uint32_t* place = std::find(open, open + n_open, task_->prefix[b]);
      if (place != open + n_open) {
        follow(space, cell, place, static_cast<std::size_t>(open + n_open - place), b, n_free);
      }
    } else if (b + 1 == depth_) {
      end_paths(space, cell, open, n_open, b);
    } else {
      for (std::size_t i = 0; i + 1 < n_open; ++i) {
        follow(space, cell, open + i, n_open - i, b, n_free);
      }
      // No feature is left after the last one.
      path_[b] = open[n_open - 1];
      const lattice::Score score = score_parts(space, cell, path_[b]);
      if (score != 0) tally_.add(score, path_.data(), b + 1, free_.data(), n_free);
    }
  }

  // The parts of a cell by the first of some features, which the others may divide further.
  template <class Space>
  void follow(Space& space, typename Space::Cell cell, const std::uint32_t* features,
              std::size_t n_features, std::size_t b, std::size_t n_free) {
    const std::uint32_t f = *features;
    path_[b] = f;
    space.each_part(cell, ground_.first_plane[f], ground_.first_plane[f + 1],
                    [&](typename Space::Cell part) {
                      if (space.count(part) < ground_.smallest) return;
                      if (probing_ && b == task_->prefix.size()) return;
                      visit(space, part, features + 1, n_features - 1, b + 1, n_free);
                    });
  }

  // Sets as large as the depth.
  template <class Space>
  void end_paths(Space& space, typename Space::Cell cell, const std::uint32_t* open,
                 std::size_t n_open, std::size_t b) {
    Sum* last = tally_.last_level();
    Sum total = 0;
    for (std::size_t i = 0; i < n_open; ++i) {
      const lattice::Score score = score_parts(space, cell, open[i]);
      last[open[i]] += score;
      total += score;
    }
    tally_.add_last(total, path_.data(), b);
  }

  template <class Space>
  lattice::Score score_parts(Space& space, typename Space::Cell cell, std::uint32_t f) {
    lattice::Score score = 0;
    space.each_part(cell, ground_.first_plane[f], ground_.first_plane[f + 1],
                    [&](typename Space::Cell part) { score += score_(space, part); });
    return score;
  }

  template <class Space>
  void count_work(Space& space, std::size_t n_features, std::size_t n_open, std::size_t b,
                  std::size_t n_free) {
    std::size_t words = 1;
    if constexpr (std::is_same_v<Space, ManyWords>) words = space.words();
    const bool here = b == task_->prefix.size();
    const double divided = here ? static_cast<double>(n_open) : 1.0;
    const double last = here && b + 1 == depth_ ? 4.0 : 1.0;
    const double work = 12.0 + static_cast<double>(n_features * words + b + n_free) +
                        2.0 * divided * static_cast<double>(words + 1) * last;
    all_work_ += work;
    if (here) work_ += work;
  }

  const Ground& ground_;
  const Scorer& score_;
  const Monitor& monitor_;
  const std::size_t depth_;
  Tally tally_;
  CellStack stack_;
  std::deque<Rows> packed_;  // tables of fewer rows, one inside the other
  std::size_t n_packed_ = 0;
  std::vector<std::uint32_t> path_;               // the features that made the cell
  std::vector<std::uint32_t> free_;               // features that do not divide it
  std::vector<std::vector<std::uint32_t>> open_;  // by length of the path: features that do
  std::vector<std::uint32_t> all_;
  const Task* task_ = nullptr;
  bool probing_ = false;
  double work_ = 0.0;
  double all_work_ = 0.0;
};

template <class Scorer>
template <class PairScore>
void Walker<Scorer>::add_pairs(std::size_t begin, std::size_t end, PairScore&& score) {
  const std::size_t n = ground_.table.n_rows;
  const std::size_t p = all_.size();
  for (std::size_t i = begin; i < end; ++i) {
    if (monitor_.stop.load(std::memory_order_relaxed)) return;
    for (std::size_t j = i + 1; j < n; ++j) {
      if (ground_.rows.classes[i] == ground_.rows.classes[j]) continue;
      const std::uint32_t* mine = ground_.by_row.data() + i * p;
      const std::uint32_t* theirs = ground_.by_row.data() + j * p;
      std::size_t n_free = 0;
      for (std::size_t f = 0; f < p; ++f) {
        free_[n_free] = static_cast<std::uint32_t>(f);
        n_free += mine[f] == theirs[f];
      }
      tally_.add(score(ground_.rows.classes[i], ground_.rows.classes[j]), path_.data(), 0,
                 free_.data(), n_free);
    }
  }
}

// Calls use(scorer, pair score, unit): the score of a cell, that of two rows by their classes, and
// what scores are divided by; or not at all where no cell scores.
template <class Use>
void with_scorer(const Ground& ground, Use&& use) {
  const LatticeTable& table = ground.table;
  const bool pairs = ground.pairs;
  const double* numbers = table.numbers;
  std::vector<double> mass(table.n_classes, 0.0);
  double total = 0.0;
  double moment = 0.0;
  for (std::size_t i = 0; i < table.n_rows; ++i) {
    const double weight = table.weights == nullptr ? 1.0 : table.weights[i];
    mass[table.classes[i]] += weight;
    total += weight;
    if (numbers != nullptr) moment += weight * numbers[table.classes[i]];
  }
  double uncertainty = 0.0;  // weight times impurity of all rows
  double apart = 0.0;        // pairs of rows of different class
  for (std::uint32_t k = 0; k < table.n_classes; ++k) {
    if (mass[k] == 0.0) continue;
    apart += mass[k] * (total - mass[k]) / 2.0;
    switch (table.criterion) {
      case Impurity::entropy:
        uncertainty += mass[k] * std::log2(total / mass[k]);
        break;
      case Impurity::gini:
        uncertainty += mass[k] * (total - mass[k]) / total;
        break;
      case Impurity::variance: {
        const double off = numbers[k] - moment / total;
        uncertainty += mass[k] * (off * off);
        break;
      }
    }
  }
  if (!(uncertainty > 0.0) || apart == 0.0) return;
  // All pairs together score half the number of rows times the uncertainty (lattice/score.hpp), but
  // for the entropy, of which a pair of different classes scores 2 bits.
  const double of_pairs =
      table.criterion == Impurity::entropy ? 2.0 * apart : uncertainty * std::max(1.0, total / 2.0);
  const double steps = lattice::step_for(pairs ? std::max(uncertainty, of_pairs) : uncertainty);
  const double unit = steps * total;
  const auto constant = [](double value) {
    return [value = static_cast<lattice::Score>(value)](std::uint32_t, std::uint32_t) {
      return value;
    };
  };
  if (table.weights != nullptr) {  // no pairs
    return use(lattice::Weighted(table.criterion, numbers, steps), constant(0.0), unit);
  }
  switch (table.criterion) {
    case Impurity::entropy:
      return use(lattice::CountedEntropy(table.n_rows, steps, pairs), constant(2.0 * steps), unit);
    case Impurity::gini:
      return use(lattice::CountedGini(steps, pairs), constant(steps), unit);
    case Impurity::variance:
      return use(
          lattice::CountedVariance(numbers, steps, pairs),
          [numbers, steps](std::uint32_t a, std::uint32_t b) {
            const double off = numbers[a] - numbers[b];
            return static_cast<lattice::Score>(off * off / 2.0 * steps);
          },
          unit);
  }
}

constexpr std::size_t kPairBlock = 16;

}  // namespace

std::vector<double> lattice_importances(const LatticeTable& table, const std::vector<double>& costs,
                                        unsigned n_threads, Monitor& monitor) {
  const Ground ground(table);
  const std::size_t n_blocks =
      ground.pairs ? (table.n_rows + kPairBlock - 1) / kPairBlock : std::size_t{0};
  std::vector<double> result(table.n_features * table.depth, 0.0);
  with_scorer(ground, [&](const auto& score, const auto& pair_score, double unit) {
    TaskList tasks(table.n_features, prefix_size(table, costs));
    std::atomic<std::size_t> next_block{0};
    std::mutex guard;
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    double done = 0.0;
    Tally total(table.n_features, table.depth);
    run_threads(n_threads, [&](unsigned) {
      Walker walker(ground, score, monitor);
      for (Task task; !monitor.stop && tasks.take(task);) {
        walker.walk(task);
        const std::lock_guard<std::mutex> lock(guard);
        done += fraction_of(task, table.n_features, costs);
        monitor.done = static_cast<std::int64_t>(done / all * static_cast<double>(kLatticeDone));
      }
      for (std::size_t i = next_block++; i < n_blocks && !monitor.stop; i = next_block++) {
        const std::size_t begin = i * kPairBlock;
        walker.add_pairs(begin, std::min(begin + kPairBlock, table.n_rows), pair_score);
      }
      const std::lock_guard<std::mutex> lock(guard);
      total.merge(walker.tally());
    });
    result = total.importances(unit);
  });
  monitor.done = kLatticeDone;
  return result;
}

LatticeProbe probe_lattice(const LatticeTable& table, const std::uint32_t* sets, std::size_t n_sets,
                           std::size_t size, Monitor& monitor) {
  const Ground ground(table);
  LatticeProbe probe;
  probe.work.assign(n_sets, 0.0);
  with_scorer(ground, [&](const auto& score, const auto&, double) {
    Walker walker(ground, score, monitor);
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < n_sets; ++i) {
      const std::uint32_t* set = sets + i * size;
      probe.work[i] = walker.probe({{set, set + size}, false});
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    probe.seconds = taken.count();
    probe.all_work = walker.all_work();
  });
  return probe;
}

}  // namespace duramen
