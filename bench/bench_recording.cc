// What a recording costs on disk and in time: 10,240 ranks x 8 metrics x 1 Hz of made-up telemetry,
// autocorrelated and heavy-tailed, with the progress of every rank each second.
//
//   bench_recording FILE [RANKS] [SECONDS] [FULL-SECONDS] [BYTES-MAX]
//
// Prints bytes a day of samples as they are compressed (lossless), of progress, of one-minute
// figures, and the file's size and growth. Noise is keyed by a seed; the file is left for a look.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/rng.h"
#include "recording/reader.h"
#include "recording/sqlite.h"
#include "recording/writer.h"

using namespace ringward;
using namespace ringward::signal;

namespace {

constexpr Time kBegin = std::chrono::seconds(1767607200);

/// A first-order autoregressive number per rank; now and then a spike.
class Series {
 public:
  Series(std::size_t ranks, double spread, std::uint64_t seed)
      : state_(ranks), spread_(spread), rng_(seed) {}
  /// Around 1.
  double Next(std::size_t rank) {
    constexpr double kMemory = 0.9;
    state_[rank] = kMemory * state_[rank] + std::sqrt(1 - kMemory * kMemory) * rng_.Normal();
    const double spike = rng_.Below(2000) == 0 ? 10.0 : 1.0;
    return std::exp(spread_ * state_[rank] * spike);
  }

 private:
  std::vector<double> state_;
  double spread_;
  Rng rng_;
};

/// Times are measured in nanoseconds and reported as float32 seconds. All ranks share the step.
class Job {
 public:
  explicit Job(std::size_t ranks)
      : ranks_(ranks),
        compute_(ranks, 0.05, 1),
        data_(ranks, 0.2, 2),
        loss_(ranks, 0.1, 3),
        norm_(ranks, 0.3, 4) {}

  Frame NextFrame(std::int64_t step, Time now) {
    Frame frame{.step = step, .received = now};
    for (const Known metric :
         {Known::kStepTime, Known::kDataTime, Known::kComputeTime, Known::kWaitTime, Known::kLoss,
          Known::kGradientNorm, Known::kSamples, Known::kMemory}) {
      frame.columns.push_back({IdOf(metric), std::vector<float>(ranks_)});
    }
    std::vector<double> self(ranks_);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const double data = 0.02 * data_.Next(rank);
      const double compute = 0.9 * compute_.Next(rank);
      self[rank] = data + compute;
      Set(frame, 1, rank, data);
      Set(frame, 2, rank, compute);
      Set(frame, 4, rank, 2.0 * loss_.Next(rank));
      Set(frame, 5, rank, norm_.Next(rank));
      Set(frame, 6, rank, 256);
      Set(frame, 7, rank,
          8e9 + static_cast<double>(rank % 97) * 4096 + static_cast<double>(step / 30) * 65536);
    }
    const double slowest = *std::max_element(self.begin(), self.end());
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      Set(frame, 0, rank, slowest + 0.03);
      Set(frame, 3, rank, slowest + 0.03 - self[rank]);
    }
    return frame;
  }

 private:
  static void Set(Frame& frame, std::size_t column, std::size_t rank, double value) {
    frame.columns[column].values[rank] = static_cast<float>(value);
  }
  std::size_t ranks_;
  Series compute_, data_, loss_, norm_;
};

// Event by event in place: in a moved temporary GCC 12 sees uninitialised columns.
template <typename T>
void AddEvent(std::vector<Event>& events, std::uint64_t& number, Time received, T what) {
  Event& event = events.emplace_back();
  event.number = number++;
  event.received = received;
  event.what.emplace<T>(std::move(what));
}

std::vector<Event> Second(Job& job, std::size_t ranks, std::int64_t step, std::uint64_t& number,
                          Rng& rng) {
  std::vector<Event> events;
  events.reserve(ranks + 2);
  Time now = kBegin + std::chrono::seconds(step);
  if (step == 0) AddEvent(events, number, now, JobOpened{"job", Topology(ranks)});
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    now += Time(rng.Below(20'000));
    const Phase phase = rng.Below(20) == 0 ? Phase::kBackward : Phase::kCommunicate;
    AddEvent(events, number, now,
             Progress{.rank = static_cast<std::int32_t>(rank),
                      .step = step,
                      .phase = phase,
                      .sequence = static_cast<std::uint64_t>(step) * 12,
                      .in_collective = true});
  }
  AddEvent(events, number, now, job.NextFrame(step, now));
  return events;
}

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

double Megabytes(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<double>(info.st_size) / 1e6 : 0.0;
}

void PrintSizes(const std::string& path) {
  auto database = recording::Database::Open(path, path, SQLITE_OPEN_READONLY);
  if (!database) Die(database.error().what());
  const auto number = [&](const std::string& sql) {
    const auto value = database->Number(sql);
    if (!value) Die(value.error().what());
    return static_cast<double>(*value);
  };
  const double ticks = number("SELECT count(*) FROM event_rows WHERE kind = 3");
  for (int metric = 0; metric < static_cast<int>(kKnownMetrics); ++metric) {
    const double bytes = number("SELECT sum(length(data)) FROM sample_rows WHERE metric = " +
                                std::to_string(metric));
    if (bytes > 0)
      std::printf("  metric %2d %7.2f GB a day\n", metric, bytes / ticks * 86400 / 1e9);
  }
  std::printf("samples    %7.2f GB a day at full resolution\n",
              number("SELECT sum(length(data)) FROM sample_rows") / ticks * 86400 / 1e9);
  std::printf(
      "progress   %7.2f GB a day at full resolution\n",
      number("SELECT sum(length(data)) FROM event_rows WHERE kind = 4") / ticks * 86400 / 1e9);
  std::printf("minutes    %7.0f rows\n", number("SELECT count(*) FROM minute_rows"));
  std::printf(
      "pages      %7.1f MB used of %.1f MB\n",
      number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") / 1e6 -
          number("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size") /
              1e6,
      Megabytes(path));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) Die("usage: bench_recording FILE [RANKS] [SECONDS] [FULL-SECONDS] [BYTES-MAX]");
  const std::string path = argv[1];
  const std::size_t ranks = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10'240;
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 180;
  recording::Limits limits;
  if (argc > 4) limits.full = std::chrono::seconds(std::atoi(argv[4]));
  if (argc > 5) limits.bytes = std::strtoull(argv[5], nullptr, 10);
  auto writer = recording::Writer::Open(path, limits);
  if (!writer) Die(writer.error().what());
  const MetricTable metrics;
  Job job(ranks);
  Rng rng(9);
  std::uint64_t number = 0;
  std::vector<double> took;
  for (int second = 0; second < seconds; ++second) {
    const auto events = Second(job, ranks, second, number, rng);
    const auto begin = std::chrono::steady_clock::now();
    const Status done = writer->Append({.events = events}, metrics);
    took.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
    if (!done) Die(done.error().what());
    if (second % 60 == 59) {
      std::printf("second %6d: file %8.1f MB, log %6.1f MB\n", second + 1, Megabytes(path),
                  Megabytes(path + "-wal"));
    }
  }
  std::sort(took.begin(), took.end());
  std::printf("a batch    %7.1f ms median, %.1f ms at most\n", took[took.size() / 2], took.back());
  const Status closed = writer->Close();
  if (!closed) Die(closed.error().what());
  PrintSizes(path);
}
