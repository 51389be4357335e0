#include "ringward/model_info.h"

#include <nlohmann/json.hpp>

#include "base/exit_code.h"
#include "base/table_printer.h"
#include "learn/data/number.h"
#include "learn/score/model.h"

namespace ringward::cli {
namespace {

const char* KindName(learn::ColumnKind kind) {
  switch (kind) {
    case learn::ColumnKind::kNumeric:
      return "numeric";
    case learn::ColumnKind::kOneHot:
      return "categorical, one-hot";
    case learn::ColumnKind::kHashed:
      return "categorical, hashed";
    case learn::ColumnKind::kDropped:
      return "dropped";
  }
  return "";
}

/// What training saw of a column, in a few words.
std::string Describe(const learn::ColumnModel& column) {
  switch (column.kind) {
    case learn::ColumnKind::kNumeric:
      return fmt::format("{} .. {}, mean {}{}", learn::RoundedNumber(column.min, column.sd),
                         learn::RoundedNumber(column.max, column.sd),
                         learn::RoundedNumber(column.mean, column.sd),
                         column.has_missing ? ", some missing" : "");
    case learn::ColumnKind::kOneHot:
      return fmt::format("{} levels", column.levels.size());
    case learn::ColumnKind::kHashed:
      return fmt::format("{} buckets", column.buckets);
    case learn::ColumnKind::kDropped:
      return column.reason;
  }
  return "";
}

Json ModelJson(const std::string& folder, const learn::Model& model) {
  Json columns = Json::array();
  for (const auto& column : model.preprocessor.columns()) {
    columns.push_back(
        {{"name", column.name}, {"kind", KindName(column.kind)}, {"seen", Describe(column)}});
  }
  Json layers = Json::array();
  for (const auto& layer : model.net.layers) layers.push_back(layer.width);
  return {{"model", folder},
          {"kind", model.kind},
          {"features", model.features},
          {"format_version", learn::kModelFormatVersion},
          {"created_by", model.history.created_by},
          {"rows", model.history.rows},
          {"steps", model.history.steps},
          {"ranks", model.history.world_size},
          {"engine", model.history.engine},
          {"seed", model.history.seed},
          {"train_loss", model.history.train_loss},
          {"inputs", model.net.inputs},
          {"window", model.preprocessor.window()},
          {"layers", std::move(layers)},
          {"members", model.net.members},
          {"parameters", model.parameters.size()},
          {"false_alarm_rate", model.false_alarm_rate},
          {"threshold", model.threshold()},
          {"calibration_rows", model.calibration.size()},
          {"columns", std::move(columns)}};
}

}  // namespace

SubcommandInfo ModelInfoCommand::Info() const {
  return {.path = "model info",
          .group = "Models",
          .summary = "show what a model folder holds",
          .details = "",
          .example = "ringward model info model",
          .exit_codes = {}};
}

void ModelInfoCommand::AddOptions(OptionTable& table) {
  table.AddPositional("model", &model_, {.what = "a folder"}, "the model's folder")
      .Complete(Completion::kFolder)
      .Required();
}

Result<int> ModelInfoCommand::Run(Context& context) {
  RINGWARD_ASSIGN(const learn::Model model, learn::LoadModel(model_));
  if (context.common.json) {
    context.out.WriteJson(ModelJson(model_, model));
    return kExitFine;
  }
  const auto& history = model.history;
  context.out.Print("{}: {} by {}, {} rows, {} steps on {} rank{} ({}), seed {}\n", model_,
                    model.kind, history.created_by, history.rows, history.steps, history.world_size,
                    history.world_size == 1 ? "" : "s", history.engine, history.seed);
  context.out.Print(
      "{} nets of {} inputs, {} parameters; threshold {:.4g} for a false-alarm rate of "
      "{:g} from {} calibration rows\n\n",
      model.net.members, model.net.inputs, model.parameters.size(), model.threshold(),
      model.false_alarm_rate, model.calibration.size());
  TablePrinter table({{"column"}, {"kind"}, {"in training"}});
  for (const auto& column : model.preprocessor.columns()) {
    table.AddRow({column.name, KindName(column.kind), Describe(column)});
  }
  context.out.Write(table.ToString());
  return kExitFine;
}

}  // namespace ringward::cli
