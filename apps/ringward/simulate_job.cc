#include "ringward/simulate_job.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "replay/fault_plan.h"
#include "replay/plan.h"
#include "replay/recorded.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kPlanBytesMax = std::size_t{16} << 20;

std::vector<std::pair<std::string, replay::FaultKind>> FaultNames() {
  std::vector<std::pair<std::string, replay::FaultKind>> names;
  for (std::size_t i = 0; i < replay::kFaultKinds; ++i) {
    const auto kind = static_cast<replay::FaultKind>(i);
    names.emplace_back(NameOf(kind), kind);
  }
  return names;
}

Json ToJson(const replay::JobOptions& job, const std::string& out, const std::string& truth) {
  Json faults = Json::array();
  for (const replay::Fault& fault : job.faults) {
    faults.push_back({{"kind", NameOf(fault.kind)},
                      {"onset", fault.onset},
                      {"length", fault.length},
                      {"severity", fault.severity},
                      {"ranks", fault.ranks},
                      {"hosts", fault.hosts}});
  }
  return {{"file", out},
          {"plan", truth},
          {"world", job.world},
          {"steps", job.steps},
          {"faults", std::move(faults)}};
}

}  // namespace

SubcommandInfo SimulateJobCommand::Info() const {
  return {
      .path = "simulate job",
      .group = "Tools",
      .summary = "record a made-up distributed job with planted faults",
      .details =
          "Writes a recording (RUN.rwrec) that `ringward replay` reads, and its truth beside it\n"
          "(RUN.rwrec.plan.toml). Faults come from a plan, or are drawn from the seed.",
      .example =
          "ringward simulate job --world 64 --faults slow-rank --seed 3 --out run.rwrec\n"
          "ringward replay run.rwrec",
      .exit_codes = {}};
}

void SimulateJobCommand::AddOptions(OptionTable& table) {
  table.Add("out", &out_, {.what = "a file"}, "recording to write")
      .Metavar("FILE")
      .Complete(Completion::kFile)
      .Required();
  table
      .Add("plan", &plan_, {.what = "a file"},
           "job and faults as TOML; the options below win over it")
      .Metavar("FILE")
      .Complete(Completion::kFile);
  table.Add("world", &job_.world, {.min = 2, .max = 16'384}, "ranks");
  table.Add("ranks-per-host", &job_.ranks_per_host, {.min = 1, .max = 1024}, "ranks of a host");
  table.Add("stages", &job_.stages, {.min = 1, .max = 1024},
            "pipeline stages; they divide --world");
  table.Add("steps", &job_.steps, {.min = 1, .max = 1'000'000'000}, "steps");
  table.Add("step-seconds", &job_.step_seconds, {.min = 1e-4, .max = 1e4}, "seconds of a step");
  table.Add("cv", &job_.cv, {.min = 0.0, .max = 0.5}, "coefficient of variation of self time");
  table.AddChoice("faults", &faults_, FaultNames(),
                  "faults to plant, drawn from the seed, beside those of --plan");
  table.Add("seed", &job_.seed, "another seed, other faults and noise");
}

Status SimulateJobCommand::ReadPlan(const OptionTable& table) {
  if (plan_.empty()) return Ok();
  RINGWARD_ASSIGN(const auto source, io::OpenInput(plan_));
  RINGWARD_ASSIGN(const std::string text, io::ReadAll(*source, kPlanBytesMax));
  replay::JobOptions planned = job_;
  RINGWARD_TRY(replay::ParseFaultPlan(text, plan_, planned));
  const auto keep = [&](const char* name, auto member) {
    if (table.WasSet(name)) planned.*member = job_.*member;
  };
  keep("world", &replay::JobOptions::world);
  keep("ranks-per-host", &replay::JobOptions::ranks_per_host);
  keep("stages", &replay::JobOptions::stages);
  keep("steps", &replay::JobOptions::steps);
  keep("step-seconds", &replay::JobOptions::step_seconds);
  keep("cv", &replay::JobOptions::cv);
  keep("seed", &replay::JobOptions::seed);
  job_ = std::move(planned);
  return Ok();
}

Result<int> SimulateJobCommand::Run(Context& context) {
  RINGWARD_TRY(ReadPlan(context.options));
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    job_.faults.push_back(replay::DrawFault(faults_[i], job_, job_.seed * 1'000'003 + i));
  }
  std::stable_sort(
      job_.faults.begin(), job_.faults.end(),
      [](const replay::Fault& a, const replay::Fault& b) { return a.onset < b.onset; });
  if (std::filesystem::exists(out_)) {
    return Error(Code::kInvalidInput, out_ + ": exists already; a recording is never written over");
  }
  const std::string truth = out_ + ".plan.toml";
  if (auto done = replay::RecordSimulation(job_, out_); !done) {
    std::error_code ignored;
    std::filesystem::remove(out_, ignored);
    return std::move(done).error();
  }
  RINGWARD_ASSIGN(io::AtomicFile file, io::AtomicFile::Create(truth));
  RINGWARD_TRY(file.Write(replay::FaultPlanText(job_)));
  RINGWARD_TRY(file.Commit());
  if (context.common.json) {
    context.out.WriteJson(ToJson(job_, out_, truth));
    return kExitFine;
  }
  context.out.Print("{}: {} steps of {} ranks; the truth is in {}\n", out_, job_.steps, job_.world,
                    truth);
  for (const replay::Fault& fault : job_.faults) {
    context.out.Print("  {} at step {} for {} steps, severity {:.2f}, {} rank{}\n",
                      NameOf(fault.kind), fault.onset, fault.length, fault.severity,
                      fault.ranks.size(), fault.ranks.size() == 1 ? "" : "s");
  }
  return kExitFine;
}

}  // namespace ringward::cli
