#include "detect/liveness.h"

#include <fmt/format.h>

#include <algorithm>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::IsMissing;

constexpr double kStallSeconds = 5.0;
constexpr float kStallSteps = 20.0F;      // and so many typical steps
constexpr float kOthersShare = 0.2F;      // of a stalled rank's self time that the median rank has
constexpr float kStallTimes = 3.0F;       // and so many times the longest self time so far
constexpr int kMissingFrames = 4;         // in a row, before we call ourselves blind
constexpr int kMissingOnReturn = 64;      // of a rank we were blind to: what it did then is lost
constexpr double kGapFactor = 1.5;        // over the longest gap between frames so far
constexpr double kFirstStepFactor = 6.0;  // over the silence that counts in later steps
constexpr double kAllWaitFactor = 2.5;    // the same, where nobody is outside the collective

bool Moved(const signal::Progress& a, const signal::Progress& b) {
  return a.step != b.step || a.phase != b.phase || a.sequence != b.sequence ||
         a.in_collective != b.in_collective;
}

/// "ranks 2-3, 7"; of many ranges the first.
std::string RangesOf(const std::vector<std::int32_t>& ranks) {
  constexpr int kShown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  int shown = 0;
  for (std::size_t at = 0; at < ranks.size() && shown <= kShown; ++shown) {
    std::size_t end = at;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (shown > 0) text += ", ";
    if (shown == kShown) {
      text += fmt::format("and {} more", ranks.size() - at);
    } else {
      text +=
          end == at ? fmt::format("{}", ranks[at]) : fmt::format("{}-{}", ranks[at], ranks[end]);
    }
    at = end + 1;
  }
  return text;
}

std::string EndOf(const signal::RankEnded& ended, std::int64_t step) {
  if (ended.signal != 0)
    return fmt::format("rank {} was ended by signal {} after step {}", ended.rank, ended.signal,
                       step);
  if (ended.exit_status == signal::RankEnded::kUnknown)
    return fmt::format("the process of rank {} is gone after step {}", ended.rank, step);
  return fmt::format("rank {} left with exit status {} after step {}", ended.rank,
                     ended.exit_status, step);
}

}  // namespace

LivenessDetector::LivenessDetector(const signal::Topology& topology, const DetectOptions& options)
    : options_(options),
      topology_(topology),
      world_(topology.world()),
      standing_(topology.world()) {}

bool LivenessDetector::Exists(std::int32_t rank) const {
  return rank >= 0 && static_cast<std::size_t>(rank) < world_;
}

void LivenessDetector::FindStalled(const signal::Frame& frame, FindingSink& sink) {
  if (frame.expected_slow || !times_.Read(frame, world_) || !times_.has_wait()) return;
  const std::span<const float> self = times_.self();
  std::vector<float> known;
  std::size_t slowest = 0;
  for (std::size_t r = 0; r < world_; ++r) {
    if (IsMissing(self[r])) continue;
    known.push_back(self[r]);
    if (IsMissing(self[slowest]) || self[r] > self[slowest]) slowest = r;
  }
  const bool enough = steps_.size() >= 8 && known.size() >= 2;
  if (enough) {
    const float limit = std::max({static_cast<float>(kStallSeconds), kStallSteps * steps_.Median(),
                                  kStallTimes * longest_self_});
    longest_self_ = std::max(longest_self_, self[slowest]);
    if (self[slowest] > limit && MedianInPlace(known) < kOthersShare * self[slowest]) {
      signal::Finding finding =
          sink.New(FindingKind::kRankStalled, "liveness", frame.step, frame.received);
      finding.ranks = {static_cast<std::int32_t>(slowest)};
      finding.effect = static_cast<double>(self[slowest] / steps_.Median());
      finding.lost_seconds = static_cast<double>(self[slowest]);
      finding.over = true;
      finding.evidence = fmt::format(
          "rank {} stayed out of the collective for {:.1f} s at step {}, where a step takes {:.3g} "
          "s; the others waited",
          slowest, self[slowest], frame.step, steps_.Median());
      sink.Add(std::move(finding));
      return;  // such a step is no measure of steps
    }
  }
  steps_.Add(times_.typical_step());
}

void LivenessDetector::FindMissing(const signal::Frame& frame, FindingSink& sink) {
  std::vector<char> there(world_, 0);
  for (const signal::Column& column : frame.columns) {
    for (std::size_t r = 0; r < std::min(world_, column.values.size()); ++r) {
      if (!IsMissing(column.values[r])) there[r] = 1;
    }
  }
  std::vector<std::int32_t> lost;
  std::vector<std::int32_t> back;
  for (std::size_t r = 0; r < world_; ++r) {
    Standing& standing = standing_[r];
    if (there[r] != 0) {
      standing.seen = true;
      standing.late = false;
      standing.missing = 0;
      if (standing.lost) back.push_back(static_cast<std::int32_t>(r));
    } else if (standing.seen && !standing.ended && !standing.blind &&
               ++standing.missing == (standing.late ? kMissingOnReturn : kMissingFrames) &&
               !standing.lost) {
      lost.push_back(static_cast<std::int32_t>(r));
    }
  }
  if (!lost.empty()) MarkLost(lost, true, frame.received, sink);
  if (!back.empty()) MarkLost(back, false, frame.received, sink);
}

void LivenessDetector::MarkLost(const std::vector<std::int32_t>& ranks, bool lost, signal::Time at,
                                FindingSink& sink) {
  for (const std::int32_t rank : ranks) {
    if (!Exists(rank)) continue;
    Standing& standing = standing_[static_cast<std::size_t>(rank)];
    if (standing.lost == lost) continue;
    standing.lost = lost;
    signal::Finding& told = lost_[rank];
    if (lost) {
      told = sink.New(FindingKind::kSourceLost, "liveness", step_, at);
      told.ranks = {rank};
      told.evidence = fmt::format(
          "no reports of rank {} since about step {}, while the job goes on", rank, step_);
      sink.Add(told);
    } else {
      sink.Close(told, at);
      lost_.erase(rank);
    }
  }
}

/// One finding a host: what is away is its agent.
void LivenessDetector::GoBlind(const std::vector<std::int32_t>& ranks, signal::Time at,
                               FindingSink& sink) {
  std::map<std::string, std::vector<std::int32_t>> by_host;
  for (const std::int32_t rank : ranks) {
    if (!Exists(rank) || standing_[static_cast<std::size_t>(rank)].blind) continue;
    standing_[static_cast<std::size_t>(rank)].blind = true;
    by_host[topology_.place(static_cast<std::size_t>(rank)).host].push_back(rank);
  }
  for (auto& [host, mine] : by_host) {
    std::sort(mine.begin(), mine.end());
    signal::Finding finding = sink.New(FindingKind::kBlind, "liveness", step_, at);
    finding.host = host;
    finding.evidence =
        fmt::format("blind to {} on {} since about step {}: its agent is silent", RangesOf(mine),
                    host.empty() ? "a host without a name" : host, step_);
    finding.ranks = std::move(mine);
    sink.Add(finding);
    blind_.push_back(std::move(finding));
  }
}

/// Another process takes the place of one that ended: what was known of that is void.
void LivenessDetector::StartAnew(Standing& standing, std::int32_t rank) {
  standing = {};
  standing.last.rank = rank;
  standing.known = true;
}

void LivenessDetector::SeeAgain(const std::vector<std::int32_t>& ranks, signal::Time at,
                                FindingSink& sink) {
  for (const std::int32_t rank : ranks) {
    if (!Exists(rank)) continue;
    Standing& standing = standing_[static_cast<std::size_t>(rank)];
    standing.blind = false;
    standing.late = true;
    standing.missing = 0;
    if (standing.ended) StartAnew(standing, rank);
    if (standing.known) standing.moved = standing.heard = at;
  }
  std::erase_if(blind_, [&](signal::Finding& told) {
    const bool still = std::any_of(told.ranks.begin(), told.ranks.end(), [&](std::int32_t rank) {
      return standing_[static_cast<std::size_t>(rank)].blind;
    });
    if (!still) sink.Close(told, at);
    return !still;
  });
}

void LivenessDetector::CloseSilence(signal::Time now, FindingSink& sink) {
  if (silence_.id == 0) return;
  silence_.over = true;
  silence_.lost_seconds = signal::Seconds(now - silent_since_);
  silence_.at = now;
  sink.Add(std::exchange(silence_, {}));
}

void LivenessDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                               FindingSink& sink) {
  CloseSilence(frame.received, sink);
  if (step_ >= 0 && !frame.expected_slow) {
    longest_gap_ = std::max(longest_gap_, signal::Seconds(frame.received - last_frame_));
  }
  step_ = frame.step;
  last_frame_ = frame.received;
  FindStalled(frame, sink);
  FindMissing(frame, sink);
}

void LivenessDetector::Heard(const signal::Progress& progress, signal::Time at) {
  if (!Exists(progress.rank)) return;
  Standing& standing = standing_[static_cast<std::size_t>(progress.rank)];
  if (!standing.known || Moved(standing.last, progress)) standing.moved = at;
  standing.last = progress;
  standing.heard = at;
  standing.known = true;
}

void LivenessDetector::OnEvent(const signal::Event& event, const Surroundings& /*around*/,
                               FindingSink& sink) {
  if (const auto* progress = std::get_if<signal::Progress>(&event.what)) {
    Heard(*progress, event.received);
  } else if (const auto* ended = std::get_if<signal::RankEnded>(&event.what)) {
    if (!Exists(ended->rank)) return;
    standing_[static_cast<std::size_t>(ended->rank)].ended = true;
    MarkLost({ended->rank}, false, event.received, sink);  // it is known now where it is
    if (ended->exit_status == 0 && ended->signal == 0) return;
    signal::Finding finding = sink.New(FindingKind::kRankEnded, "liveness", step_, event.received);
    finding.ranks = {ended->rank};
    finding.effect = ended->signal;
    finding.over = true;
    finding.evidence = EndOf(*ended, step_);
    sink.Add(std::move(finding));
  } else if (const auto* lost = std::get_if<signal::SourceLost>(&event.what)) {
    GoBlind(lost->ranks, event.received, sink);
  } else if (const auto* back = std::get_if<signal::SourceBack>(&event.what)) {
    SeeAgain(back->ranks, event.received, sink);
  } else if (std::holds_alternative<signal::JobClosed>(event.what)) {
    closed_ = true;
  }
}

bool LivenessDetector::IsSilent(const Standing& standing, std::uint64_t sequence,
                                signal::Time now) const {
  if (standing.ended || standing.lost || standing.blind) return false;
  if (!standing.known) return standing.seen;
  const bool quiet = signal::Seconds(now - standing.moved) >= options_.silence_seconds;
  // One that is stopped inside the collective keeps the others in it, wherever it got to.
  const bool waits =
      standing.last.in_collective && standing.last.sequence >= sequence && !standing.last.idle;
  const bool slow = standing.last.phase == signal::Phase::kEvaluate ||
                    standing.last.phase == signal::Phase::kCheckpoint;
  return quiet && !waits && (!slow || standing.last.idle);
}

LivenessDetector::Waiting LivenessDetector::WhoWaits() const {
  Waiting waiting;
  for (const Standing& standing : standing_) {
    const bool waits = standing.known && standing.last.in_collective && !standing.last.idle;
    if (!waits || standing.blind) continue;
    const bool none = waiting.count++ == 0;
    waiting.sequence = std::max(waiting.sequence, standing.last.sequence);
    waiting.first = none ? standing.last.sequence : std::min(waiting.first, standing.last.sequence);
    waiting.since = none ? standing.moved : std::min(waiting.since, standing.moved);
    waiting.last = std::max(waiting.last, standing.moved);
  }
  return waiting;
}

void LivenessDetector::Open(signal::Finding finding, signal::Time since, FindingSink& sink) {
  finding.effect = signal::Seconds(finding.at - since);
  silence_ = finding;
  silent_since_ = since;
  sink.Add(std::move(finding));
}

void LivenessDetector::OnTime(signal::Time now, const Surroundings& /*around*/, FindingSink& sink) {
  if (closed_ || silence_.id != 0) return;
  const Waiting waiting = WhoWaits();
  if (waiting.count == 0) return;
  TellSilent(waiting, now, sink);
  if (silence_.id == 0) TellAllWait(waiting, now, sink);
}

/// A rank that is stopped is told at once; one that may be at work gets as long as work ever took.
void LivenessDetector::TellSilent(const Waiting& waiting, signal::Time now, FindingSink& sink) {
  const bool first_step = step_ < 0;
  const double patience = options_.silence_seconds * (first_step ? kFirstStepFactor : 1.0);
  if (signal::Seconds(now - waiting.since) < patience) return;
  const signal::Time since = first_step ? waiting.since : last_frame_;
  const double gap = signal::Seconds(now - since);
  std::vector<std::int32_t> silent;
  bool stopped = true;
  for (std::size_t r = 0; r < world_; ++r) {
    if (!IsSilent(standing_[r], waiting.sequence, now)) continue;
    silent.push_back(static_cast<std::int32_t>(r));
    stopped = stopped && standing_[r].known && standing_[r].last.idle;
  }
  const bool overdue = !first_step && gap > std::max(patience, kGapFactor * longest_gap_);
  // Nobody in sight keeps the others: then it is somebody who is not.
  std::string host;
  const bool unseen = silent.empty();
  if (unseen) silent = BlindRanks(host);
  const bool certain = unseen ? overdue : stopped || overdue;
  if (silent.empty() || 2 * silent.size() > world_ || !certain) return;
  signal::Finding finding = sink.New(unseen ? FindingKind::kHostLost : FindingKind::kRankSilent,
                                     "liveness", step_ + 1, now);
  finding.host = host;
  finding.evidence =
      unseen ? fmt::format(
                   "nothing is heard of {}, and {} of {} ranks have waited for {:.1f} s "
                   "in collective {}",
                   RangesOf(silent), waiting.count, world_, gap, waiting.sequence)
             : fmt::format(
                   "rank {} has not moved for {:.1f} s while {} of {} ranks wait for it in "
                   "collective {}",
                   fmt::join(silent, ", "), gap, waiting.count, world_, waiting.sequence);
  finding.ranks = std::move(silent);
  Open(std::move(finding), since, sink);
}

/// With nobody outside there is nobody to wait for. Where a rank is out of sight it may be that
/// one.
void LivenessDetector::TellAllWait(const Waiting& waiting, signal::Time now, FindingSink& sink) {
  if (step_ < 0 || waiting.count < 2) return;
  const auto running = std::count_if(standing_.begin(), standing_.end(),
                                     [](const Standing& standing) { return !standing.ended; });
  const bool all = waiting.count == static_cast<std::size_t>(running);
  const bool blind = std::any_of(standing_.begin(), standing_.end(), [](const Standing& standing) {
    return standing.lost || standing.blind;
  });
  const double waited = signal::Seconds(now - waiting.last);
  if (!all || blind || waited < kAllWaitFactor * options_.silence_seconds ||
      waited < kGapFactor * longest_gap_) {
    return;
  }
  signal::Finding finding = sink.New(FindingKind::kAllWait, "liveness", step_ + 1, now);
  const std::string where =
      waiting.first == waiting.sequence
          ? fmt::format("collective {}", waiting.sequence)
          : fmt::format("collectives {} to {}", waiting.first, waiting.sequence);
  finding.evidence =
      fmt::format("all {} ranks have been inside {} for {:.1f} s, and none comes out",
                  waiting.count, where, waited);
  Open(std::move(finding), waiting.last, sink);
}

std::vector<std::int32_t> LivenessDetector::BlindRanks(std::string& host) const {
  std::vector<std::int32_t> ranks;
  for (std::size_t r = 0; r < world_; ++r) {
    if (!standing_[r].blind || standing_[r].ended) continue;
    const std::string& here = topology_.place(r).host;
    host = ranks.empty() || host == here ? here : "";
    ranks.push_back(static_cast<std::int32_t>(r));
  }
  return ranks;
}

void LivenessDetector::Finish(signal::Time now, FindingSink& sink) {
  CloseSilence(now, sink);
  for (auto& [rank, told] : lost_) {
    sink.Close(told, now);
  }
  lost_.clear();
  for (signal::Finding& told : blind_) sink.Close(told, now);
  blind_.clear();
}

}  // namespace ringward::detect
