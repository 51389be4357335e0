// The same rank as guest_program.c, by the C++ header and compiled as C++11.
#include <cstdio>
#include <ctime>
#include <limits>
#include <utility>

#include "ringward_guest.hpp"

namespace {

using namespace ringward_guest;

void Work() {
  const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 500;
  while (std::clock() < until) {
  }
}

void OneStep(const Recorder& recorder, std::uint64_t number) {
  const std::int32_t queue = recorder.MetricId("queue_length");
  const std::int32_t allreduce = recorder.OperationId("allreduce");
  const Step step(recorder, number);
  recorder.Phase(RW_GUEST_DATA);
  recorder.Metric(queue, 3);
  recorder.Metric(RW_GUEST_SAMPLES, 32);
  recorder.Phase(RW_GUEST_FORWARD);
  Work();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  recorder.Metric(RW_GUEST_LOCAL_LOSS, number == 7 ? nan : 0.5);
  recorder.Phase(RW_GUEST_BACKWARD);
  recorder.Wait(RW_GUEST_BACKWARD, 1000);
  recorder.Phase(RW_GUEST_COMMUNICATE);
  Collective collective(recorder, allreduce, number, 2048);
  collective.Succeeded();
}

}  // namespace

int main(int argc, char** argv) {
  Recorder first("a job in C", 1, 2, argc > 1 ? argv[1] : nullptr);
  const Recorder recorder(std::move(first));
  for (std::uint64_t step = 0; step < 10; ++step) OneStep(recorder, step);
  {
    const Slow slow(recorder, RW_GUEST_SLOW_CHECKPOINT);
    recorder.Phase(RW_GUEST_CHECKPOINT);
  }
  recorder.Phase(RW_GUEST_COMMUNICATE);
  const Collective last(recorder, recorder.OperationId("allreduce"), 10, 64);
  rw_guest_counters counters = {sizeof(rw_guest_counters), 0, 0, 0};
  rw_guest_count(recorder.get(), &counters);
  std::printf("abi %u, %s, %lu records, %lu dropped, %s\n", unsigned(rw_guest_abi_version()),
              recorder.status(), static_cast<unsigned long>(counters.records),
              static_cast<unsigned long>(counters.dropped_busy + counters.dropped_misuse),
              rw_guest_path(recorder.get()));
  std::fflush(stdout);
  return std::getchar() == EOF && !recorder.on();
}
