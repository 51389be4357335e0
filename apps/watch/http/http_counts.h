#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace ringward::watch {

/// What the HTTP server counts of itself.
struct HttpCounts {
  std::map<unsigned, std::uint64_t> answers;  ///< by status
  std::uint64_t refused = 0;                  ///< connections beyond the limit
  std::uint64_t stream_dropped = 0;           ///< clients of the stream that were too slow
  std::size_t connections = 0;
  std::size_t stream_clients = 0;
};

/// The same where one thread counts and others look. Thread-safe.
class HttpCounter {
 public:
  HttpCounts Get() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }
  /// `change` is called with the counts.
  template <typename Change>
  void Count(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(counts_);
  }

 private:
  mutable std::mutex mutex_;
  HttpCounts counts_;
};

}  // namespace ringward::watch
