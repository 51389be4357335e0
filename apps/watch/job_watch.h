#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "detect/detector.h"
#include "pipeline/pipeline.h"
#include "recording/writer.h"
#include "signal/cause.h"
#include "watch/job_events.h"

namespace ringward::watch {

/// Why an incident is told.
enum class News : std::uint8_t {
  kFound,
  kChanged,  ///< it is somebody else, or something else, than was told
  kOver,
};

struct Told {
  News news = News::kFound;
  signal::Cause cause;
};

/// The watching path beside one run of a job: takes looks, judges now and then, and records both in
/// a file where there is one. Not safe for concurrent use.
class JobWatch {
 public:
  JobWatch(JobRun run, const detect::DetectOptions& options);

  /// From now on, before the first look. A replay of what is recorded finds the same.
  void Record(recording::Writer writer) { writer_ = std::move(writer); }
  bool is_recorded() const { return writer_.has_value(); }
  /// Why recording has stopped before the end, once; nothing while it goes on.
  std::optional<std::string> TakeStop() { return std::exchange(stop_, std::nullopt); }
  /// Events that its recording lacks.
  std::uint64_t not_recorded() const { return not_recorded_; }

  /// Other rules from the next judgement on; what detectors have learned stays, and so do those of
  /// DetectOptions::more. A recording keeps the change, and a replay makes it at the same call.
  void SetRules(const detect::DetectOptions& options) { new_rules_ = options; }

  /// As JobEvents::Take; the events of this look, which live until the next call.
  std::span<const signal::Event> Look(std::span<const RankSight> sights, Clock::Duration monotonic,
                                      signal::Time received);
  /// Runs the pipeline over what was seen since the last call; what people should hear of, once.
  std::vector<Told> Judge(signal::Time now);
  /// The job has ended or watching does: judges what is left, closes all and the recording.
  std::vector<Told> Finish(signal::Time now);

  const JobEvents& events() const { return events_; }
  static constexpr std::size_t kOverMost = 256;
  /// Those that were told, by id, as they stand now: all that are open, and the newest kOverMost
  /// that are over.
  const std::map<std::uint64_t, signal::Cause>& incidents() const { return told_; }
  /// How many were told.
  std::uint64_t found() const { return found_; }
  bool found_any() const { return found_ > 0; }
  /// Told and not over.
  std::size_t open_incidents() const;

 private:
  std::vector<Told> Hear(const std::vector<signal::Cause>& causes);
  void ForgetOld();
  void Write(const recording::Batch& batch);

  JobEvents events_;
  pipeline::State state_;
  std::optional<recording::Writer> writer_;
  std::optional<detect::DetectOptions> new_rules_;  ///< not in force yet
  std::vector<signal::Event> waiting_;
  std::int64_t last_event_ = -1;
  std::uint64_t next_call_ = 0;
  std::map<std::uint64_t, signal::Cause> told_;
  std::uint64_t found_ = 0;
  std::optional<std::string> stop_;
  std::uint64_t not_recorded_ = 0;
};

}  // namespace ringward::watch
