#include "learn/telemetry/table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// Steps around an incident that are left out with it: it began before it was certain, and a rank's
/// past needs a while to be usual again.
constexpr std::int64_t kMarginBefore = 32;
constexpr std::size_t kMarginAfter = 64;

}  // namespace

const Schema& TelemetrySchema() {
  static const Schema kSchema = [] {
    auto schema = MakeSchema(TelemetryFeatureNames(), true, std::string(kTelemetryFeatures), {});
    RINGWARD_CHECK(static_cast<bool>(schema));
    return *std::move(schema);
  }();
  return kSchema;
}

Block TelemetryBlock(std::span<const float> rows) {
  Block block;
  block.slots = TelemetryFeatureNames().size();
  block.rows = rows.size() / block.slots;
  block.numbers.assign(rows.begin(), rows.end());
  block.texts.resize(block.slots);
  block.file = kTelemetryFeatures;
  return block;
}

bool TelemetryTable::InTrouble() const {
  return std::any_of(open_.begin(), open_.end(), [](const auto& entry) { return entry.second; });
}

void TelemetryTable::LeaveOut(std::int64_t from) {
  while (!steps_.empty() && steps_.back().step >= from) {
    rows_ -= steps_.back().rows.size() / TelemetryFeatureNames().size();
    steps_.pop_back();
    ++left_out_;
  }
}

void TelemetryTable::Thin() {
  stride_ *= 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < steps_.size(); i += 2) std::swap(steps_[kept++], steps_[i]);
  steps_.resize(kept);
  rows_ = 0;
  for (const auto* part : {&done_, &steps_}) {
    for (const Step& step : *part) rows_ += step.rows.size() / TelemetryFeatureNames().size();
  }
}

void TelemetryTable::TakeFrame(const signal::Frame& frame) {
  if (features_.empty()) {
    std::size_t world = 0;
    for (const signal::Column& column : frame.columns)
      world = std::max(world, column.values.size());
    features_.emplace_back(world);
  }
  TelemetryFeatures& features = features_.front();
  if (!features.Take(frame)) return;
  if (InTrouble()) {
    calm_ = 0;
    any_trouble_ = true;
  } else {
    ++calm_;
  }
  if (any_trouble_ && calm_ <= kMarginAfter) {
    ++left_out_;
    return;
  }
  if (frames_++ % stride_ != 0) return;
  Step step{.step = frame.step};
  for (std::size_t r = 0; r < features.world(); ++r) {
    const auto row = features.row(r);
    if (features.has(r)) step.rows.insert(step.rows.end(), row.begin(), row.end());
  }
  rows_ += step.rows.size() / TelemetryFeatureNames().size();
  steps_.push_back(std::move(step));
  if (rows_ > rows_max_ && steps_.size() > 1) Thin();
}

void TelemetryTable::Take(const signal::Event& event, std::span<const signal::Cause> changed) {
  if (const auto* opened = std::get_if<signal::JobOpened>(&event.what)) {
    std::move(steps_.begin(), steps_.end(), std::back_inserter(done_));
    steps_.clear();
    features_.clear();
    features_.emplace_back(opened->topology.world());
    open_.clear();
  }
  for (const signal::Cause& cause : changed) {
    if (!signal::IsIncident(cause)) continue;
    if (!open_.insert_or_assign(cause.id, !cause.over).second) continue;
    LeaveOut(cause.since_step - kMarginBefore);
    any_trouble_ = true;
    calm_ = 0;
  }
  if (const auto* frame = std::get_if<signal::Frame>(&event.what)) TakeFrame(*frame);
}

Block TelemetryTable::Finish(const std::string& file) {
  std::move(steps_.begin(), steps_.end(), std::back_inserter(done_));
  steps_.clear();
  std::vector<float> rows;
  for (const Step& step : done_) rows.insert(rows.end(), step.rows.begin(), step.rows.end());
  Block block = TelemetryBlock(rows);
  block.file = file;
  return block;
}

}  // namespace ringward::learn
