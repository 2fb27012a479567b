// Grows trees by the Gini index and by the toy criterion and prints their arrays, a tree a line.
#define DURAMEN_PARTS
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "grow/bits.cpp"
#include "grow/instances/grow_with_definition.hpp"
#include "grow/recorder.cpp"
#include "grow/tree_grower.cpp"
#include "parallel.cpp"

namespace {

constexpr std::size_t kRows = 60, kColumns = 3, kCodes = 7;

template <class T>
void print(const char* name, const std::vector<T>& values, char end) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::printf("%s%.17g", i > 0 ? ", " : "", static_cast<double>(values[i]));
  }
  std::printf("]%c", end);
}

}  // namespace

int main() {
  using namespace duramen;
  Random random(0, 0, Purpose::bag);
  std::vector<std::uint8_t> codes(kRows * kColumns);
  for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(random.below(kCodes));
  std::vector<std::uint32_t> classes(kRows);
  for (std::uint32_t& label : classes) label = random.below(3);
  const std::vector<std::uint8_t> zeros(kColumns, 0);
  std::vector<std::int64_t> slots, offsets = {0};
  std::vector<double> values;
  for (std::size_t j = 0; j < kColumns; ++j) {
    slots.push_back(static_cast<std::int64_t>(j));
    for (std::size_t code = 0; code < kCodes; ++code) values.push_back(static_cast<double>(code));
    offsets.push_back(static_cast<std::int64_t>(values.size()));
  }
  for (const std::uint32_t min_samples_leaf : {1U, 2U}) {
    for (const Cut cut : {Cut::best, Cut::random}) {
      for (const Criterion criterion : {Criterion::gini, Criterion::toy}) {
        Problem problem;
        problem.table = {.n_rows = kRows,
                         .n_columns = kColumns,
                         .block8 = codes.data(),
                         .block_of = zeros.data(),
                         .slot = slots.data(),
                         .cut_values = values.data(),
                         .value_offsets = offsets.data(),
                         .kinds = zeros.data(),
                         .missing = zeros.data()};
        problem.settings.criterion = criterion;
        problem.settings.cut = cut;
        problem.settings.max_features = 2;
        problem.settings.min_samples_leaf = min_samples_leaf;
        problem.n_classes = 3;
        problem.classes = classes.data();
        problem.prepare();
        const Trees trees = grow_with<std::uint8_t, ClassNode<std::int32_t>>({problem, 0, 2, 1});
        std::printf("{");
        print("feature", trees.feature, ',');
        print("cut", trees.cut, ',');
        print("rows", trees.rows, ',');
        print("leaf_values", trees.leaf_values, ',');
        print("impurity", trees.impurity, '}');
        std::printf("\n");
      }
    }
  }
}
