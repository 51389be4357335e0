// Writes a training page, an evaluation page, an almost empty one and a hostile one, each with its
// JSON beside it: what report_browser_test.py opens.
//
//   report_sample FOLDER
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/exit_code.h"
#include "base/rng.h"
#include "learn/score/histogram.h"
#include "learn/score/metrics.h"
#include "report/evaluate_report.h"
#include "report/train_report.h"

namespace {

using namespace ringward;

constexpr const char* kHostile =
    "</script><b onclick=\"alert(1)\">&amp;'<!--\\ \xE2\x80\xA8 \xff end";

struct Sample {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::string> kinds;
};

/// Scores as a detector gives them: log-normal normals, four kinds of anomalies.
Sample MakeSample(std::size_t normals, std::size_t anomalies) {
  static const char* const kKinds[] = {"correlation-break", "drift", "spike", "stuck-sensor"};
  static constexpr double kShift[] = {1.6, 1.3, 4.0, 0.9};
  Rng rng(20);
  Sample sample;
  for (std::size_t i = 0; i < normals + anomalies; ++i) {
    const bool anomaly = i >= normals;
    const std::size_t kind = i % 4;
    const double shift = anomaly ? kShift[kind] + 0.6 * std::abs(rng.Normal()) : 0.0;
    sample.scores.push_back(std::exp(0.45 * rng.Normal() + shift));
    sample.labels.push_back(anomaly ? 1 : 0);
    sample.kinds.emplace_back(anomaly ? kKinds[kind] : "normal");
  }
  return sample;
}

report::ScoreBins BinsOf(const learn::ScoreHistogram& histogram) {
  return {histogram.edges, histogram.normal, histogram.anomaly, histogram.log_axis};
}

report::TrainReport MakeTrainReport() {
  report::TrainReport page;
  page.subtitle = "sensors-train.csv → model/";
  page.rows = 18'000;
  page.features = 22;
  page.ranks = 2;
  page.seconds = 14.2;
  page.rows_per_second = 152'300;
  Rng rng(3);
  for (int epoch = 1; epoch <= 40; ++epoch) {
    const double train = 0.9 * std::exp(-epoch / 6.0) + 0.021 + 0.002 * rng.Uniform();
    page.epochs.push_back(
        {epoch, train,
         0.9 * std::exp(-epoch / 6.5) + 0.027 + 0.00012 * epoch + 0.003 * rng.Uniform()});
  }
  page.best_epoch = 31;
  page.calibration = {{2'000, 3.178, 0.01}};
  page.scores = BinsOf(*learn::MakeScoreHistogram(MakeSample(2'000, 0).scores, {}, 60));
  page.options = {{"model", "autoencoder"},
                  {"hidden", "128,64"},
                  {"members", "4"},
                  {"epochs", "40"},
                  {"batch", "128"},
                  {"learning rate", "0.001"},
                  {"seed", "1"},
                  {"engine", "mpi"},
                  {"false-alarm rate", "0.01"}};
  page.data = {{"files", "sensors-train.csv"}, {"rows", "20,000"},
               {"numeric columns", "16"},      {"categorical columns", "1 (mode: 4 levels)"},
               {"missing values", "0.2 %"},    {"left out", "kind, label (constant)"}};
  page.timing = {{"reading", "0.4 s"}, {"training", "14.2 s"}, {"calibration", "0.6 s"}};
  page.notes = {{report::Severity::kInfo, "column kind is constant and was left out"},
                {report::Severity::kWarning,
                 "400 calibration rows cannot promise a false-alarm rate of 0.1 %"}};
  page.json = R"({"rows": 18000, "threshold": 3.178, "epochs": 40})";
  return page;
}

report::EvaluateReport MakeEvaluateReport() {
  const Sample sample = MakeSample(20'000, 480);
  const auto quality = *learn::MeasureQuality(sample.scores, sample.labels, {.threshold = 3.178});
  report::EvaluateReport page;
  page.subtitle = "sensors-test.csv scored by model/";
  page.rows = quality.rows;
  page.anomalies = quality.anomalies;
  page.resamples = quality.resamples;
  page.confidence = quality.confidence;
  const auto add = [&page](const char* name, const char* meaning, const learn::Figure& figure,
                           bool percent) {
    page.figures.push_back(
        {name, meaning, figure.value, figure.low, figure.high, figure.random, percent});
  };
  const auto& alarm = *quality.at_threshold;
  add("AUROC", "chance that an anomaly outscores a normal row", quality.auroc, false);
  add("AUPRC", "precision averaged over recall", quality.auprc, false);
  add("precision", "share of alarms that are anomalies", *alarm.precision, true);
  add("recall", "share of anomalies found", alarm.recall, true);
  add("false-alarm rate", "share of normal rows alarmed", alarm.false_alarm_rate, true);
  const auto curve = learn::QualityCurve(sample.scores, sample.labels);
  for (const auto& point : *curve) {
    page.curve.push_back({point.threshold, point.false_alarm_rate, point.recall, point.precision});
  }
  page.operating = {
      {3.178, alarm.false_alarm_rate.value, alarm.recall.value, alarm.precision->value}};
  page.scores = BinsOf(*learn::MakeScoreHistogram(sample.scores, sample.labels, 60));
  const auto kinds = learn::QualityByKind(sample.scores, sample.labels, sample.kinds, 3.178);
  for (const auto& kind : *kinds) {
    page.kinds.push_back({kind.kind, kind.rows, kind.found, kind.auroc});
  }
  page.top_features = {{"discharge_pressure_bar", 0.31},
                       {"pump_a_current_a", 0.22},
                       {"flow_m3h", 0.14},
                       {"motor_b_temp_c", 0.08},
                       {"tank_level_m", 0.05}};
  page.anomalous_rows = {
      {"19,204", 88.1, 0.0005, "spike", {"flow_m3h 412, expected 188", "power_kw 61, expected 60"}},
      {"7,310", 41.6, 0.0005, "spike", {"motor_b_temp_c 121, expected 64"}},
      {"3,377", 19.0, 0.001, "normal", {"voltage_v 412, expected 399"}}};
  page.json = fmt::format(R"({{"rows": {}, "auroc": {{"value": {}, "low": {}, "high": {}}}}})",
                          page.rows, quality.auroc.value, quality.auroc.low, quality.auroc.high);
  return page;
}

report::EvaluateReport MakeHostileReport() {
  report::EvaluateReport page = MakeEvaluateReport();
  page.title = kHostile;
  page.subtitle = kHostile;
  page.figures[0].name = kHostile;
  page.figures[0].meaning = kHostile;
  page.kinds[0].kind = kHostile;
  page.top_features[0].feature = kHostile;
  page.anomalous_rows[0] = {kHostile, 1.0, std::nullopt, kHostile, {kHostile, kHostile}};
  page.notes = {{report::Severity::kWarning, kHostile}, {report::Severity::kInfo, kHostile}};
  page.json = R"({"column": "</script><b>x</b><!-- & \u2028 )"
              "\xE2\x80\xA8\"}";
  return page;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

bool WritePage(const std::string& base, const std::string& html, const std::string& json) {
  return Write(base + ".html", html) && Write(base + ".json", json);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: report_sample FOLDER\n");
    return kExitBadInput;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const auto train = MakeTrainReport();
  const auto evaluate = MakeEvaluateReport();
  const auto hostile = MakeHostileReport();
  report::EvaluateReport empty;
  empty.json = "{}";
  const bool written = WritePage(folder + "train", Render(train), train.json) &&
                       WritePage(folder + "evaluate", Render(evaluate), evaluate.json) &&
                       WritePage(folder + "hostile", Render(hostile), hostile.json) &&
                       WritePage(folder + "empty", Render(empty), empty.json);
  return written ? kExitFine : kExitCouldNotRun;
}
