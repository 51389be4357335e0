#include "recording/event_rules.h"

#include <algorithm>
#include <type_traits>

#include "recording/schema.h"

namespace ringward::recording {

const char* EventRules::Check(const signal::Event& event) {
  if (last_ && event.number <= *last_) return "its number does not follow";
  if (event.number > kEventMax) return "its number is too high";
  if (event.received.count() < 0 || event.received.count() > kTimeMax) {
    return "its time is out of range";
  }
  if (received_ && event.received < *received_) return "its time goes back";
  if (const char* why = CheckWhat(event)) return why;
  last_ = event.number;
  received_ = event.received;
  if (const auto* frame = std::get_if<signal::Frame>(&event.what)) step_ = frame->step;
  if (const auto* job = std::get_if<signal::JobOpened>(&event.what)) {
    world_ = job->topology.world();
    step_.reset();
  }
  return nullptr;
}

const char* EventRules::CheckWhat(const signal::Event& event) const {
  return std::visit(
      [this](const auto& what) -> const char* {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, signal::JobOpened>) {
          return what.topology.world() > kRanksMax ? "more ranks than a recording holds" : nullptr;
        } else if constexpr (std::is_same_v<T, signal::JobClosed>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, signal::Frame>) {
          return CheckFrame(what);
        } else if constexpr (std::is_same_v<T, signal::Progress>) {
          if (static_cast<std::size_t>(what.phase) >= signal::kPhases) return "no such phase";
          return IsRank(what.rank) ? nullptr : "no such rank";
        } else if constexpr (std::is_same_v<T, signal::RankEnded>) {
          return IsRank(what.rank) ? nullptr : "no such rank";
        } else if constexpr (std::is_same_v<T, signal::LogLine>) {
          return CheckLogLine(what);
        } else {
          const bool sound = what.ranks.size() <= world_ &&
                             std::all_of(what.ranks.begin(), what.ranks.end(),
                                         [this](std::int32_t rank) { return IsRank(rank); });
          return sound ? nullptr : "no such rank";
        }
      },
      event.what);
}

const char* EventRules::CheckLogLine(const signal::LogLine& line) const {
  constexpr double kSecondsMost = 1e9;
  const bool words = static_cast<std::size_t>(line.kind) < signal::LogLine::kKinds &&
                     static_cast<std::size_t>(line.category) < signal::kCategories &&
                     line.seconds >= 0.0 && line.seconds <= kSecondsMost;
  if (!words) return "a log says no such thing";
  if (line.where.file.find('\n') != std::string::npos) return "no file is called so";
  const bool sound = line.ranks.size() <= world_ &&
                     std::all_of(line.ranks.begin(), line.ranks.end(),
                                 [this](std::int32_t rank) { return IsRank(rank); });
  return sound ? nullptr : "no such rank";
}

const char* EventRules::CheckFrame(const signal::Frame& frame) const {
  if (step_ && frame.step <= *step_) return "its step does not follow";
  if (frame.steps < 1) return "it sums no step";
  if (frame.columns.size() > kColumnsMax) return "more metrics than a frame holds";
  for (const signal::Column& column : frame.columns) {
    if (column.values.size() != world_) return "a column has not one value for each rank";
  }
  return nullptr;
}

}  // namespace ringward::recording
