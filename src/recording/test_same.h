#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <variant>
#include <vector>

#include "recording/record.h"

namespace ringward::recording {

// Equality of signal's words, to the bit.

inline bool Same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
inline bool Same(double a, double b) { return a == b || (a != a && b != b); }

inline bool Same(const signal::Column& a, const signal::Column& b) {
  if (a.metric != b.metric || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (!Same(a.values[i], b.values[i])) return false;
  }
  return true;
}

inline bool Same(const signal::Frame& a, const signal::Frame& b) {
  if (a.step != b.step || a.steps != b.steps || a.received != b.received ||
      a.expected_slow != b.expected_slow || a.columns.size() != b.columns.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    if (!Same(a.columns[i], b.columns[i])) return false;
  }
  return true;
}

inline bool Same(const signal::JobOpened& a, const signal::JobOpened& b) {
  if (a.job != b.job || a.topology.world() != b.topology.world()) return false;
  for (std::size_t rank = 0; rank < a.topology.world(); ++rank) {
    const auto& x = a.topology.place(rank);
    const auto& y = b.topology.place(rank);
    if (x.host != y.host || x.stage != y.stage || x.replica != y.replica) return false;
  }
  return true;
}

inline bool Same(const signal::JobClosed&, const signal::JobClosed&) { return true; }
inline bool Same(const signal::Progress& a, const signal::Progress& b) {
  return a.rank == b.rank && a.step == b.step && a.phase == b.phase && a.sequence == b.sequence &&
         a.in_collective == b.in_collective && a.idle == b.idle;
}
inline bool Same(const signal::RankEnded& a, const signal::RankEnded& b) {
  return a.rank == b.rank && a.exit_status == b.exit_status && a.signal == b.signal;
}
inline bool Same(const signal::SourceLost& a, const signal::SourceLost& b) {
  return a.ranks == b.ranks;
}
inline bool Same(const signal::SourceBack& a, const signal::SourceBack& b) {
  return a.ranks == b.ranks;
}

inline bool Same(const signal::LogLine& a, const signal::LogLine& b) {
  return a.kind == b.kind && a.category == b.category && a.ranks == b.ranks &&
         a.seconds == b.seconds && a.where.file == b.where.file && a.where.line == b.where.line &&
         a.where.text == b.where.text;
}

inline bool Same(const signal::Event& a, const signal::Event& b) {
  if (a.number != b.number || a.received != b.received || a.what.index() != b.what.index()) {
    return false;
  }
  return std::visit(
      [&](const auto& what) { return Same(what, std::get<std::decay_t<decltype(what)>>(b.what)); },
      a.what);
}

inline bool Same(const Call& a, const Call& b) {
  return a.number == b.number && a.now == b.now && a.last_event == b.last_event &&
         a.dropped == b.dropped && a.rules == b.rules;
}

inline bool Same(const signal::Finding& a, const signal::Finding& b) {
  return a.id == b.id && a.kind == b.kind && std::string(a.detector) == b.detector &&
         a.ranks == b.ranks && a.host == b.host && a.stage == b.stage && a.phase == b.phase &&
         a.step == b.step && a.since_step == b.since_step && a.at == b.at &&
         Same(a.p_value, b.p_value) && Same(a.effect, b.effect) &&
         Same(a.elapsed_seconds, b.elapsed_seconds) && Same(a.lost_seconds, b.lost_seconds) &&
         a.over == b.over && a.evidence == b.evidence;
}

inline bool Same(const signal::Cause& a, const signal::Cause& b) {
  if (a.evidence.size() != b.evidence.size()) return false;
  for (std::size_t i = 0; i < a.evidence.size(); ++i) {
    const auto& x = a.evidence[i];
    const auto& y = b.evidence[i];
    if (x.file != y.file || x.line != y.line || x.text != y.text) return false;
  }
  return a.id == b.id && a.category == b.category && a.cause == b.cause && a.summary == b.summary &&
         a.culprit_ranks == b.culprit_ranks && a.culprit_hosts == b.culprit_hosts &&
         a.victim_ranks == b.victim_ranks && Same(a.confidence, b.confidence) &&
         a.remedy == b.remedy && a.action == b.action && a.since_step == b.since_step &&
         a.found_step == b.found_step && a.started == b.started && a.found == b.found &&
         a.over == b.over && Same(a.lost_seconds, b.lost_seconds) &&
         Same(a.speedup_without, b.speedup_without);
}

}  // namespace ringward::recording
