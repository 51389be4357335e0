#include "recording/verdict_writer.h"

#include <string>
#include <string_view>

#include "recording/rank_ranges.h"

namespace ringward::recording {

Result<VerdictWriter> VerdictWriter::Make(Database& database) {
  VerdictWriter writer;
  writer.handle_ = database.get();
  RINGWARD_ASSIGN(writer.finding_, database.Prepare("INSERT INTO finding_rows VALUES"
                                                    "(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  RINGWARD_ASSIGN(writer.cause_, database.Prepare("INSERT INTO cause_rows VALUES"
                                                  "(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  RINGWARD_ASSIGN(writer.host_, database.Prepare("INSERT INTO host_rows VALUES(?,?,?)"));
  RINGWARD_ASSIGN(writer.evidence_,
                  database.Prepare("INSERT INTO evidence_rows VALUES(?,?,?,?,?)"));
  return writer;
}

Status VerdictWriter::Write(const signal::Finding& finding) {
  const std::string ranks = RangesOf(finding.ranks);
  return finding_.Run(
      finding.id, std::string_view(NameOf(finding.kind)), std::string_view(finding.detector),
      std::string_view(ranks), std::string_view(finding.host), finding.stage,
      std::string_view(NameOf(finding.phase)), finding.step, finding.since_step, finding.at.count(),
      finding.p_value, finding.effect, finding.elapsed_seconds, finding.lost_seconds,
      finding.over ? 1 : 0, std::string_view(finding.evidence));
}

Status VerdictWriter::Write(const signal::Cause& cause, signal::Time now) {
  const std::string culprits = RangesOf(cause.culprit_ranks);
  const std::string victims = RangesOf(cause.victim_ranks);
  RINGWARD_TRY(cause_.Run(
      cause.id, std::string_view(NameOf(cause.category)), std::string_view(cause.cause),
      std::string_view(cause.summary), std::string_view(culprits), std::string_view(victims),
      cause.confidence, std::string_view(cause.remedy), std::string_view(NameOf(cause.action)),
      cause.since_step, cause.found_step, cause.started.count(), cause.found.count(),
      cause.over ? 1 : 0, cause.lost_seconds, cause.speedup_without, now.count()));
  const std::int64_t key = sqlite3_last_insert_rowid(handle_);
  std::int64_t position = 0;
  for (const std::string& host : cause.culprit_hosts) {
    RINGWARD_TRY(host_.Run(key, position++, std::string_view(host)));
  }
  position = 0;
  for (const signal::Evidence& evidence : cause.evidence) {
    RINGWARD_TRY(evidence_.Run(key, position++, std::string_view(evidence.file), evidence.line,
                               std::string_view(evidence.text)));
  }
  return Ok();
}

}  // namespace ringward::recording
