#pragma once

#include "detect/detector.h"

namespace ringward::detect {

/// Passes on what logs say of ranks: that others wait for them (kRankStalled, open until a later
/// frame ends), and the first error of each that ends it (kRankError).
class LogLinesDetector final : public Detector {
 public:
  LogLinesDetector(const signal::Topology& topology, const DetectOptions& /*options*/)
      : world_(topology.world()) {}
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void OnEvent(const signal::Event& event, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override { sink.Close(stall_, now); }

 private:
  void TellStall(const signal::LogLine& line, signal::Time at, FindingSink& sink);
  void TellError(const signal::LogLine& line, signal::Time at, FindingSink& sink) const;

  std::size_t world_;
  std::int64_t step_ = -1;
  signal::Finding stall_;  ///< open
};

}  // namespace ringward::detect
