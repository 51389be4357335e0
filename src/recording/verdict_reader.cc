#include "recording/verdict_reader.h"

#include <string_view>
#include <utility>

#include "recording/rank_ranges.h"

namespace ringward::recording {
namespace {

/// Of one cause; a file with more is damaged.
constexpr std::int64_t kPartsMax = 1 << 20;

/// The enumerator below `count` that has the name in `column`.
template <typename E>
E EnumOf(Row& row, int column, std::size_t count) {
  const auto name = row.Text(column);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<E>(i);
    if (name == NameOf(value)) return value;
  }
  row.Refuse(column, "is not a name of this version");
  return E{};
}

std::vector<std::int32_t> RankList(Row& row, int column) {
  std::vector<std::int32_t> ranks;
  if (!RanksOf(row.Text(column), ranks)) row.Refuse(column, "holds no ranges of ranks");
  return ranks;
}

}  // namespace

Result<VerdictReader> VerdictReader::Make(Database& database) {
  VerdictReader reader;
  reader.name_ = &database.name();
  RINGWARD_ASSIGN(
      reader.finding_,
      database.Prepare("SELECT key, id, kind, detector, ranks, host, stage, phase, step,"
                       " since_step, at, p_value, effect, elapsed_seconds, lost_seconds, over,"
                       " evidence"
                       " FROM finding_rows WHERE key > ? ORDER BY key LIMIT 1"));
  RINGWARD_ASSIGN(reader.cause_,
                  database.Prepare("SELECT key, id, category, cause, summary, culprit_ranks,"
                                   " victim_ranks, confidence, remedy, action, since_step,"
                                   " found_step, started, found, over, lost_seconds,"
                                   " speedup_without"
                                   " FROM cause_rows WHERE key > ? ORDER BY key LIMIT 1"));
  RINGWARD_ASSIGN(reader.hosts_, database.Prepare("SELECT cause_key, position, host FROM host_rows"
                                                  " WHERE cause_key = ? ORDER BY position"));
  RINGWARD_ASSIGN(reader.evidence_,
                  database.Prepare("SELECT cause_key, position, file, line, text"
                                   " FROM evidence_rows WHERE cause_key = ? ORDER BY position"));
  return reader;
}

Result<std::optional<signal::Finding>> VerdictReader::NextFinding() {
  auto finding = ReadFinding();
  finding_.Reset();
  return finding;
}

Result<std::optional<signal::Finding>> VerdictReader::ReadFinding() {
  finding_.Start(finding_key_);
  RINGWARD_ASSIGN(const bool there, finding_.Step());
  if (!there) return std::optional<signal::Finding>();
  Row row(finding_, *name_, "finding_rows");
  const auto key = row.Int<std::int64_t>(0, finding_key_ + 1);
  signal::Finding finding;
  finding.id = row.Bits(1);
  finding.kind = EnumOf<signal::FindingKind>(row, 2, signal::kFindingKinds);
  finding.detector = detectors_.emplace(row.Text(3)).first->c_str();
  finding.ranks = RankList(row, 4);
  finding.host = row.Text(5);
  finding.stage = row.Int<std::int32_t>(6);
  finding.phase = EnumOf<signal::Phase>(row, 7, signal::kPhases);
  finding.step = row.Int<std::int64_t>(8);
  finding.since_step = row.Int<std::int64_t>(9);
  finding.at = signal::Time(row.Int<std::int64_t>(10));
  finding.p_value = row.Real(11);
  finding.effect = row.Real(12);
  finding.elapsed_seconds = row.Real(13);
  finding.lost_seconds = row.Real(14);
  finding.over = row.Int<int>(15, 0, 1) == 1;
  finding.evidence = row.Text(16);
  RINGWARD_TRY(row.Verdict());
  finding_key_ = key;
  return std::optional(std::move(finding));
}

Result<std::optional<signal::Cause>> VerdictReader::NextCause() {
  auto cause = ReadCause();
  for (const Statement* used : {&cause_, &hosts_, &evidence_}) used->Reset();
  return cause;
}

Result<std::optional<signal::Cause>> VerdictReader::ReadCause() {
  cause_.Start(cause_key_);
  RINGWARD_ASSIGN(const bool there, cause_.Step());
  if (!there) return std::optional<signal::Cause>();
  Row row(cause_, *name_, "cause_rows");
  const auto key = row.Int<std::int64_t>(0, cause_key_ + 1);
  signal::Cause cause;
  cause.id = row.Bits(1);
  cause.category = EnumOf<signal::Category>(row, 2, signal::kCategories);
  cause.cause = row.Text(3);
  cause.summary = row.Text(4);
  cause.culprit_ranks = RankList(row, 5);
  cause.victim_ranks = RankList(row, 6);
  cause.confidence = row.Real(7);
  cause.remedy = row.Text(8);
  cause.action = EnumOf<signal::Remedy>(row, 9, 5);
  cause.since_step = row.Int<std::int64_t>(10);
  cause.found_step = row.Int<std::int64_t>(11);
  cause.started = signal::Time(row.Int<std::int64_t>(12));
  cause.found = signal::Time(row.Int<std::int64_t>(13));
  cause.over = row.Int<int>(14, 0, 1) == 1;
  cause.lost_seconds = row.Real(15);
  cause.speedup_without = row.Real(16);
  RINGWARD_TRY(row.Verdict());
  RINGWARD_TRY(ReadHosts(cause, key));
  RINGWARD_TRY(ReadEvidence(cause, key));
  cause_key_ = key;
  return std::optional(std::move(cause));
}

Status VerdictReader::ReadHosts(signal::Cause& cause, std::int64_t key) {
  hosts_.Start(key);
  while (true) {
    RINGWARD_ASSIGN(const bool there, hosts_.Step());
    if (!there) return Ok();
    Row row(hosts_, *name_, "host_rows");
    row.Int<std::int64_t>(1, 0, kPartsMax);
    cause.culprit_hosts.emplace_back(row.Text(2));
    if (cause.culprit_hosts.size() > kPartsMax) row.Refuse("has too many hosts");
    RINGWARD_TRY(row.Verdict());
  }
}

Status VerdictReader::ReadEvidence(signal::Cause& cause, std::int64_t key) {
  evidence_.Start(key);
  while (true) {
    RINGWARD_ASSIGN(const bool there, evidence_.Step());
    if (!there) return Ok();
    Row row(evidence_, *name_, "evidence_rows");
    row.Int<std::int64_t>(1, 0, kPartsMax);
    cause.evidence.push_back(
        {.file = std::string(row.Text(2)), .line = row.Bits(3), .text = std::string(row.Text(4))});
    if (cause.evidence.size() > kPartsMax) row.Refuse("has too many pieces of evidence");
    RINGWARD_TRY(row.Verdict());
  }
}

}  // namespace ringward::recording
