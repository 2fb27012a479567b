// What depends on the processor and on the compiler: which instructions there are, and prefetching.
#pragma once
#ifdef _MSC_VER
#include <immintrin.h>
#include <intrin.h>
#endif

namespace duramen {

#if defined(_MSC_VER) && defined(_M_X64)
// AVX2, BMI2 and FMA, whose registers the system has to save: bits of leaves 1 and 7 of CPUID.
inline bool has_avx2() {
  int leaf[4];
  __cpuid(leaf, 0);
  if (leaf[0] < 7) return false;
  __cpuid(leaf, 1);
  constexpr int kFma = 1 << 12, kSaved = 1 << 27, kAvx2 = 1 << 5, kBmi2 = 1 << 8;
  if ((leaf[2] & kFma) == 0 || (leaf[2] & kSaved) == 0 || (_xgetbv(0) & 6) != 6) return false;
  __cpuidex(leaf, 7, 0);
  return (leaf[1] & kAvx2) != 0 && (leaf[1] & kBmi2) != 0;
}

inline void prefetch_line(const void* address) {
  _mm_prefetch(static_cast<const char*>(address), _MM_HINT_T0);
}
#elif defined(_MSC_VER)
inline bool has_avx2() { return false; }

inline void prefetch_line(const void*) {}
#else
#if defined(__x86_64__)
inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma");
}
#else
inline bool has_avx2() { return false; }
#endif

[[gnu::always_inline]] inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  // GCC takes a function that does no more for one without effect, and leaves its calls out.
  asm volatile("");
}
#endif

}  // namespace duramen
