// Prints as JSON what a segment holds: who writes it, where it is now, and its records.
//
//   guest_reader SEGMENT
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "telemetry/segment_reader.h"

using nlohmann::json;
using namespace ringward::telemetry;

namespace {

json InfoJson(const SegmentInfo& info) {
  return {{"job", info.job}, {"rank", info.rank}, {"world", info.world}, {"pid", info.pid}};
}

json StateJson(const SegmentState& state) {
  return {{"consistent", state.consistent},
          {"closed", state.closed},
          {"phase", static_cast<int>(state.phase)},
          {"in_step", state.in_step},
          {"step", state.step},
          {"slow", static_cast<int>(state.slow)},
          {"inside_collective", state.inside_collective},
          {"collective_number", state.collective_number},
          {"operation", state.operation},
          {"dropped_busy", state.dropped_busy},
          {"dropped_misuse", state.dropped_misuse}};
}

json BatchJson(SegmentReader& reader, const SegmentBatch& batch) {
  json out = {{"overwritten", batch.overwritten},
              {"malformed", batch.malformed},
              {"steps", json::array()},
              {"metrics", json::array()},
              {"collectives", json::array()}};
  for (const StepRecord& r : batch.steps) {
    out["steps"].push_back({{"step", r.step},
                            {"steps", r.steps},
                            {"flags", r.flags},
                            {"total_ns", r.total_ns},
                            {"collectives", r.collectives},
                            {"phase_ns", r.phase_ns},
                            {"wait_ns", r.wait_ns}});
  }
  for (const MetricRecord& r : batch.metrics) {
    out["metrics"].push_back({{"name", reader.MetricName(r.metric)},
                              {"step", r.step},
                              {"count", r.count},
                              {"last", r.last},
                              {"sum", r.sum}});
  }
  for (const CollectiveRecord& r : batch.collectives) {
    out["collectives"].push_back({{"operation", reader.OperationName(r.operation)},
                                  {"number", r.number},
                                  {"count", r.count},
                                  {"bytes", r.bytes},
                                  {"inside_ns", r.inside_ns},
                                  {"flags", r.flags}});
  }
  return out;
}

ringward::Result<json> Dump(const std::string& path) {
  RINGWARD_ASSIGN(SegmentReader reader, SegmentReader::Open(path));
  RINGWARD_ASSIGN(const SegmentState state, reader.State());
  RINGWARD_ASSIGN(const SegmentBatch batch, reader.Read());
  json out = BatchJson(reader, batch);
  out["info"] = InfoJson(reader.info());
  out["state"] = StateJson(state);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto dump = Dump(argv[1]);
  if (!dump) {
    std::cerr << dump.error().what() << "\n";
    return 1;
  }
  std::cout << dump->dump() << "\n";
  return 0;
}
