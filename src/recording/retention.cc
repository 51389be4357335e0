#include "recording/retention.h"

#include <algorithm>
#include <utility>

namespace ringward::recording {
namespace {

constexpr signal::Time kMinute = std::chrono::minutes(1);
/// One call to Upkeep makes the one-minute figures of this many metrics, unless it lags behind.
constexpr int kMetricsAtOnce = 1;
constexpr std::size_t kSpansBehindMax = 2;
constexpr int kDropsAtOnce = 8;
/// The newest minutes are never dropped: a limit too small for them is passed.
constexpr std::size_t kSpansMin = 2;
/// 4 MiB at a time.
constexpr std::string_view kShrink = "PRAGMA incremental_vacuum(1024)";

std::int64_t MinuteOf(signal::Time time) { return time / kMinute; }

}  // namespace

Result<Retention> Retention::Make(Database& database, const Limits& limits) {
  Retention retention;
  retention.limits_ = limits;
  retention.database_ = &database;
  RINGWARD_ASSIGN(retention.minutes_, MinuteMaker::Make(database));
  const auto prepare = [&](Statement& statement, std::string_view sql) -> Status {
    RINGWARD_ASSIGN(statement, database.Prepare(sql));
    return Ok();
  };
  const std::pair<Statement*, std::string_view> statements[] = {
      {&retention.begin_, "BEGIN IMMEDIATE"},
      {&retention.commit_, "COMMIT"},
      {&retention.save_span_, "INSERT OR REPLACE INTO span_rows VALUES(?,?,?,?,?,?)"},
      {&retention.drop_span_, "DELETE FROM span_rows WHERE minute = ?"},
      {&retention.thin_events_,
       "DELETE FROM event_rows WHERE number >= ? AND number < ? AND kind IN (3, 4)"},
      {&retention.drop_samples_, "DELETE FROM sample_rows WHERE key >= ? AND key < ?"},
      {&retention.drop_calls_, "DELETE FROM call_rows WHERE number >= ? AND number < ?"},
      {&retention.drop_events_,
       "DELETE FROM event_rows WHERE number >= ? AND number < ? AND kind <> 1"},
      {&retention.drop_job_, "DELETE FROM event_rows WHERE number = ?"},
      {&retention.drop_ranks_, "DELETE FROM rank_rows WHERE event = ?"},
      {&retention.drop_minutes_, "DELETE FROM minute_rows WHERE minute = ?"},
      {&retention.drop_findings_, "DELETE FROM finding_rows WHERE at < ?"},
      {&retention.drop_hosts_,
       "DELETE FROM host_rows WHERE cause_key IN"
       " (SELECT key FROM cause_rows WHERE written < ?)"},
      {&retention.drop_evidence_,
       "DELETE FROM evidence_rows WHERE cause_key IN"
       " (SELECT key FROM cause_rows WHERE written < ?)"},
      {&retention.drop_causes_, "DELETE FROM cause_rows WHERE written < ?"},
      {&retention.pages_, "PRAGMA page_count"},
      {&retention.free_pages_, "PRAGMA freelist_count"},
  };
  for (const auto& [statement, sql] : statements) RINGWARD_TRY(prepare(*statement, sql));
  RINGWARD_TRY(retention.Load(database));
  return retention;
}

Status Retention::Load(Database& database) {
  RINGWARD_ASSIGN(const std::int64_t page, database.Number("PRAGMA page_size"));
  page_bytes_ = static_cast<std::uint64_t>(page);
  RINGWARD_TRY(LoadSpans(database));
  RINGWARD_TRY(LoadCauses(database));
  return LoadJobs(database);
}

Status Retention::LoadSpans(Database& database) {
  RINGWARD_ASSIGN(Statement rows, database.Prepare("SELECT minute, first_event, last_event, "
                                                   "first_call, last_call, state FROM span_rows"));
  rows.Start();
  while (true) {
    RINGWARD_ASSIGN(const bool there, rows.Step());
    if (!there) break;
    Row row(rows, database.name(), "span_rows");
    Span span;
    span.minute = row.Int<std::int64_t>(0, 0, kTimeMax / kMinute.count());
    span.first_event = row.Int<std::uint64_t>(1, 0, kEventMax);
    span.event_end = static_cast<std::uint64_t>(row.Int<std::int64_t>(2, -1, kEventMax) + 1);
    span.first_call = row.Int<std::uint64_t>(3, 0, kEventMax);
    span.call_end = static_cast<std::uint64_t>(row.Int<std::int64_t>(4, -1, kEventMax) + 1);
    span.state = static_cast<SpanState>(row.Int<std::int64_t>(5, 0, 2));
    RINGWARD_TRY(row.Verdict());
    spans_.push_back(span);
  }
  while (summarised_ < spans_.size() && spans_[summarised_].state != SpanState::kFull) {
    ++summarised_;
  }
  if (!spans_.empty()) now_ = spans_.back().minute * kMinute;
  return Ok();
}

Status Retention::LoadCauses(Database& database) {
  RINGWARD_ASSIGN(Statement rows,
                  database.Prepare("SELECT key, id, started, written, over FROM cause_rows"));
  rows.Start();
  while (true) {
    RINGWARD_ASSIGN(const bool there, rows.Step());
    if (!there) return Ok();
    Row row(rows, database.name(), "cause_rows");
    signal::Cause cause;
    cause.id = row.Bits(1);
    cause.started = signal::Time(row.Int<std::int64_t>(2));
    const signal::Time written(row.Int<std::int64_t>(3, 0, kTimeMax));
    now_ = std::max(now_, written);
    cause.over = row.Int<int>(4, 0, 1) == 1;
    RINGWARD_TRY(row.Verdict());
    NoteCause(cause, written);
  }
}

Status Retention::LoadJobs(Database& database) {
  RINGWARD_ASSIGN(Statement rows, database.Prepare("SELECT number FROM event_rows WHERE kind = 1"));
  rows.Start();
  while (true) {
    RINGWARD_ASSIGN(const bool there, rows.Step());
    if (!there) return Ok();
    jobs_.push_back(static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 0)));
  }
}

Retention::Span& Retention::Current(signal::Time time) {
  now_ = std::max(now_, time);
  const std::int64_t minute = MinuteOf(now_);
  if (spans_.empty() || spans_.back().minute < minute) {
    Span span;
    span.minute = minute;
    if (!spans_.empty()) {
      span.first_event = span.event_end = spans_.back().event_end;
      span.first_call = span.call_end = spans_.back().call_end;
    }
    spans_.push_back(span);
  }
  return spans_.back();
}

Status Retention::Save(const Span& span) {
  return save_span_.Run(
      span.minute, span.first_event, static_cast<std::int64_t>(span.event_end) - 1, span.first_call,
      static_cast<std::int64_t>(span.call_end) - 1, static_cast<std::int64_t>(span.state));
}

Status Retention::NoteEvents(signal::Time received, std::uint64_t first, std::uint64_t last) {
  Span& span = Current(received);
  if (span.first_event == span.event_end) span.first_event = first;
  span.event_end = last + 1;
  return Save(span);
}

Status Retention::NoteCall(signal::Time now, std::uint64_t number) {
  Span& span = Current(now);
  if (span.first_call == span.call_end) span.first_call = number;
  span.call_end = number + 1;
  return Save(span);
}

void Retention::NoteCause(const signal::Cause& cause, signal::Time at) {
  const auto [known, fresh] = causes_.try_emplace(cause.id);
  Interval& interval = known->second;
  const signal::Time from =
      std::clamp(cause.started, signal::Time(0), signal::Time(kTimeMax)) - limits_.around;
  interval.from = fresh ? from : std::min(interval.from, from);
  interval.to.reset();
  if (cause.over) interval.to = at + limits_.around;
}

bool Retention::Protected(std::int64_t minute) const {
  return std::any_of(causes_.begin(), causes_.end(), [minute](const auto& each) {
    const Interval& interval = each.second;
    return interval.from < (minute + 1) * kMinute &&
           (!interval.to || *interval.to >= minute * kMinute);
  });
}

Status Retention::Upkeep() {
  RINGWARD_TRY(begin_.Run());
  RINGWARD_TRY(Summarise());
  RINGWARD_TRY(Thin());
  RINGWARD_TRY(DropOld());
  RINGWARD_TRY(Shrink());
  return commit_.Run();
}

Status Retention::Summarise() {
  for (int metrics = 0; summarised_ + 1 < spans_.size(); ++metrics) {
    const bool behind = spans_.size() - summarised_ > kSpansBehindMax + 1;
    if (metrics >= kMetricsAtOnce && !behind) return Ok();
    Span& span = spans_[summarised_];
    RINGWARD_ASSIGN(const bool more, minutes_.MakeNext(span.minute, span.first_event * kColumnsMax,
                                                       span.event_end * kColumnsMax));
    if (more) continue;
    span.state = SpanState::kSummarised;
    RINGWARD_TRY(Save(span));
    ++summarised_;
    // What lags is caught up one minute at a time.
    if (behind) return Ok();
  }
  return Ok();
}

Status Retention::Thin() {
  const std::int64_t end = MinuteOf(now_ - limits_.full);
  const auto from =
      std::lower_bound(spans_.begin(), spans_.end(), thinned_to_,
                       [](const Span& span, std::int64_t minute) { return span.minute < minute; });
  const auto old = std::find_if(from, spans_.end(), [&](const Span& span) {
    return span.minute >= end || span.state == SpanState::kFull ||
           (span.state == SpanState::kSummarised && !Protected(span.minute));
  });
  if (old == spans_.end()) return Ok();
  thinned_to_ = old->minute;
  std::erase_if(causes_, [this](const auto& each) {
    return each.second.to && *each.second.to < thinned_to_ * kMinute;
  });
  if (old->minute >= end || old->state == SpanState::kFull) return Ok();
  RINGWARD_TRY(thin_events_.Run(old->first_event, old->event_end));
  RINGWARD_TRY(drop_samples_.Run(old->first_event * kColumnsMax, old->event_end * kColumnsMax));
  RINGWARD_TRY(drop_calls_.Run(old->first_call, old->call_end));
  old->state = SpanState::kThinned;
  return Save(*old);
}

Status Retention::DropOld() {
  for (int drops = 0; drops < kDropsAtOnce && spans_.size() > kSpansMin; ++drops) {
    const Span oldest = spans_.front();
    bool drop = limits_.age.count() > 0 && (oldest.minute + 1) * kMinute <= now_ - limits_.age;
    if (!drop && limits_.bytes > 0) {
      RINGWARD_ASSIGN(const std::uint64_t pages, NumberOf(pages_));
      RINGWARD_ASSIGN(const std::uint64_t free_pages, NumberOf(free_pages_));
      drop = (pages - free_pages) * page_bytes_ > limits_.bytes;
    }
    if (!drop) return Ok();
    RINGWARD_TRY(Drop(oldest));
    spans_.pop_front();
    if (summarised_ > 0) --summarised_;
  }
  return Ok();
}

Status Retention::Drop(const Span& span) {
  RINGWARD_TRY(DropEvents(span));
  RINGWARD_TRY(drop_calls_.Run(span.first_call, span.call_end));
  RINGWARD_TRY(drop_minutes_.Run(span.minute));
  RINGWARD_TRY(DropVerdicts(span));
  return drop_span_.Run(span.minute);
}

// The job that later events belong to stays, with its ranks.
Status Retention::DropEvents(const Span& span) {
  RINGWARD_TRY(drop_events_.Run(span.first_event, span.event_end));
  RINGWARD_TRY(drop_samples_.Run(span.first_event * kColumnsMax, span.event_end * kColumnsMax));
  while (jobs_.size() > 1 && jobs_[1] < span.event_end) {
    RINGWARD_TRY(drop_job_.Run(jobs_.front()));
    RINGWARD_TRY(drop_ranks_.Run(jobs_.front()));
    jobs_.erase(jobs_.begin());
  }
  return Ok();
}

Status Retention::DropVerdicts(const Span& span) {
  const std::int64_t end = ((span.minute + 1) * kMinute).count();
  RINGWARD_TRY(drop_findings_.Run(end));
  RINGWARD_TRY(drop_hosts_.Run(end));
  RINGWARD_TRY(drop_evidence_.Run(end));
  return drop_causes_.Run(end);
}

// Pages that were freed are used again; those beyond the limit go back to the file system.
Status Retention::Shrink() {
  if (limits_.bytes == 0) return Ok();
  RINGWARD_ASSIGN(const std::uint64_t pages, NumberOf(pages_));
  RINGWARD_ASSIGN(const std::uint64_t free_pages, NumberOf(free_pages_));
  if (pages * page_bytes_ <= limits_.bytes || free_pages == 0) return Ok();
  return database_->Run(kShrink);
}

Result<std::uint64_t> Retention::NumberOf(Statement& pragma) {
  pragma.Start();
  RINGWARD_TRY(pragma.Step());
  const auto number = static_cast<std::uint64_t>(sqlite3_column_int64(pragma.get(), 0));
  pragma.Reset();
  return number;
}

}  // namespace ringward::recording
