// Any bytes as step tables of ranks, and what they hold through the whole watching path. The first
// byte chooses the files' names, and whether there are one or two.
#include "ingest/step_csv/step_csv.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "io/byte_source.h"
#include "pipeline/pipeline.h"

using namespace ringward;

namespace {

constexpr std::size_t kRanksMost = 64;  // what is worth watching here
constexpr std::size_t kEventsMost = 400;

bool Add(ingest::StepTable& table, std::string text, const char* name) {
  ingest::InputReport report;
  const auto added = table.Add(io::FromMemory(std::move(text), name), report);
  return added && *added;
}

/// A job first, then frames of all ranks whose steps rise and whose times do not go back.
void CheckEvents(const std::vector<signal::Event>& events, std::size_t world) {
  RINGWARD_CHECK(!events.empty());
  const auto* opened = std::get_if<signal::JobOpened>(&events[0].what);
  RINGWARD_CHECK(opened != nullptr && opened->topology.world() == world);
  for (std::size_t i = 1; i < events.size(); ++i) {
    const auto* frame = std::get_if<signal::Frame>(&events[i].what);
    RINGWARD_CHECK(frame != nullptr && events[i].received == frame->received);
    RINGWARD_CHECK(events[i].received >= events[i - 1].received);
    for (const signal::Column& column : frame->columns)
      RINGWARD_CHECK(column.values.size() == world);
    const auto* before = std::get_if<signal::Frame>(&events[i - 1].what);
    RINGWARD_CHECK(before == nullptr || before->step < frame->step);
  }
}

void Watch(const std::vector<signal::Event>& events, std::size_t world) {
  pipeline::State state({});
  const std::size_t count = std::min(events.size(), kEventsMost);
  for (const signal::Event& event : std::span(events).first(count)) {
    for (const auto& finding :
         pipeline::Step(state, std::span(&event, 1), event.received).findings) {
      for (const std::int32_t rank : finding.ranks)
        RINGWARD_CHECK(rank >= 0 && static_cast<std::size_t>(rank) < world);
    }
  }
  pipeline::Finish(state, events[count - 1].received);
  RINGWARD_CHECK(state.detectors.dropped_frames() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ingest::StepTable table;
  if ((data[0] & 2U) != 0) {
    Add(table, text.substr(text.size() / 2), "rank1.csv");
    text.resize(text.size() / 2);
  }
  Add(table, std::move(text), (data[0] & 1U) != 0 ? "rank0.csv" : "steps.csv");
  if (table.empty() || !table.CheckRanks()) return 0;
  const auto events = table.Events();
  CheckEvents(events, table.world());
  if (table.world() <= kRanksMost) Watch(events, table.world());
  return 0;
}
