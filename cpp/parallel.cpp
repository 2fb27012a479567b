#include "parallel.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace duramen {

void run_threads(unsigned n_threads, const std::function<void(unsigned)>& work) {
  std::exception_ptr error;
  std::mutex guard;
  const auto guarded = [&](unsigned thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads);
  unsigned started = 1;
  try {
    for (; started < n_threads; ++started) threads.emplace_back(guarded, started);
  } catch (...) {  // a limit on processes or memory
  }
  guarded(0);
  for (unsigned i = started; i < n_threads; ++i) guarded(i);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace duramen
