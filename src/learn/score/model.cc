#include "learn/score/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "base/system_error.h"
#include "io/atomic_directory.h"
#include "io/atomic_file.h"
#include "io/byte_source.h"
#include "io/sync.h"
#include "learn/dense/spec_check.h"
#include "learn/score/model_text.h"
#include "learn/score/safetensors.h"

namespace ringward::learn {
namespace {

constexpr const char* kText = "model.toml";
constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kCalibration = "calibration.safetensors";
constexpr const char* kPreprocessing = "preprocessing.toml";
constexpr const char* kReport = "report.html";
constexpr const char* kEvaluation = "evaluation";
constexpr std::size_t kTextBytesMax = std::size_t{16} << 20U;

std::string WhiteningName(std::size_t member) {
  return fmt::format("members.{}.whitening", member);
}

/// Takes tensors out by name, checking their shapes.
class TensorSet {
 public:
  static Result<TensorSet> Parse(std::string_view bytes, const std::string& file) {
    auto tensors = ReadSafetensors(bytes);
    if (!tensors) return Error(tensors.error().code(), file + ": " + tensors.error().what());
    TensorSet set;
    set.file_ = file;
    for (auto& tensor : *tensors) set.tensors_.emplace(tensor.name, std::move(tensor));
    return set;
  }

  template <typename T>
  Result<std::vector<T>> Take(const std::string& name, const std::vector<std::size_t>& shape) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) return Refuse(name, "is missing");
    auto* values = std::get_if<std::vector<T>>(&found->second.values);
    if (values == nullptr || found->second.shape != shape)
      return Refuse(name, "has the wrong shape or type");
    if (!std::all_of(values->begin(), values->end(), [](T x) { return std::isfinite(x); })) {
      return Refuse(name, "holds a value that is not finite");
    }
    return std::move(*values);
  }
  /// Extent `axis` of a tensor, 0 where there is none.
  std::size_t Extent(const std::string& name, std::size_t axis) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.shape.size() <= axis) return 0;
    return found->second.shape[axis];
  }

 private:
  Error Refuse(const std::string& name, const char* why) const {
    return Error(Code::kCorrupt, fmt::format("{}: tensor {} {}", file_, name, why));
  }
  std::string file_;
  std::map<std::string, Tensor> tensors_;
};

std::vector<std::size_t> WhiteningShape(std::size_t width) {
  return Whitening::MomentCount(width) == width && width > 1
             ? std::vector<std::size_t>{width}
             : std::vector<std::size_t>{width, width};
}

Result<std::vector<float>> TakeParameters(TensorSet& set, const NetSpec& net,
                                          std::size_t file_bytes) {
  // Dividing by the file's size first keeps a hostile net from asking for memory it did not bring.
  if (ParameterCount(net) > file_bytes / sizeof(float)) {
    return Error(Code::kCorrupt,
                 "weights.safetensors: too small for the net that model.toml describes");
  }
  RINGWARD_TRY(CheckSpec(net));
  std::vector<float> parameters(ParameterCount(net));
  for (const TensorView& view : TensorsOf(net)) {
    RINGWARD_ASSIGN(const auto values, set.Take<float>(view.name, view.shape));
    std::copy(values.begin(), values.end(),
              parameters.begin() + static_cast<std::ptrdiff_t>(view.offset));
  }
  return parameters;
}

Result<ScoreParts> TakeParts(TensorSet& set, const ModelText& text,
                             const Preprocessor& preprocessor) {
  const auto width = static_cast<std::size_t>(text.net.inputs);
  ScoreParts parts;
  parts.neighbour_weight = text.neighbour_weight;
  parts.neighbour_floor = text.neighbour_floor;
  parts.neighbour_scale = text.neighbour_scale;
  for (std::size_t m = 0; m < static_cast<std::size_t>(text.net.members); ++m) {
    RINGWARD_ASSIGN(auto matrix, set.Take<float>(WhiteningName(m), WhiteningShape(width)));
    RINGWARD_ASSIGN(auto whitening, Whitening::FromMatrix(std::move(matrix), width));
    parts.whitening.push_back(std::move(whitening));
  }
  if (!text.has_neighbours) return parts;
  const std::size_t count = set.Extent("neighbours", 0);
  if (count == 0) return Error(Code::kCorrupt, "weights.safetensors: tensor neighbours is missing");
  Matrix references;
  references.rows = count;
  references.cols = width;
  RINGWARD_ASSIGN(references.values, set.Take<float>("neighbours", {count, width}));
  parts.neighbours.emplace(std::move(references), text.neighbour_count,
                           IndicatorInputs(IndicatorsOf(preprocessor)));
  return parts;
}

Result<std::string> ReadFile(const std::string& path, std::size_t bytes_max) {
  RINGWARD_ASSIGN(auto source, io::OpenRawInput(path));
  return io::ReadAll(*source, bytes_max);
}

/// Whether every entry of `folder` is among `names`.
bool HoldsOnly(const std::filesystem::path& folder, std::initializer_list<std::string_view> names) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(io::HiddenPrefix(kReport))) continue;  // a killed `evaluate`
    if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  }
  return !error;
}

/// A folder that may be replaced: a model's, with nothing in it that is somebody else's.
bool IsNothingButModel(const std::string& folder) {
  const auto text = ReadFile(folder + "/" + kText, kTextBytesMax);
  if (!text || text->find(kModelFormatName) == std::string::npos) return false;
  if (!HoldsOnly(folder, {kText, kWeights, kCalibration, kPreprocessing, kReport, kEvaluation})) {
    return false;
  }
  const auto evaluation = std::filesystem::path(folder) / kEvaluation;
  std::error_code error;
  return !std::filesystem::exists(evaluation, error) || HoldsOnly(evaluation, {kReport});
}

}  // namespace

Result<ModelFiles> WriteModelFiles(const Model& model) {
  RINGWARD_TRY(CheckSpec(model.net));
  std::vector<Tensor> tensors;
  for (const TensorView& view : TensorsOf(model.net)) {
    std::size_t count = 1;
    for (const std::size_t extent : view.shape) count *= extent;
    const auto values = std::span(model.parameters).subspan(view.offset, count);
    tensors.push_back({view.name, view.shape, std::vector<float>(values.begin(), values.end())});
  }
  const auto width = static_cast<std::size_t>(model.net.inputs);
  for (std::size_t m = 0; m < model.parts.whitening.size(); ++m) {
    tensors.push_back({WhiteningName(m), WhiteningShape(width), model.parts.whitening[m].matrix()});
  }
  if (model.parts.neighbours) {
    const Matrix& references = model.parts.neighbours->references();
    tensors.push_back({"neighbours", {references.rows, references.cols}, references.values});
  }
  ModelFiles files;
  files[kWeights] = WriteSafetensors(tensors);
  files[kCalibration] =
      WriteSafetensors({{"scores", {model.calibration.size()}, model.calibration.scores()}});
  files[kPreprocessing] = model.preprocessor.ToToml();
  files[kText] = WriteModelText(model, files);
  return files;
}

namespace {

/// The model whose model.toml says `parsed`.
Result<Model> ReadParts(ModelText parsed, const ModelFiles& files, const std::string& folder,
                        Checksums checksums) {
  if (checksums == Checksums::kVerify) RINGWARD_TRY(CheckFiles(parsed, files, folder));
  for (const char* name : {kWeights, kCalibration, kPreprocessing}) {
    if (!files.contains(name)) return Error(Code::kCorrupt, folder + "/" + name + ": is missing");
  }
  RINGWARD_ASSIGN(auto preprocessor,
                  Preprocessor::FromToml(files.at(kPreprocessing), folder + "/" + kPreprocessing));
  if (preprocessor.inputs() != static_cast<std::size_t>(parsed.net.inputs)) {
    return Error(Code::kCorrupt, folder + "/" + kPreprocessing + ": makes " +
                                     std::to_string(preprocessor.inputs()) +
                                     " inputs where the net takes " +
                                     std::to_string(parsed.net.inputs));
  }
  const std::string& weights = files.at(kWeights);
  RINGWARD_ASSIGN(auto tensors, TensorSet::Parse(weights, folder + "/" + kWeights));
  RINGWARD_ASSIGN(auto parameters, TakeParameters(tensors, parsed.net, weights.size()));
  RINGWARD_ASSIGN(auto parts, TakeParts(tensors, parsed, preprocessor));
  RINGWARD_ASSIGN(auto scores,
                  TensorSet::Parse(files.at(kCalibration), folder + "/" + kCalibration));
  const std::size_t count = scores.Extent("scores", 0);
  RINGWARD_ASSIGN(auto values, scores.Take<double>("scores", {count}));
  RINGWARD_ASSIGN(auto calibration, Calibration::Make(std::move(values)));
  return Model{.kind = parsed.kind,
               .features = parsed.features,
               .net = std::move(parsed.net),
               .parameters = std::move(parameters),
               .preprocessor = std::move(preprocessor),
               .parts = std::move(parts),
               .calibration = std::move(calibration),
               .false_alarm_rate = parsed.false_alarm_rate,
               .history = std::move(parsed.history)};
}

}  // namespace

Result<Model> ReadModelFiles(const ModelFiles& files, const std::string& folder,
                             Checksums checksums) {
  const auto text = files.find(kText);
  if (text == files.end()) return Error(Code::kInvalidInput, folder + ": holds no model.toml");
  RINGWARD_ASSIGN(ModelText parsed, ReadModelText(text->second, folder + "/" + kText));
  return ReadParts(std::move(parsed), files, folder, checksums);
}

Status CheckModelFolder(const std::string& folder) {
  auto directory = io::AtomicDirectory::Create(folder, IsNothingButModel);
  if (!directory) return std::move(directory).error();
  return Ok();
}

Status SaveModel(const Model& model, const std::string& folder, const ModelFiles& extra) {
  RINGWARD_ASSIGN(const ModelFiles files, WriteModelFiles(model));
  RINGWARD_ASSIGN(auto directory, io::AtomicDirectory::Create(folder, IsNothingButModel));
  for (const auto& part : {files, extra}) {
    for (const auto& [name, bytes] : part) {
      RINGWARD_TRY(io::WriteFileAtomically(directory.folder() + "/" + name, bytes));
    }
  }
  return directory.Commit();
}

Result<Model> LoadModel(const std::string& folder) {
  std::error_code error;
  const auto status = std::filesystem::status(std::filesystem::path(folder) / kText, error);
  if (error == std::errc::permission_denied) return PathError(folder, "open", EACCES);
  if (!std::filesystem::is_regular_file(status)) {
    return Error(Code::kInvalidInput, folder + ": is not a model folder (it holds no model.toml)");
  }
  ModelFiles files;
  RINGWARD_ASSIGN(files[kText], ReadFile(folder + "/" + kText, kTextBytesMax));
  RINGWARD_ASSIGN(ModelText parsed, ReadModelText(files[kText], folder + "/" + kText));
  for (const char* name : {kWeights, kCalibration, kPreprocessing}) {
    const std::string path = folder + "/" + name;
    // ReadParts says which one lacks; nothing is read beyond what was written.
    if (!parsed.files || !std::filesystem::exists(path, error)) continue;
    const auto listed = parsed.files->find(name);
    if (listed == parsed.files->end() || listed->second.bytes < 0) continue;
    RINGWARD_ASSIGN(files[name], ReadFile(path, static_cast<std::size_t>(listed->second.bytes)));
  }
  return ReadParts(std::move(parsed), files, folder, Checksums::kVerify);
}

Result<std::unique_ptr<Plan>> MakeScoringPlan(const Model& model, std::size_t batch_max) {
  RINGWARD_ASSIGN(auto plan,
                  Plan::Make(model.net, PlanOptions{.batch_max = batch_max, .training = false}));
  RINGWARD_CHECK(plan->parameters().size() == model.parameters.size());
  std::copy(model.parameters.begin(), model.parameters.end(), plan->parameters().begin());
  return plan;
}

}  // namespace ringward::learn
