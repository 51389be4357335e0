#include "telemetry/host/process_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace ringward::telemetry {
namespace {

const double kTicksPerSecond = static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
const double kPageBytes = static_cast<double>(std::max(1L, sysconf(_SC_PAGESIZE)));

}  // namespace

std::optional<double> RateOf(std::optional<std::uint64_t> before,
                             std::optional<std::uint64_t> after, double seconds) {
  if (!before || !after || *after < *before || seconds <= 0.0) return std::nullopt;
  return static_cast<double>(*after - *before) / seconds;
}

ProcessSampler::ProcessSampler(std::string folder, std::size_t threads_most)
    : folder_(std::move(folder)),
      threads_most_(threads_most),
      stat_(folder_ + "/stat"),
      status_(folder_ + "/status"),
      io_(folder_ + "/io") {}

/// Which threads there are changes seldom: looked up when their number has changed.
void ProcessSampler::FindThreads() {
  std::set<std::int32_t> oldest;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_ + "/task", error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::int32_t tid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), tid);
    if (parsed.ec == std::errc()) oldest.insert(tid);
    if (oldest.size() > threads_most_) oldest.erase(std::prev(oldest.end()));
  }
  std::erase_if(threads_, [&](const auto& entry) { return !oldest.contains(entry.first); });
  for (const std::int32_t tid : oldest) {
    if (threads_.contains(tid)) continue;
    const std::string path = folder_ + "/task/" + std::to_string(tid) + "/schedstat";
    threads_.emplace(tid, Thread{KeptFile(path)});
  }
}

/// A thread that looks for work again and again and lets others run in between stands in the queue
/// of a busy core all the time, and nothing waits for it: it gives every slice back at once.
bool ProcessSampler::OnlyYields(const ThreadTimes& before, const ThreadTimes& now) {
  constexpr std::uint64_t kSlicesMin = 200;
  constexpr std::uint64_t kShortNanoseconds = 100'000;
  constexpr std::uint64_t kWaitsPerRun = 4;
  if (now.slices < before.slices + kSlicesMin || now.run < before.run || now.wait < before.wait)
    return false;
  const std::uint64_t run = now.run - before.run;
  return run < kShortNanoseconds * (now.slices - before.slices) &&
         now.wait - before.wait > kWaitsPerRun * run;
}

std::optional<double> ProcessSampler::LongestWait(double seconds, std::vector<char>& buffer) {
  std::optional<double> longest;
  for (auto& [tid, thread] : threads_) {
    const auto text = thread.file.Read(buffer);
    const auto times = text ? ParseSchedstat(*text) : std::nullopt;
    if (times && thread.before) {
      const auto rate = RateOf(thread.before->wait, times->wait, 1e9 * seconds);
      if (rate && !OnlyYields(*thread.before, *times))
        longest = std::max(longest.value_or(0.0), std::min(*rate, 1.0));
    }
    thread.before = times;
  }
  return longest;
}

ProcessSampler::Counts ProcessSampler::CountsOf(const ProcessTimes& times,
                                                std::vector<char>& buffer) const {
  Counts counts{.times = times};
  if (const auto status = status_.Read(buffer)) {
    counts.yielded = NumberOf(*status, "voluntary_ctxt_switches:");
    counts.preempted = NumberOf(*status, "nonvoluntary_ctxt_switches:");
  }
  if (const auto io = io_.Read(buffer)) {
    const auto read = NumberOf(*io, "read_bytes:");
    const auto written = NumberOf(*io, "write_bytes:");
    if (read && written) counts.io_bytes = *read + *written;
  }
  return counts;
}

ProcessUse ProcessSampler::Sample(Clock::Duration now, std::vector<char>& buffer) {
  ProcessUse use;
  const auto text = stat_.Read(buffer);
  const auto times = text ? ParseProcess(*text) : std::nullopt;
  if (!times) {
    before_.reset();
    return use;
  }
  const double seconds = std::chrono::duration<double>(now - before_at_).count();
  if (times->threads != threads_known_) {
    FindThreads();
    threads_known_ = times->threads;
  }
  const auto wait = LongestWait(before_ ? seconds : 0.0, buffer);
  const Counts counts = CountsOf(*times, buffer);
  use.rss_bytes = kPageBytes * static_cast<double>(times->rss_pages);
  use.core = times->core;
  if (before_) {
    use.run_wait = wait;
    use.cpu = RateOf(before_->times.cpu_ticks, times->cpu_ticks, kTicksPerSecond * seconds);
    use.major_faults = RateOf(before_->times.major_faults, times->major_faults, seconds);
    use.preempted = RateOf(before_->preempted, counts.preempted, seconds);
    use.yielded = RateOf(before_->yielded, counts.yielded, seconds);
    use.io_bytes = RateOf(before_->io_bytes, counts.io_bytes, seconds);
  }
  before_ = counts;
  before_at_ = now;
  return use;
}

}  // namespace ringward::telemetry
