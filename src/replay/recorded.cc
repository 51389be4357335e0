#include "replay/recorded.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "detect/rules.h"
#include "pipeline/pipeline.h"
#include "recording/writer.h"
#include "signal/metric.h"

namespace ringward::replay {
namespace {

constexpr std::size_t kBatchEvents = 64;
constexpr auto kForever = std::chrono::hours(24 * 365 * 10);

/// The pipeline over one run, keeping what it says.
class Run {
 public:
  explicit Run(const detect::DetectOptions& options) : state_(options) {}

  Status SetRules(const recording::Call& call) {
    auto rules = detect::ParseRules(*call.rules, "rules of call " + std::to_string(call.number),
                                    state_.detectors.rules());
    if (!rules) return Error(Code::kCorrupt, rules.error().what());
    state_.detectors.SetRules(*rules);
    return Ok();
  }
  void Step(std::span<const signal::Event> events, signal::Time now) {
    if (!first_) first_ = now;
    Keep(pipeline::Step(state_, events, now));
    last_ = now;
  }
  Replayed Finish() && {
    Keep(pipeline::Finish(state_, last_));
    for (auto& [id, cause] : causes_) replayed_.causes.push_back(std::move(cause));
    if (first_) replayed_.seconds = signal::Seconds(last_ - *first_);
    return std::move(replayed_);
  }

 private:
  void Keep(pipeline::Outcome outcome) {
    std::move(outcome.findings.begin(), outcome.findings.end(),
              std::back_inserter(replayed_.findings));
    for (signal::Cause& cause : outcome.causes) causes_[cause.id] = std::move(cause);
  }

  pipeline::State state_;
  std::optional<signal::Time> first_;
  signal::Time last_{};
  std::map<std::uint64_t, signal::Cause>
      causes_;  ///< as they stood last; the pipeline forgets some
  Replayed replayed_;
};

/// Events in order, looking one ahead.
class Events {
 public:
  explicit Events(recording::Reader& reader) : reader_(reader) {}

  /// The next event whose number is at most `last`; nothing where there is none.
  Result<std::optional<signal::Event>> UpTo(std::int64_t last) {
    if (!ahead_) {
      RINGWARD_ASSIGN(ahead_, reader_.NextEvent());
    }
    if (!ahead_ || std::cmp_greater(ahead_->number, last)) return std::optional<signal::Event>();
    return std::exchange(ahead_, std::nullopt);
  }

 private:
  recording::Reader& reader_;
  std::optional<signal::Event> ahead_;
};

/// Gathers events and their calls into transactions.
class Recorder {
 public:
  explicit Recorder(recording::Writer writer) : writer_(std::move(writer)) {}

  Status Add(const signal::Event& event) {
    calls_.push_back({.number = number_++,
                      .now = event.received,
                      .last_event = static_cast<std::int64_t>(event.number)});
    events_.push_back(event);
    return events_.size() < kBatchEvents ? Ok() : Flush();
  }
  Status Flush() {
    RINGWARD_TRY(writer_.Append({.events = events_, .calls = calls_}, metrics_));
    events_.clear();
    calls_.clear();
    return Ok();
  }
  Status Close() {
    RINGWARD_TRY(Flush());
    return writer_.Close();
  }

 private:
  recording::Writer writer_;
  signal::MetricTable metrics_;
  std::uint64_t number_ = 0;
  std::vector<signal::Event> events_;
  std::vector<recording::Call> calls_;
};

}  // namespace

Replayed ReplayEvents(const std::vector<signal::Event>& events,
                      const detect::DetectOptions& options) {
  Run run(options);
  for (const signal::Event& event : events) run.Step(std::span(&event, 1), event.received);
  return std::move(run).Finish();
}

Result<Replayed> ReplayRecording(recording::Reader& reader, const detect::DetectOptions& options,
                                 ReplayRules rules) {
  Run run(options);
  Events events(reader);
  std::vector<signal::Event> batch;
  while (true) {
    RINGWARD_ASSIGN(const std::optional<recording::Call> call, reader.NextCall());
    if (!call) break;
    batch.clear();
    while (true) {
      RINGWARD_ASSIGN(auto event, events.UpTo(call->last_event));
      if (!event) break;
      batch.push_back(*std::move(event));
    }
    if (call->rules && rules == ReplayRules::kRecorded) RINGWARD_TRY(run.SetRules(*call));
    run.Step(batch, call->now);
  }
  while (true) {
    RINGWARD_ASSIGN(const auto event, events.UpTo(std::numeric_limits<std::int64_t>::max()));
    if (!event) break;
    run.Step(std::span(&*event, 1), event->received);
  }
  return std::move(run).Finish();
}

Status RecordSimulation(const JobOptions& options, const std::string& path) {
  RINGWARD_ASSIGN(recording::Writer writer, recording::Writer::Open(path, {.full = kForever}));
  Recorder recorder(std::move(writer));
  RINGWARD_TRY(
      SimulateJob(options, [&](const signal::Event& event) { return recorder.Add(event); }));
  return recorder.Close();
}

}  // namespace ringward::replay
