#include "ringward/simulate.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "io/atomic_file.h"

namespace ringward::cli {
namespace {

using learn::FaultKind;
using learn::NameOf;
using learn::SimulateTableSummary;

std::vector<std::pair<std::string, FaultKind>> KindNames() {
  std::vector<std::pair<std::string, FaultKind>> names;
  for (std::size_t i = 0; i < learn::kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    names.emplace_back(NameOf(kind), kind);
  }
  return names;
}

Json ToJson(const SimulateTableSummary& summary, const std::string& file, std::uint64_t seed) {
  Json kinds = Json::array();
  for (std::size_t i = 0; i < learn::kFaultKinds; ++i) {
    if (summary.rows_of_kind[i] == 0) continue;
    kinds.push_back({{"kind", NameOf(static_cast<FaultKind>(i))},
                     {"rows", summary.rows_of_kind[i]},
                     {"events", summary.events_of_kind[i]}});
  }
  return {{"file", file},
          {"seed", seed},
          {"rows", summary.rows},
          {"anomalous_rows", summary.anomalous_rows},
          {"columns", summary.columns},
          {"kinds", std::move(kinds)}};
}

void PrintSummary(const SimulateTableSummary& summary, const std::string& file, Output& out) {
  out.Print("{}: {} rows, {} of them anomalous, {} columns\n", file, summary.rows,
            summary.anomalous_rows, summary.columns.size());
  for (std::size_t i = 0; i < learn::kFaultKinds; ++i) {
    if (summary.rows_of_kind[i] == 0) continue;
    out.Print("  {:<18} {:>8} rows in {} event{}\n", NameOf(static_cast<FaultKind>(i)),
              summary.rows_of_kind[i], summary.events_of_kind[i],
              summary.events_of_kind[i] == 1 ? "" : "s");
  }
}

Status Interrupted() { return Error(Code::kInterrupted, "interrupted, nothing was written"); }

}  // namespace

SubcommandInfo SimulateTableCommand::Info() const {
  return {.path = "simulate table",
          .group = "Tools",
          .summary = "make up a sensor table with planted faults",
          .details =
              "Writes CSV: timestamp, the sensors of a pumping station, its operating mode, "
              "and the truth in\nlabel (0 or 1), kind and faulty_sensor. The station is the "
              "same for every seed, so a model\ntrained on one table judges another.",
          .example =
              "ringward simulate table --rows 20000 --anomalies 0 --seed 1 --out healthy.csv\n"
              "ringward simulate table --rows 6000 --anomalies 0.05 --seed 2 --out today.csv",
          .exit_codes = {}};
}

void SimulateTableCommand::AddOptions(OptionTable& table) {
  table.Add("rows", &options_.rows, {.min = 1, .max = 1'000'000'000}, "rows to write");
  table
      .Add("out", &out_, {.what = "a file, or - for standard output"},
           "CSV to write; appears whole or not at all")
      .Metavar("FILE")
      .Complete(Completion::kFile)
      .Required();
  table.Add("seed", &options_.seed, "another seed, another history of the same station");
  table.Add("anomalies", &options_.anomalies, {.min = 0.0, .max = 0.5},
            "share of anomalous rows; 0 for a table to train on");
  table.AddChoice("kinds", &options_.kinds, KindNames(),
                  "faults to plant, in equal shares of rows; all when not given");
  table.Add("sensors", &options_.sensors, {.min = 4, .max = 1000}, "sensor columns");
  table.Add("missing", &options_.missing, {.min = 0.0, .max = 0.5},
            "share of sensor cells left empty");
  table
      .Add("start", &start_,
           {.what = "a time like 2026-01-05T00:00:00Z, from 1970 to 9999",
            .accept = [](std::string_view text) { return bool(learn::ParseUtc(text)); }},
           "time of the first row, UTC")
      .Metavar("TIME");
  table.Add("interval", &options_.interval, {.min = 1, .max = 86'400}, "seconds between rows");
}

Result<SimulateTableSummary> SimulateTableCommand::WriteFile(Context& context) {
  RINGWARD_ASSIGN(io::AtomicFile file, io::AtomicFile::Create(out_));
  const InterruptScope scope;
  Progress progress(context.common.progress_style(), SystemClock(), "simulate", "rows",
                    options_.rows);
  std::uint64_t lines = 0;
  const auto sink = [&](std::string_view text) -> Status {
    if (InterruptRequested()) return Interrupted();
    lines += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
    progress.Update({.done = std::min(lines, options_.rows)});
    return file.Write(text);
  };
  RINGWARD_ASSIGN(SimulateTableSummary summary, learn::SimulateTable(options_, sink));
  progress.Finish();
  RINGWARD_TRY(file.Commit());
  return summary;
}

Result<int> SimulateTableCommand::Run(Context& context) {
  RINGWARD_ASSIGN(options_.start, learn::ParseUtc(start_));
  if (out_ != "-") {
    RINGWARD_ASSIGN(const SimulateTableSummary summary, WriteFile(context));
    if (context.common.json) {
      context.out.WriteJson(ToJson(summary, out_, options_.seed));
    } else {
      PrintSummary(summary, out_, context.out);
    }
    return kExitFine;
  }
  if (context.common.json) {
    return Error(Code::kInvalidInput,
                 "--json and --out - both want standard output: name a file with --out");
  }
  const auto sink = [&context](std::string_view text) -> Status {
    context.out.Write(text);
    return context.out.failed() ? context.out.Finish() : Ok();
  };
  auto summary = learn::SimulateTable(options_, sink);
  // A failed standard output is the frame's to report, once.
  if (!summary && !context.out.failed()) return std::move(summary).error();
  return kExitFine;
}

}  // namespace ringward::cli
