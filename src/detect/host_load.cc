#include "detect/host_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::Known;

constexpr float kBusyExcess = 0.2F;              // share of the time without a core over the usual
constexpr float kBusyShare = 0.5F;               // or at all
constexpr float kSwapBytes = 4.0F * 1048576.0F;  // a second: less disturbs nobody
constexpr int kYesReports = 5;                   // in a row, about a second each
constexpr int kNoReports = 10;

/// The largest value of the ranks; negative where none reports.
float LargestOf(const signal::Column* column, const std::vector<std::int32_t>& ranks) {
  float largest = -1.0F;
  for (const std::int32_t rank : ranks) {
    const auto r = static_cast<std::size_t>(rank);
    if (column != nullptr && r < column->values.size() && std::isfinite(column->values[r]))
      largest = std::max(largest, column->values[r]);
  }
  return largest;
}

}  // namespace

HostLoadDetector::HostLoadDetector(const signal::Topology& topology,
                                   const DetectOptions& /*options*/)
    : topology_(topology),
      hosts_(topology.ByHost()),
      starvation_(topology.world()),
      state_(hosts_.size()) {
  for (std::size_t h = 0; h < hosts_.size(); ++h) state_[h].heard.assign(hosts_[h].size(), 0);
}

bool HostLoadDetector::Observe(State& state, bool yes, const signal::Frame& frame,
                               FindingSink& sink) {
  if (!yes) {
    state.yes = 0;
    if (state.told.id != 0 && ++state.no >= kNoReports) sink.Close(state.told, frame.received);
    return false;
  }
  state.no = 0;
  if (++state.yes == 1) state.since_step = frame.step;
  return state.yes >= kYesReports && state.told.id == 0;
}

void HostLoadDetector::Tell(std::size_t host, State& state, signal::Finding finding,
                            FindingSink& sink) {
  finding.ranks = hosts_[host];
  finding.host = topology_.place(static_cast<std::size_t>(hosts_[host].front())).host;
  finding.since_step = state.since_step;
  finding.p_value = 1e-6;
  state.told = finding;
  sink.Add(std::move(finding));
}

/// Judged when every rank that tells of late has told again: so each report of each rank counts
/// once.
void HostLoadDetector::ObserveCores(std::size_t h, const signal::Frame& frame, FindingSink& sink) {
  Host& host = state_[h];
  bool all = true;
  bool any = false;
  for (std::size_t i = 0; i < hosts_[h].size(); ++i) {
    const auto rank = static_cast<std::size_t>(hosts_[h][i]);
    if (starvation_.told(rank) && host.heard[i] == 0) {
      host.heard[i] = 1;
      const float share = starvation_.share(rank);
      host.least = std::min(host.least, share);
      const bool known = starvation_.knows_usual(rank);
      host.least_excess =
          std::min(host.least_excess, known ? share - starvation_.usual(rank) : 0.0F);
    }
    any = any || host.heard[i] != 0;
    all = all && (host.heard[i] != 0 || !starvation_.tells(rank, frame.received));
  }
  if (!any || !all) return;
  const bool busy = host.least_excess > kBusyExcess || host.least > kBusyShare;
  if (Observe(host.busy, busy, frame, sink)) {
    auto finding = sink.New(FindingKind::kHostBusy, "host-load", frame.step, frame.received);
    finding.effect = static_cast<double>(host.least);
    finding.evidence = fmt::format(
        "every rank on the host has no core for {:.0f} % of the time or more", 100.0F * host.least);
    const float pressure = LargestOf(frame.Find(Known::kCpuPressure), hosts_[h]);
    if (pressure >= 0.0F)
      finding.evidence +=
          fmt::format("; something waits for one {:.0f} % of the time", 100.0F * pressure);
    Tell(h, host.busy, std::move(finding), sink);
  }
  if (!busy) {
    for (const std::int32_t rank : hosts_[h]) starvation_.Learn(static_cast<std::size_t>(rank));
  }
  host.heard.assign(host.heard.size(), 0);
  host.least = host.least_excess = 1.0F;
}

void HostLoadDetector::ObserveSwap(std::size_t h, const signal::Frame& frame, FindingSink& sink) {
  const float bytes = LargestOf(frame.Find(Known::kSwapBytes), hosts_[h]);
  if (bytes < 0.0F) return;
  State& state = state_[h].swaps;
  if (!Observe(state, bytes > kSwapBytes, frame, sink)) return;
  auto finding = sink.New(FindingKind::kHostSwaps, "host-load", frame.step, frame.received);
  finding.effect = static_cast<double>(bytes);
  finding.evidence =
      fmt::format("the host moves {:.3g} MiB/s between memory and swap", bytes / 1048576.0F);
  Tell(h, state, std::move(finding), sink);
}

void HostLoadDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                               FindingSink& sink) {
  starvation_.Read(frame);
  const bool cores = frame.Find(Known::kRunWait) != nullptr;
  const bool swap = frame.Find(Known::kSwapBytes) != nullptr;
  for (std::size_t h = 0; h < hosts_.size() && (cores || swap); ++h) {
    if (cores) ObserveCores(h, frame, sink);
    if (swap) ObserveSwap(h, frame, sink);
  }
}

void HostLoadDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Host& host : state_) {
    sink.Close(host.busy.told, now);
    sink.Close(host.swaps.told, now);
  }
}

}  // namespace ringward::detect
