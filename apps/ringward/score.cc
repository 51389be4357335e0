#include "ringward/score.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/exit_code.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "io/expand.h"
#include "learn/data/data_flags.h"
#include "ringward/score_writer.h"

namespace ringward::cli {
namespace {

/// With --json and no --out, the rows are part of the document.
class JsonRows final : public ScoreWriter {
 public:
  JsonRows(ScoreColumns columns, Json& rows) : columns_(std::move(columns)), rows_(rows) {}
  Status Write(const ScoredRow& row) override {
    rows_.push_back(RowJson(columns_, row));
    return Ok();
  }
  Status Flush() override { return Ok(); }
  Status Finish() override { return Ok(); }

 private:
  ScoreColumns columns_;
  Json& rows_;
};

}  // namespace

SubcommandInfo ScoreCommand::Info() const {
  return {.path = "score",
          .group = "Models",
          .summary = "score rows with a trained model, as they arrive",
          .details =
              "Writes row,score,p_value,anomaly in input order, the id columns first. The "
              "ending of --out chooses CSV, JSONL (.jsonl) or NPY (.npy).",
          .example =
              "ringward score --model model --data new.csv --out scores.csv --explain 3\n"
              "tail -f rows.csv | ringward score --model model --data -",
          .exit_codes = {{1, "with --fail-on-anomaly: an anomaly was found"}}};
}

void ScoreCommand::AddOptions(OptionTable& table) {
  table.Group("Model");
  table.Add("model", &model_, {.what = "a folder"}, "the model's folder, made by train")
      .Complete(Completion::kFolder)
      .Required();
  learn::AddDataOptions(table, data_);
  table.Group("Result");
  table
      .Add("out", &out_, {.what = "a file, or - for standard output"},
           "where scores go; none = standard output")
      .Complete(Completion::kFile);
  table.Add("explain", &explain_, {.min = 0, .max = 1000},
            "add the K columns that carry most of each score, with seen and expected value");
  table.Add("false-alarm-rate", &false_alarm_rate_,
            {.min = 0.0, .max = 1.0, .min_exclusive = true, .max_exclusive = true},
            "share of normal rows that may be called anomalous; none = the model's");
  table.Add("fail-on-anomaly", &fail_on_anomaly_, "exit with status 1 when a row is anomalous");
}

Result<int> ScoreCommand::Run(Context& context) {
  if (out_ == "-") {
    if (context.common.json) {
      return Error(Code::kInvalidInput,
                   "--json and --out - both want standard output: name a file with --out");
    }
    out_.clear();
  }
  RINGWARD_TRY(CheckNames({data_.id, static_cast<std::size_t>(explain_)}));
  RINGWARD_TRY(io::CheckNotAnInput(out_, data_.paths));
  RINGWARD_ASSIGN(const learn::Model model, learn::LoadModel(model_));
  const ScoreSettings settings{
      .reasons = static_cast<std::size_t>(explain_),
      .false_alarm_rate = false_alarm_rate_.value_or(model.false_alarm_rate)};
  RINGWARD_ASSIGN(auto stream, ScoreStream::Open(model, data_, settings));
  const InterruptScope interruptible;  // first, so that no signal leaves half a file behind
  const ScoreColumns columns{data_.id, settings.reasons};
  Json rows = Json::array();
  std::unique_ptr<ScoreWriter> writer;
  if (context.common.json && out_.empty()) {
    writer = std::make_unique<JsonRows>(columns, rows);
  } else {
    RINGWARD_ASSIGN(writer, MakeScoreWriter(out_, columns, context.out));
  }
  const auto sink = [&](const ScoredRow& row) -> Status {
    if (InterruptRequested()) return Error(Code::kInterrupted, "interrupted while scoring");
    return writer->Write(row);
  };
  RINGWARD_TRY(stream.Run(sink, [&] { return writer->Flush(); }));
  RINGWARD_TRY(writer->Finish());
  for (const auto& warning : stream.Warnings()) LogWarning(warning);
  if (context.common.json) {
    Json document{{"model", model_},
                  {"rows", stream.rows()},
                  {"anomalies", stream.anomalies()},
                  {"false_alarm_rate", settings.false_alarm_rate},
                  {"threshold", stream.threshold()},
                  {"out", out_},
                  {"warnings", stream.Warnings()}};
    if (out_.empty()) document["scores"] = std::move(rows);
    context.out.WriteJson(document);
  } else if (!out_.empty()) {
    context.out.Print("{} rows scored, {} anomalous (score above {:.4g}) -> {}\n", stream.rows(),
                      stream.anomalies(), stream.threshold(), out_);
  }
  return fail_on_anomaly_ && stream.anomalies() > 0 ? kExitFound : kExitFine;
}

}  // namespace ringward::cli
