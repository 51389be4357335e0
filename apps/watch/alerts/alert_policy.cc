#include "watch/alerts/alert_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ringward::watch {

std::string AlertPolicy::SameTrouble(const Alert& alert) {
  return fmt::format("{}\n{}\n{}\n{}", alert.job, alert.cause.cause,
                     fmt::join(alert.cause.culprit_ranks, ","),
                     fmt::join(alert.cause.culprit_hosts, ","));
}

void AlertPolicy::Begin(const Alert& alert, Clock::Duration now) {
  const bool silent = std::any_of(options_.silences.begin(), options_.silences.end(),
                                  [&](const Silence& silence) { return silence.Matches(alert); });
  silenced_ += silent ? 1 : 0;
  if (silent) return;
  State state{.alert = alert, .not_before = now + options_.group_wait};
  const auto cooling = cooling_.find(SameTrouble(alert));
  if (cooling != cooling_.end() && cooling->second > now) {
    ++held_back_;
    state.not_before = cooling->second;
    state.held = true;
  }
  if (alert.over) cooling_[SameTrouble(alert)] = now + options_.cooldown;
  if (!state.held || !alert.over) states_.emplace(Key(alert.job, alert.cause.id), std::move(state));
}

void AlertPolicy::Take(const Alert& alert, Clock::Duration now) {
  const auto known = states_.find(Key(alert.job, alert.cause.id));
  if (known == states_.end()) return Begin(alert, now);
  State& state = known->second;
  state.alert = alert;
  state.news = true;
  if (!alert.over) return;
  cooling_[SameTrouble(alert)] = now + options_.cooldown;
  // What came back for a moment was never told, and neither is its end.
  if (state.held && !state.told) states_.erase(known);
}

bool AlertPolicy::Stands(const std::string& job) const {
  return std::any_of(states_.begin(), states_.end(), [&](const auto& entry) {
    const Alert& alert = entry.second.alert;
    return alert.job == job && !alert.over && alert.cause.severity == signal::Severity::kCritical;
  });
}

bool AlertPolicy::IsInhibited(const State& state) const {
  const bool may_wait = !state.told && !state.alert.over;
  return may_wait && state.alert.cause.severity == signal::Severity::kWarning &&
         Stands(state.alert.job);
}

bool AlertPolicy::IsDue(const State& state, Clock::Duration now, bool last) const {
  if (!state.news) return false;
  if (last) return !state.held || state.told;
  return now >= state.not_before && !IsInhibited(state);
}

bool AlertPolicy::GoesAlong(const State& state) const {
  return state.news && !state.held && !IsInhibited(state);
}

std::vector<Notice> AlertPolicy::Gather(Clock::Duration now, bool last) {
  std::set<std::string> due;
  for (const auto& [key, state] : states_) {
    if (IsDue(state, now, last)) due.insert(key.first);
  }
  std::vector<Notice> notices;
  for (auto at = states_.begin(); at != states_.end();) {
    State& state = at->second;
    const bool along = due.contains(state.alert.job) && GoesAlong(state);
    if (!along && !IsDue(state, now, last)) {
      ++at;
      continue;
    }
    // Keys are sorted by job: a job's alerts follow one another.
    if (notices.empty() || notices.back().alerts.front().job != state.alert.job)
      notices.emplace_back();
    notices.back().alerts.push_back(state.alert);
    notices.back().alerts.back().first = !state.told;
    state.told = true;
    state.news = false;
    at = state.alert.over ? states_.erase(at) : std::next(at);
  }
  return notices;
}

std::vector<Notice> AlertPolicy::Due(Clock::Duration now) {
  std::vector<Notice> notices = Gather(now, false);
  std::erase_if(cooling_, [&](const auto& entry) { return entry.second <= now; });
  if (now < next_reminder_) return notices;
  next_reminder_ = now + options_.reminder;
  Notice reminder{.reminder = true};
  for (const auto& [key, state] : states_) {
    if (!state.told) continue;
    reminder.alerts.push_back(state.alert);
    reminder.alerts.back().first = false;
  }
  notices.push_back(std::move(reminder));
  return notices;
}

std::vector<Notice> AlertPolicy::Last() { return Gather({}, true); }

}  // namespace ringward::watch
