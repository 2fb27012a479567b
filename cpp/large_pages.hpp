// Large pages for arrays that are read at random: where each page is small, finding its place in
// memory takes longer than reading it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace duramen {

#if defined(__linux__) && defined(MADV_HUGEPAGE)
inline constexpr int kLargePages = MADV_HUGEPAGE;
inline constexpr int kCollapse = 25;  // MADV_COLLAPSE of Linux 6.1, which older headers lack

// Gives the system advice on the pages of an array, where it is large.
inline void advise(void* data, std::size_t n_bytes, int advice) {
  constexpr std::size_t kWorthIt = std::size_t{1} << 22;
  if (n_bytes < kWorthIt) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  const std::uintptr_t to = (reinterpret_cast<std::uintptr_t>(data) + n_bytes) / page * page;
  madvise(reinterpret_cast<void*>(from), to - from, advice);
}
#endif

// Asks the system for large pages in memory that is not written yet.
inline void use_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t n_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  advise(data, n_bytes, kLargePages);
#endif
}

// Asks the system to move written memory into large pages.
inline void move_to_large_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t n_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  advise(data, n_bytes, kCollapse);
#endif
}

// Makes an empty array one of n zeros, in large pages where it is large.
template <class T>
void fill_large(std::vector<T>& array, std::size_t n) {
  array.reserve(n);
  use_large_pages(array.data(), n * sizeof(T));
  array.resize(n);
}

}  // namespace duramen
