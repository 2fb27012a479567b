// Two threads that count without a lock: what the thread sanitizer must report (tools/sanitize).
#include <thread>

extern "C" long race() {
  long count = 0;
  const auto work = [&count] {
    for (int i = 0; i < 1000; ++i) ++count;
  };
  std::thread other(work);
  work();
  other.join();
  return count;
}
