#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "detect/threshold_rule.h"
#include "signal/event.h"
#include "signal/finding.h"
#include "signal/topology.h"

namespace ringward::detect {

struct DetectorKind;

/// What is the same for all detectors of a job: its rules.
struct DetectOptions {
  /// Incidents a healthy job of this size may show by chance in a day, over all detectors.
  double false_alarms_per_day = 1.0;
  /// Slowness that costs less than this share of the step's time is not worth waking anybody.
  double worth = 0.05;
  /// A rank that has not moved for this long while others wait for it is called silent. Seconds.
  double silence_seconds = 4.0;
  /// Limits of the user's own, by name.
  std::vector<ThresholdRule> thresholds{};
  /// Detectors beside those of the table, of what a program links besides (a learned model). They
  /// stay when the rules change; a file of rules does not name them.
  std::vector<std::shared_ptr<const DetectorKind>> more{};
};

/// What a detector is told besides the frame.
struct Surroundings {
  double step_seconds = 1.0;    ///< typical just now: the median of the last frames
  double frames_per_day = 0.0;  ///< at this pace
  double alarms_per_day = 0.0;  ///< this detector's share of the budget
};

/// Collects findings and numbers them. Not safe for concurrent use.
class FindingSink {
 public:
  /// A number for a new stretch of trouble.
  std::uint64_t NewId() { return ++last_id_; }
  /// A finding with a number of its own, made and begun at `step`; the rest is for the caller.
  signal::Finding New(signal::FindingKind kind, const char* detector, std::int64_t step,
                      signal::Time at) {
    signal::Finding finding;
    finding.id = NewId();
    finding.kind = kind;
    finding.detector = detector;
    finding.step = finding.since_step = step;
    finding.at = at;
    finding.p_value = 0.0;
    return finding;
  }
  /// The stretch that `told` tells of has ended: it is told once more, as over, and left empty.
  /// Nothing where nothing was told.
  void Close(signal::Finding& told, signal::Time at) {
    if (told.id == 0) return;
    told.over = true;
    told.at = at;
    Add(std::exchange(told, {}));
  }
  void Add(signal::Finding finding) { findings_.push_back(std::move(finding)); }
  std::vector<signal::Finding> Take() { return std::exchange(findings_, {}); }

 private:
  std::uint64_t last_id_ = 0;
  std::vector<signal::Finding> findings_;
};

/// Turns frames and events of one job into findings. Does no I/O and knows no clock but the times
/// it is given, so that a replay finds the same. Whatever a job reports, a detector must not fail.
/// Not safe for concurrent use.
class Detector {
 public:
  virtual ~Detector() = default;
  /// A frame of the job, steps rising.
  virtual void OnFrame(const signal::Frame& frame, const Surroundings& around,
                       FindingSink& sink) = 0;
  /// Any other event.
  virtual void OnEvent(const signal::Event& /*event*/, const Surroundings& /*around*/,
                       FindingSink& /*sink*/) {}
  /// Time has passed without an event.
  virtual void OnTime(signal::Time /*now*/, const Surroundings& /*around*/, FindingSink& /*sink*/) {
  }
  /// The rules have changed while running: what was learned stays.
  virtual void OnRules(const DetectOptions& /*options*/, signal::Time /*now*/,
                       FindingSink& /*sink*/) {}
  /// The job has ended, or the recording has: stretches still open are closed.
  virtual void Finish(signal::Time /*now*/, FindingSink& /*sink*/) {}
};

/// A row of the table of detectors.
struct DetectorKind {
  const char* name;
  const char* summary;
  double share;  ///< of the false-alarm budget
  std::function<std::unique_ptr<Detector>(const signal::Topology&, const DetectOptions&)> make;
};

/// All detectors there are. The shares add up to 0.7: measured on healthy days, tails are a little
/// longer than their fits promise, and the budget is an upper bound.
const std::vector<DetectorKind>& DetectorTable();

}  // namespace ringward::detect
