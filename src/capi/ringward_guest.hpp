// C++11 over ringward_guest.h, header only: handles that close themselves, steps that end themselves.
// Nothing here throws. The conventions are those of ringward_guest.h.
#ifndef RINGWARD_GUEST_HPP
#define RINGWARD_GUEST_HPP

#include <cstdint>

#include "ringward_guest.h"

namespace ringward_guest {

/// One rank's recorder; moved, not copied. A moved-from one records nothing.
class Recorder {
 public:
  /// As rw_guest_open(); `folder` null = /dev/shm.
  Recorder(const char* job, std::int32_t rank, std::int32_t world, const char* folder = nullptr) noexcept {
    rw_guest_options options = {sizeof(rw_guest_options), folder};
    guest_ = rw_guest_open(job, rank, world, &options);
  }
  Recorder(Recorder&& other) noexcept : guest_(other.guest_) { other.guest_ = nullptr; }
  Recorder& operator=(Recorder&& other) noexcept {
    rw_guest* const guest = other.guest_;
    other.guest_ = guest_;
    guest_ = guest;
    return *this;
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() { rw_guest_close(guest_); }

  rw_guest* get() const noexcept { return guest_; }
  bool on() const noexcept { return rw_guest_status(guest_) == RW_GUEST_ON; }
  /// Why it is off, or "on".
  const char* status() const noexcept { return rw_guest_status_text(rw_guest_status(guest_)); }

  void Phase(std::int32_t phase) const noexcept { rw_guest_phase(guest_, phase); }
  std::int32_t MetricId(const char* name) const noexcept { return rw_guest_metric_id(guest_, name); }
  void Metric(std::int32_t metric, double value) const noexcept { rw_guest_metric(guest_, metric, value); }
  std::int32_t OperationId(const char* name) const noexcept { return rw_guest_operation_id(guest_, name); }
  void Wait(std::int32_t phase, std::uint64_t ns) const noexcept { rw_guest_wait(guest_, phase, ns); }

 private:
  rw_guest* guest_;
};

/// A step for the life of the object, which must not outlive the recorder.
class Step {
 public:
  Step(const Recorder& recorder, std::uint64_t step) noexcept : guest_(recorder.get()) {
    rw_guest_step_begin(guest_, step);
  }
  ~Step() { rw_guest_step_end(guest_); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  rw_guest* guest_;
};

/// A collective for the life of the object. It counts as failed unless Succeeded() was called.
class Collective {
 public:
  Collective(const Recorder& recorder, std::int32_t operation, std::uint64_t number, std::uint64_t bytes) noexcept
      : guest_(recorder.get()), number_(number), ok_(0) {
    rw_guest_collective_enter(guest_, operation, number, bytes, 0);
  }
  ~Collective() { rw_guest_collective_exit(guest_, number_, ok_); }
  void Succeeded() noexcept { ok_ = 1; }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

 private:
  rw_guest* guest_;
  std::uint64_t number_;
  std::int32_t ok_;
};

/// Expected slowness for the life of the object.
class Slow {
 public:
  Slow(const Recorder& recorder, std::int32_t reason) noexcept : guest_(recorder.get()) {
    rw_guest_slow_begin(guest_, reason);
  }
  ~Slow() { rw_guest_slow_end(guest_); }
  Slow(const Slow&) = delete;
  Slow& operator=(const Slow&) = delete;

 private:
  rw_guest* guest_;
};

}  // namespace ringward_guest

#endif  // RINGWARD_GUEST_HPP
