#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "comm/communicator.h"
#include "telemetry/guest/recorder.h"

namespace ringward::learn {

/// Tells a recorder of every collective, and whoever else wants to know.
class RecordingObserver final : public comm::CallObserver {
 public:
  /// `recorder` and `next` outlive this; `next` may be null.
  RecordingObserver(telemetry::Recorder& recorder, comm::CallObserver* next)
      : recorder_(recorder), next_(next) {}
  void OnEnter(const char* operation, std::uint64_t sequence, std::size_t bytes) override;
  void OnExit(const char* operation, std::uint64_t sequence, bool ok) override;

 private:
  /// Engines name operations by literals: a pointer seen before is the same name.
  struct Known {
    const char* name = nullptr;
    std::int32_t number = -1;
  };
  std::int32_t NumberOf(const char* operation);

  telemetry::Recorder& recorder_;
  comm::CallObserver* next_;
  std::array<Known, 16> known_{};
};

}  // namespace ringward::learn
