#include "detect/log_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::LogLine;

std::string PlaceOf(const signal::Evidence& where) {
  return fmt::format("{}:{}: {}", where.file, where.line, where.text);
}

/// Those that the job has.
std::vector<std::int32_t> Existing(const std::vector<std::int32_t>& ranks, std::size_t world) {
  std::vector<std::int32_t> existing;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(existing), [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < world;
  });
  std::sort(existing.begin(), existing.end());
  return existing;
}

/// Whatever a source says.
double SecondsOf(const LogLine& line) {
  constexpr double kMost = 1e9;
  return line.seconds >= 0.0 && line.seconds <= kMost ? line.seconds : 0.0;
}

std::string StallText(const LogLine& line, const std::vector<std::int32_t>& ranks) {
  if (line.kind == LogLine::Kind::kDiffers) {
    return ranks.empty() ? "ranks are in different collectives, and wait for one another"
                         : fmt::format("rank {} is in another collective than the others",
                                       fmt::join(ranks, ", "));
  }
  return fmt::format(
      "rank {} has stayed out of collectives for more than {:.3g} s, the others wait",
      fmt::join(ranks, ", "), SecondsOf(line));
}

}  // namespace

void LogLinesDetector::TellStall(const LogLine& line, signal::Time at, FindingSink& sink) {
  std::vector<std::int32_t> ranks = Existing(line.ranks, world_);
  // It is said again and again while it lasts.
  if (stall_.id != 0 && stall_.ranks == ranks) return;
  if (stall_.id == 0) {
    stall_ = sink.New(FindingKind::kRankStalled, "log-lines", step_ + 1, at);
    stall_.place = line.where;
  }
  stall_.evidence = StallText(line, ranks) + "; " + PlaceOf(line.where);
  stall_.ranks = std::move(ranks);
  stall_.effect = stall_.lost_seconds = SecondsOf(line);
  sink.Add(stall_);
}

void LogLinesDetector::TellError(const LogLine& line, signal::Time at, FindingSink& sink) const {
  signal::Finding finding = sink.New(FindingKind::kRankError, "log-lines", step_, at);
  finding.ranks = Existing(line.ranks, world_);
  finding.category = line.category;
  finding.over = true;
  finding.place = line.where;
  finding.evidence = PlaceOf(line.where);
  sink.Add(std::move(finding));
}

void LogLinesDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                               FindingSink& sink) {
  step_ = frame.step;
  // A frame of the look in which the text was read may have ended before the stall.
  if (stall_.id != 0 && frame.received > stall_.at) sink.Close(stall_, frame.received);
}

void LogLinesDetector::OnEvent(const signal::Event& event, const Surroundings& /*around*/,
                               FindingSink& sink) {
  const auto* const line = std::get_if<LogLine>(&event.what);
  if (line == nullptr) return;
  if (line->kind == LogLine::Kind::kFailed) {
    TellError(*line, event.received, sink);
  } else {
    TellStall(*line, event.received, sink);
  }
}

}  // namespace ringward::detect
