#include "ringward/bench_telemetry.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "base/table_printer.h"
#include "capi/ringward_guest.h"
#include "telemetry/host/host_sampler.h"

namespace ringward::cli {
namespace {

constexpr int kCallsInBlock = 1'000;
constexpr int kSamplesInBlock = 10;

struct GuestCost {
  const char* call;
  const char* what;
  double ns_median;
  double ns_min;
};

struct CloseGuest {
  void operator()(rw_guest* guest) const { rw_guest_close(guest); }
};
using Guest = std::unique_ptr<rw_guest, CloseGuest>;

/// Nanoseconds of one call: median and smallest over blocks of calls. `call` is given 0, 1, 2, …
template <typename Call>
GuestCost Measure(const char* name, const char* what, double seconds, Call call,
                  int in_block = kCallsInBlock) {
  const Clock& clock = SystemClock();
  const auto end = clock.Now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::duration<double>(seconds));
  std::vector<double> ns;
  std::uint64_t number = 0;
  do {
    const auto began = clock.Now();
    for (int i = 0; i < in_block; ++i) call(number++);
    ns.push_back(static_cast<double>((clock.Now() - began).count()) / in_block);
  } while (clock.Now() < end);
  const auto middle = ns.begin() + static_cast<std::ptrdiff_t>(ns.size() / 2);
  std::nth_element(ns.begin(), middle, ns.end());
  return {name, what, *middle, *std::min_element(ns.begin(), ns.end())};
}

/// What a training step calls: a phase each for data, forward, backward, communicate and optimizer,
/// one collective, three metrics.
void WholeStep(rw_guest* guest, std::int32_t operation, std::uint64_t step) {
  rw_guest_step_begin(guest, step);
  rw_guest_phase(guest, RW_GUEST_DATA);
  rw_guest_phase(guest, RW_GUEST_FORWARD);
  rw_guest_phase(guest, RW_GUEST_BACKWARD);
  rw_guest_metric(guest, RW_GUEST_LOCAL_LOSS, 0.5);
  rw_guest_metric(guest, RW_GUEST_LOCAL_GRADIENT_NORM, 1.5);
  rw_guest_metric(guest, RW_GUEST_SAMPLES, 32);
  rw_guest_phase(guest, RW_GUEST_COMMUNICATE);
  rw_guest_collective_enter(guest, operation, step, 2'048, 0);
  rw_guest_collective_exit(guest, step, 1);
  rw_guest_phase(guest, RW_GUEST_OPTIMIZER);
  rw_guest_step_end(guest);
}

/// What the watcher does once a second, beside the job and not in it.
GuestCost MeasureHostSample(double seconds) {
  telemetry::HostSampler sampler;
  sampler.Follow(getpid());
  return Measure(
      "host-sample", "reading this machine and one process, as the watcher does each second",
      seconds, [&](std::uint64_t) { sampler.Sample(SystemClock().Now()); }, kSamplesInBlock);
}

std::vector<GuestCost> MeasureAll(rw_guest* guest, double seconds) {
  const std::int32_t operation = rw_guest_operation_id(guest, "allreduce");
  std::vector<GuestCost> costs;
  costs.push_back(
      Measure("metric", "a value that is a record at once", seconds, [&](std::uint64_t n) {
        rw_guest_metric(guest, RW_GUEST_LOCAL_LOSS, static_cast<double>(n));
      }));
  costs.push_back(Measure("phase", "a change of phase", seconds, [&](std::uint64_t n) {
    rw_guest_phase(guest, static_cast<std::int32_t>(n % 6));
  }));
  costs.push_back(Measure("collective", "entry and exit", seconds, [&](std::uint64_t n) {
    rw_guest_collective_enter(guest, operation, n, 2'048, 0);
    rw_guest_collective_exit(guest, n, 1);
  }));
  costs.push_back(Measure("step", "beginning and end", seconds, [&](std::uint64_t n) {
    rw_guest_step_begin(guest, n);
    rw_guest_step_end(guest);
  }));
  costs.push_back(Measure("whole-step", "a step of 5 phases, 3 metrics and a collective", seconds,
                          [&](std::uint64_t n) { WholeStep(guest, operation, n); }));
  const rw_guest_options nowhere{sizeof(rw_guest_options), "/dev/null/not-a-folder"};
  const Guest off(rw_guest_open("bench", 0, 1, &nowhere));
  costs.push_back(
      Measure("off", "a metric where the recorder is off", seconds, [&](std::uint64_t n) {
        rw_guest_metric(off.get(), RW_GUEST_LOCAL_LOSS, static_cast<double>(n));
      }));
  costs.push_back(Measure("clock", "one reading of the clock, for comparison", seconds,
                          [](std::uint64_t) { (void)SystemClock().Now(); }));
  costs.push_back(MeasureHostSample(seconds));
  return costs;
}

}  // namespace

SubcommandInfo BenchTelemetryCommand::Info() const {
  return {.path = "bench telemetry",
          .group = "Tools",
          .summary = "measure what recording costs a training process",
          .details =
              "Times the calls of the recorder (docs/guest.md) on one thread. 'median' and "
              "'min' are over blocks of 1,000 calls, in nanoseconds of one call.",
          .example = "ringward bench telemetry",
          .exit_codes = {{3, "the recorder's shared memory cannot be had"}}};
}

void BenchTelemetryCommand::AddOptions(OptionTable& table) {
  table.Add("seconds", &seconds_, {.min = 0.001, .max = 3600}, "length of each measurement");
}

Result<int> BenchTelemetryCommand::Run(Context& context) {
  const Guest guest(rw_guest_open("bench", 0, 1, nullptr));
  if (const std::int32_t status = rw_guest_status(guest.get()); status != RW_GUEST_ON) {
    return Error(Code::kResource, std::string("the recorder is ") + rw_guest_status_text(status));
  }
  const std::vector<GuestCost> costs = MeasureAll(guest.get(), seconds_);
  if (context.common.json) {
    Json calls = Json::array();
    for (const GuestCost& c : costs) {
      calls.push_back({{"call", c.call}, {"ns_median", c.ns_median}, {"ns_min", c.ns_min}});
    }
    context.out.WriteJson({{"calls", std::move(calls)}});
    return kExitFine;
  }
  TablePrinter table({{"call", Align::kLeft},
                      {"median ns", Align::kRight},
                      {"min ns", Align::kRight},
                      {"what", Align::kLeft}});
  for (const GuestCost& c : costs) {
    table.AddRow(
        {c.call, fmt::format("{:.1f}", c.ns_median), fmt::format("{:.1f}", c.ns_min), c.what});
  }
  context.out.Write(table.ToString());
  return kExitFine;
}

}  // namespace ringward::cli
