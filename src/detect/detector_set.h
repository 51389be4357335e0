#pragma once

#include <memory>
#include <vector>

#include "detect/detector.h"
#include "detect/robust.h"

namespace ringward::detect {

/// All detectors of one job, fed with its events in order. Begins with JobOpened; frames before it
/// open a job of as many ranks as they have; a second JobOpened begins anew. Frames whose step does
/// not rise, or whose step or time is no job's, are dropped and counted: nothing a source sends can
/// break the detectors. Not safe for concurrent use.
class DetectorSet {
 public:
  explicit DetectorSet(const DetectOptions& options) : options_(options) {}

  void OnEvent(const signal::Event& event);
  /// REQUIRES: `now` does not go back.
  void OnTime(signal::Time now);
  void Finish(signal::Time now);
  /// What was found since the last call.
  std::vector<signal::Finding> Take() { return sink_.Take(); }

  const signal::Topology& topology() const { return topology_; }
  double step_seconds() const { return pace_.step_seconds; }
  std::uint64_t dropped_frames() const { return dropped_; }
  /// Other rules from now on; detectors keep what they have learned, and DetectOptions::more stays
  /// as it was.
  void SetRules(const DetectOptions& options);
  const DetectOptions& rules() const { return options_; }

 private:
  struct Member {
    const DetectorKind* kind;
    std::unique_ptr<Detector> detector;
  };

  void Open(const signal::Topology& topology);
  void Make(const DetectorKind& kind);
  void OnFrame(const signal::Frame& frame);
  void Pace(const signal::Frame& frame);
  Surroundings Around(const DetectorKind& kind) const;

  DetectOptions options_;
  signal::Topology topology_;
  std::vector<Member> members_;
  FindingSink sink_;
  Surroundings pace_;
  Recent intervals_{64};  ///< seconds between frames
  std::int64_t last_step_ = 0;
  signal::Time last_received_{};
  bool any_frame_ = false;
  std::uint64_t dropped_ = 0;
};

}  // namespace ringward::detect
