#pragma once

#include <cstdint>

#include "telemetry/guest/lane.h"
#include "telemetry/guest/layout.h"

namespace ringward::telemetry {

/// Entry to and exit from collectives. The caller holds the lane's gate.
class CollectiveLane {
 public:
  static constexpr std::size_t kUnderWayMax = 256;  ///< of which only as many are remembered

  void Attach(char* segment, Header& header);
  /// The number of a kind of collective, new or known; -1 as MetricLane::Register.
  std::int32_t Register(const char* name);
  std::uint32_t registered() const { return registered_; }
  /// REQUIRES: operation < registered().
  void Enter(std::uint32_t operation, std::uint64_t number, std::uint64_t bytes, bool overlapped,
             std::int64_t now_ns);
  /// False where no such collective is under way. `wait_ns`: how long the caller waited in it, 0
  /// when overlapped.
  bool Exit(std::uint64_t number, bool ok, std::uint64_t step, std::int64_t now_ns,
            std::uint64_t& wait_ns);
  /// Writes what is summed up and not yet in a record.
  void Flush();
  std::uint64_t records() const { return lane_.written(); }

 private:
  struct UnderWay {
    std::uint64_t number;
    std::int64_t enter_ns;
    std::uint64_t bytes;
    std::uint16_t operation;
    std::uint16_t flags;
    bool used;
  };

  Lane<CollectiveRecord> lane_;
  Thinning thinning_;
  Header* header_;
  std::uint32_t registered_;
  CollectiveRecord sum_;
  UnderWay under_way_[kUnderWayMax];
};

}  // namespace ringward::telemetry
