#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "telemetry/host/host_files.h"
#include "telemetry/host/kept_file.h"

namespace ringward::telemetry {

/// What a process used of the machine between two samples; nothing in what the kernel does not
/// tell. Rates are per second of real time.
struct ProcessUse {
  std::optional<double> cpu;  ///< cores
  /// Share of the time in [0, 1] that it stood in the run queue: of the thread that stood longest,
  /// because a step is as late as its last thread.
  std::optional<double> run_wait;
  std::optional<double> preempted;     ///< involuntary context switches of the main thread
  std::optional<double> yielded;       ///< voluntary ones
  std::optional<double> major_faults;  ///< pages that had to be read from a disk
  std::optional<double> io_bytes;      ///< read from and written to storage
  std::optional<double> rss_bytes;     ///< resident now
  std::optional<std::uint32_t> core;   ///< that its main thread ran on last
};

/// Reads one process again and again. Files stay open: when the process is gone they read as
/// nothing, whoever has its number then. Not safe for concurrent use.
class ProcessSampler {
 public:
  /// Threads whose waiting is looked at: the oldest, which a framework's workers are among.
  static constexpr std::size_t kThreadsMost = 16;

  /// `folder` is "/proc/PID", or a test's stand-in.
  ProcessSampler(std::string folder, std::size_t threads_most);
  /// What it used since the last call, at `now` of a monotonic clock; no rates the first time.
  ProcessUse Sample(Clock::Duration now, std::vector<char>& buffer);

 private:
  struct Thread {
    KeptFile file;
    std::optional<ThreadTimes> before{};
  };
  struct Counts {
    ProcessTimes times{};
    std::optional<std::uint64_t> preempted{}, yielded{}, io_bytes{};
  };

  void FindThreads();
  static bool OnlyYields(const ThreadTimes& before, const ThreadTimes& now);
  std::optional<double> LongestWait(double seconds, std::vector<char>& buffer);
  Counts CountsOf(const ProcessTimes& times, std::vector<char>& buffer) const;

  std::string folder_;
  std::size_t threads_most_;
  KeptFile stat_, status_, io_;
  std::map<std::int32_t, Thread> threads_;
  std::uint32_t threads_known_ = 0;  ///< that the process had when they were looked up
  std::optional<Counts> before_;
  Clock::Duration before_at_{};
};

/// (after - before) a second; nothing where one is not known or the count went back.
std::optional<double> RateOf(std::optional<std::uint64_t> before,
                             std::optional<std::uint64_t> after, double seconds);

}  // namespace ringward::telemetry
