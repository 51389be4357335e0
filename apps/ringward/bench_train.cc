#include "ringward/bench_train.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/table_printer.h"
#include "learn/dense/spec_check.h"

namespace ringward::cli {
namespace {

using learn::Activation;
using learn::Isa;

std::string NameOf(Activation activation) {
  for (const auto& [name, value] : learn::ActivationNames()) {
    if (value == activation) return name;
  }
  return "";
}

Json ToJson(const bench::TrainBenchResult& r) {
  return {{"batch", r.batch},
          {"steps_per_second", r.steps_per_second},
          {"rows_per_second", r.rows_per_second},
          {"gflops", r.gflops},
          {"sgemm_gflops", r.sgemm_gflops > 0 ? Json(r.sgemm_gflops) : Json(nullptr)},
          {"infer_rows_per_second", r.infer_rows_per_second},
          {"infer_gflops", r.infer_gflops},
          {"peak_gflops", r.peak_gflops},
          {"loss_first", r.loss_first},
          {"loss_last", r.loss_last},
          {"wrong", r.wrong}};
}

Json ToJson(const bench::TrainBenchOptions& options, const bench::TrainBench& bench) {
  Json results = Json::array();
  for (const auto& result : bench.results) results.push_back(ToJson(result));
  return {{"layers", options.layers},
          {"activation", NameOf(options.activation)},
          {"members", options.members},
          {"input_noise", options.input_noise},
          {"optimizer", options.optimizer.kind},
          {"isa", learn::IsaName(options.isa)},
          {"blas", bench.blas.empty() ? Json(nullptr) : Json(bench.blas)},
          {"results", std::move(results)}};
}

void Print(const bench::TrainBenchOptions& options, const bench::TrainBench& bench, Output& out) {
  out.Print("# one thread, float32, {}, kernels {}; sgemm: {}\n", options.optimizer.kind,
            learn::IsaName(options.isa), bench.blas.empty() ? "no OpenBLAS here" : bench.blas);
  TablePrinter table({{"batch", Align::kRight},
                      {"steps/s", Align::kRight},
                      {"rows/s", Align::kRight},
                      {"GFLOP/s", Align::kRight},
                      {"sgemm", Align::kRight},
                      {"of sgemm", Align::kRight},
                      {"scored/s", Align::kRight},
                      {"of peak", Align::kRight},
                      {"wrong", Align::kRight}});
  for (const auto& r : bench.results) {
    const bool compared = r.sgemm_gflops > 0;
    table.AddRow({fmt::format("{}", r.batch), fmt::format("{:.0f}", r.steps_per_second),
                  fmt::format("{:.0f}", r.rows_per_second), fmt::format("{:.1f}", r.gflops),
                  compared ? fmt::format("{:.1f}", r.sgemm_gflops) : "-",
                  compared ? fmt::format("{:.0f} %", 100 * r.gflops / r.sgemm_gflops) : "-",
                  fmt::format("{:.0f}", r.infer_rows_per_second),
                  fmt::format("{:.0f} %", 100 * r.infer_gflops / r.peak_gflops),
                  fmt::format("{}", r.wrong)});
  }
  out.Write(table.ToString());
}

}  // namespace

SubcommandInfo BenchTrainCommand::Info() const {
  return {
      .path = "bench train",
      .group = "Tools",
      .summary = "measure training and scoring of a net on one thread",
      .details =
          "Trains a net to reconstruct random rows and prints steps per second, the rate of its "
          "products beside the rate that OpenBLAS reaches on products of the same shapes, and "
          "rows scored per second, with their share of what the core does at most (multiply-adds "
          "in registers alone). The column wrong counts outputs of the trained net that differ "
          "from a plain computation in double precision.",
      .example = "ringward bench train --layers 100,128,64,128,100 --batch 32,256,1024",
      .exit_codes = {}};
}

void BenchTrainCommand::AddOptions(OptionTable& table) {
  bench::TrainBenchOptions& o = options_;
  table.Add("layers", &o.layers, {.min = 1, .max = 1'000'000}, "widths, the inputs first");
  table.Add("batch", &o.batches, {.min = 1, .max = 1'000'000}, "rows of a step");
  table.AddChoice("activation", &o.activation, learn::ActivationNames(),
                  "of every layer but the last");
  table.Add("members", &o.members, {.min = 1, .max = 1000}, "nets trained side by side");
  table.Add("input-noise", &o.input_noise, {.min = 0, .max = 1000},
            "standard deviation of noise on the inputs");
  table.AddChoice("optimizer", &o.optimizer.kind,
                  {{"sgd", "sgd"}, {"adam", "adam"}, {"adamw", "adamw"}}, "optimizer of the step");
  std::vector<std::pair<std::string, Isa>> isas;
  for (const Isa isa : learn::AvailableIsas()) {
    isas.emplace_back(std::string(learn::IsaName(isa)), isa);
  }
  table.AddChoice("isa", &o.isa, std::move(isas), "instruction set of the kernels");
  table.Add("seconds", &o.seconds, {.min = 0.001, .max = 3600}, "length of each measurement");
}

Result<int> BenchTrainCommand::Run(Context& context) {
  RINGWARD_ASSIGN(const auto bench, bench::RunTrainBench(options_));
  if (context.common.json) {
    context.out.WriteJson(ToJson(options_, bench));
  } else {
    Print(options_, bench, context.out);
  }
  return kExitFine;
}

}  // namespace ringward::cli
