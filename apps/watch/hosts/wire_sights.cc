#include <algorithm>
#include <optional>
#include <utility>

#include "watch/hosts/wire.h"
#include "watch/hosts/wire_fields.h"

namespace ringward::watch::wire {
namespace {

// The numbers are the format. A new field takes a new one; none is used again.
enum class SightsField : protozero::pbf_tag_type { kSight = 1 };
enum class SightField : protozero::pbf_tag_type {
  kJob = 1,
  kRank = 2,
  kWorld = 3,
  kPid = 4,
  kStartTime = 5,
  kLooked = 6,
  kPhase = 7,
  kSlow = 8,
  kFlags = 9,
  kStep = 10,
  kCollectives = 11,
  kCpuTicks = 12,
  kOverwritten = 13,
  kMalformed = 14,
  kStepRecord = 15,
  kMetricRecord = 16,
  kMachineValue = 17,
};
enum class StepField : protozero::pbf_tag_type {
  kEnd = 1,
  kStep = 2,
  kSteps = 3,
  kFlags = 4,
  kTotal = 5,
  kPhases = 6,
  kWaits = 7,
};
enum class MetricField : protozero::pbf_tag_type { kStep = 1, kMetric = 2, kCount = 3, kSum = 4 };
enum class ValueField : protozero::pbf_tag_type { kMetric = 1, kValue = 2 };

// Bits of SightField::kFlags.
constexpr std::uint32_t kStopped = 1;
constexpr std::uint32_t kEnded = 2;
constexpr std::uint32_t kClosed = 4;
constexpr std::uint32_t kInside = 8;
constexpr std::uint32_t kAnyStep = 16;

std::uint32_t FlagsOf(const RankSight& sight) {
  return (sight.stopped ? kStopped : 0U) | (sight.ended ? kEnded : 0U) |
         (sight.state.closed ? kClosed : 0U) | (sight.state.inside_collective ? kInside : 0U) |
         (sight.state.any_step ? kAnyStep : 0U);
}

void WriteStep(std::string& out, const telemetry::StepRecord& record) {
  protozero::pbf_builder<StepField> step(out);
  step.add_int64(StepField::kEnd, record.end_ns);
  step.add_uint64(StepField::kStep, record.step);
  step.add_uint32(StepField::kSteps, record.steps);
  step.add_uint32(StepField::kFlags, record.flags);
  step.add_uint64(StepField::kTotal, record.total_ns);
  step.add_packed_uint64(StepField::kPhases, std::begin(record.phase_ns),
                         std::end(record.phase_ns));
  const bool any = std::any_of(std::begin(record.wait_ns), std::end(record.wait_ns),
                               [](std::uint64_t ns) { return ns != 0; });
  if (any)
    step.add_packed_uint64(StepField::kWaits, std::begin(record.wait_ns), std::end(record.wait_ns));
}

void WriteMetric(std::string& out, const telemetry::MetricRecord& record) {
  protozero::pbf_builder<MetricField> metric(out);
  metric.add_uint64(MetricField::kStep, record.step);
  metric.add_uint32(MetricField::kMetric, record.metric);
  metric.add_uint32(MetricField::kCount, record.count);
  metric.add_double(MetricField::kSum, record.sum);
}

/// `part` is a buffer for the parts of it.
void WriteSight(std::string& out, std::string& part, const RankSight& sight) {
  protozero::pbf_builder<SightField> writer(out);
  writer.add_string(SightField::kJob, sight.who.job);
  writer.add_int32(SightField::kRank, sight.who.rank);
  writer.add_int32(SightField::kWorld, sight.who.world);
  writer.add_int32(SightField::kPid, sight.who.pid);
  writer.add_uint64(SightField::kStartTime, sight.who.start_time);
  writer.add_int64(SightField::kLooked, sight.looked.count());
  writer.add_uint32(SightField::kPhase, static_cast<std::uint32_t>(sight.state.phase));
  writer.add_uint32(SightField::kSlow, static_cast<std::uint32_t>(sight.state.slow));
  writer.add_uint32(SightField::kFlags, FlagsOf(sight));
  writer.add_uint64(SightField::kStep, sight.state.step);
  writer.add_uint64(SightField::kCollectives, sight.state.collectives_entered);
  writer.add_uint64(SightField::kCpuTicks, sight.cpu_ticks);
  if (sight.batch.overwritten != 0)
    writer.add_uint64(SightField::kOverwritten, sight.batch.overwritten);
  if (sight.batch.malformed != 0) writer.add_uint64(SightField::kMalformed, sight.batch.malformed);
  const auto add = [&](SightField field, const auto& write) {
    part.clear();
    write();
    writer.add_bytes(field, part);
  };
  for (const telemetry::StepRecord& record : sight.batch.steps)
    add(SightField::kStepRecord, [&] { WriteStep(part, record); });
  for (const telemetry::MetricRecord& record : sight.batch.metrics) {
    // Others have a number that means something in their process only.
    if (record.metric >= telemetry::kWellKnownMetrics) continue;
    add(SightField::kMetricRecord, [&] { WriteMetric(part, record); });
  }
  for (const MachineValue& value : sight.machine) {
    add(SightField::kMachineValue, [&] {
      protozero::pbf_builder<ValueField> machine(part);
      machine.add_uint32(ValueField::kMetric, signal::IdOf(value.metric));
      machine.add_double(ValueField::kValue, value.value);
    });
  }
}

void ReadPhases(protozero::pbf_message<StepField>& step, std::uint64_t (&to)[telemetry::kPhases]) {
  std::size_t at = 0;
  // Those that a later version may know are passed over.
  for (const std::uint64_t ns : step.get_packed_uint64()) {
    if (at < telemetry::kPhases) to[at++] = ns;
  }
}

telemetry::StepRecord ReadStep(protozero::data_view view) {
  telemetry::StepRecord record{};
  protozero::pbf_message<StepField> step(view);
  while (step.next()) {
    switch (step.tag_and_type()) {
      case Varint(StepField::kEnd):
        record.end_ns = TimeOf(step.get_int64()).count();
        break;
      case Varint(StepField::kStep):
        record.step = step.get_uint64();
        break;
      case Varint(StepField::kSteps):
        record.steps = step.get_uint32();
        break;
      case Varint(StepField::kFlags):
        record.flags = step.get_uint32();
        break;
      case Varint(StepField::kTotal):
        record.total_ns = step.get_uint64();
        break;
      case Bytes(StepField::kPhases):
        ReadPhases(step, record.phase_ns);
        break;
      case Bytes(StepField::kWaits):
        ReadPhases(step, record.wait_ns);
        break;
      default:
        step.skip();
    }
  }
  return record;
}

telemetry::MetricRecord ReadMetric(protozero::data_view view) {
  telemetry::MetricRecord record{};
  protozero::pbf_message<MetricField> metric(view);
  while (metric.next()) {
    switch (metric.tag_and_type()) {
      case Varint(MetricField::kStep):
        record.step = metric.get_uint64();
        break;
      case Varint(MetricField::kMetric):
        record.metric = metric.get_uint32();
        break;
      case Varint(MetricField::kCount):
        record.count = metric.get_uint32();
        break;
      case Fixed(MetricField::kSum):
        record.sum = metric.get_double();
        break;
      default:
        metric.skip();
    }
  }
  return record;
}

/// Nothing for a metric that this version does not know.
std::optional<MachineValue> ReadValue(protozero::data_view view) {
  std::uint32_t metric = signal::kKnownMetrics;
  double number = 0.0;
  protozero::pbf_message<ValueField> value(view);
  while (value.next()) {
    switch (value.tag_and_type()) {
      case Varint(ValueField::kMetric):
        metric = value.get_uint32();
        break;
      case Fixed(ValueField::kValue):
        number = value.get_double();
        break;
      default:
        value.skip();
    }
  }
  if (metric >= signal::kKnownMetrics) return std::nullopt;
  return MachineValue{static_cast<signal::Known>(metric), number};
}

void TakeFlags(std::uint32_t flags, RankSight& sight) {
  sight.stopped = (flags & kStopped) != 0;
  sight.ended = (flags & kEnded) != 0;
  sight.state.closed = (flags & kClosed) != 0;
  sight.state.inside_collective = (flags & kInside) != 0;
  sight.state.any_step = (flags & kAnyStep) != 0;
}

/// One of the lists of a sight; `room` is how many records the message may still hold. A field that
/// is none of them is passed over.
Status ReadRecord(protozero::pbf_message<SightField>& reader, RankSight& sight, std::size_t& room) {
  telemetry::SegmentBatch& batch = sight.batch;
  const std::uint32_t tag = reader.tag_and_type();
  const bool is_step = tag == Bytes(SightField::kStepRecord);
  const bool is_metric = tag == Bytes(SightField::kMetricRecord);
  if (!is_step && !is_metric && tag != Bytes(SightField::kMachineValue)) {
    reader.skip();
    return Ok();
  }
  if (room-- == 0 || batch.steps.size() > kSightStepsMost ||
      batch.metrics.size() > kSightMetricsMost || sight.machine.size() > kSightValuesMost) {
    return Error(Code::kCorrupt, "more records than a message may hold");
  }
  if (is_step) {
    const auto record = ReadStep(reader.get_view());
    if (record.steps > 0) batch.steps.push_back(record);
    if (record.steps == 0) ++batch.malformed;
  } else if (is_metric) {
    const auto record = ReadMetric(reader.get_view());
    if (record.count > 0) batch.metrics.push_back(record);
    if (record.count == 0) ++batch.malformed;
  } else if (const auto value = ReadValue(reader.get_view())) {
    sight.machine.push_back(*value);
  }
  return Ok();
}

/// The single numbers of a sight; false where the field is none of them.
bool ReadNumber(protozero::pbf_message<SightField>& reader, RankSight& sight) {
  switch (reader.tag_and_type()) {
    case Bytes(SightField::kJob):
      sight.who.job = TextOf(reader.get_view(), telemetry::kJobBytes - 1);
      return true;
    case Varint(SightField::kRank):
      sight.who.rank = reader.get_int32();
      return true;
    case Varint(SightField::kWorld):
      sight.who.world = reader.get_int32();
      return true;
    case Varint(SightField::kPid):
      sight.who.pid = reader.get_int32();
      return true;
    case Varint(SightField::kStartTime):
      sight.who.start_time = reader.get_uint64();
      return true;
    case Varint(SightField::kLooked):
      sight.looked = TimeOf(reader.get_int64());
      return true;
    case Varint(SightField::kStep):
      sight.state.step = reader.get_uint64();
      return true;
    case Varint(SightField::kCollectives):
      sight.state.collectives_entered = reader.get_uint64();
      return true;
    case Varint(SightField::kCpuTicks):
      sight.cpu_ticks = reader.get_uint64();
      return true;
    case Varint(SightField::kOverwritten):
      sight.batch.overwritten = reader.get_uint32();
      return true;
    case Varint(SightField::kMalformed):
      sight.batch.malformed += reader.get_uint32();
      return true;
    default:
      return false;
  }
}

Result<RankSight> ReadSight(protozero::data_view view, std::size_t& room) {
  RankSight sight;
  // What a later version may call a phase is none of ours.
  const auto below = [](std::uint32_t value, std::size_t most) { return value < most ? value : 0; };
  protozero::pbf_message<SightField> reader(view);
  while (reader.next()) {
    if (ReadNumber(reader, sight)) continue;
    switch (reader.tag_and_type()) {
      case Varint(SightField::kPhase):
        sight.state.phase =
            static_cast<telemetry::Phase>(below(reader.get_uint32(), telemetry::kPhases));
        break;
      case Varint(SightField::kSlow):
        sight.state.slow =
            static_cast<telemetry::SlowReason>(below(reader.get_uint32(), telemetry::kSlowReasons));
        break;
      case Varint(SightField::kFlags):
        TakeFlags(reader.get_uint32(), sight);
        break;
      default:
        RINGWARD_TRY(ReadRecord(reader, sight, room));
    }
  }
  const telemetry::SegmentInfo& who = sight.who;
  if (who.rank < 0 || who.rank >= who.world || who.pid <= 0)
    return Error(Code::kCorrupt, "rank, world or pid out of range");
  return sight;
}

}  // namespace

void WriteSights(std::string& out, std::span<const RankSight> sights) {
  protozero::pbf_builder<SightsField> writer(out);
  std::string whole;
  std::string part;
  for (const RankSight& sight : sights) {
    whole.clear();
    WriteSight(whole, part, sight);
    writer.add_bytes(SightsField::kSight, whole);
  }
}

Result<std::vector<RankSight>> ReadSights(std::string_view plain) {
  std::vector<RankSight> sights;
  std::size_t room = kAgentRecordsMost;
  protozero::pbf_message<SightsField> reader(plain.data(), plain.size());
  while (reader.next()) {
    if (reader.tag_and_type() != Bytes(SightsField::kSight)) {
      reader.skip();
      continue;
    }
    if (sights.size() == kAgentSightsMost)
      return Error(Code::kCorrupt, "more ranks than a message may hold");
    RINGWARD_ASSIGN(RankSight sight, ReadSight(reader.get_view(), room));
    sights.push_back(std::move(sight));
  }
  return sights;
}

}  // namespace ringward::watch::wire
