#include "learn/score/model_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/text_value.h"
#include "base/toml.h"
#include "base/utf8.h"
#include "io/checksum.h"

namespace ringward::learn {
namespace {

constexpr std::array<std::pair<const char*, Activation>, 6> kActivations{{
    {"identity", Activation::kIdentity},
    {"relu", Activation::kRelu},
    {"leaky-relu", Activation::kLeakyRelu},
    {"tanh", Activation::kTanh},
    {"sigmoid", Activation::kSigmoid},
    {"gelu", Activation::kGelu},
}};

std::string NameOf(Activation activation) {
  for (const auto& [name, value] : kActivations) {
    if (value == activation) return name;
  }
  return "";
}

toml::array TextArray(const std::vector<std::string>& texts) {
  toml::array array;
  for (const auto& text : texts) array.push_back(EscapeBytes(text));
  return array;
}

toml::table NetTable(const NetSpec& net) {
  toml::array layers;
  for (const LayerSpec& layer : net.layers) {
    layers.push_back(toml::table{{"width", layer.width},
                                 {"activation", NameOf(layer.activation)},
                                 {"dropout", layer.dropout}});
  }
  toml::array noise;
  for (const float sd : net.input_noise) noise.push_back(static_cast<double>(sd));
  return toml::table{{"inputs", net.inputs},
                     {"members", net.members},
                     {"input_noise", std::move(noise)},
                     {"layers", std::move(layers)}};
}

toml::table ScoreTable(const Model& model) {
  const auto& parts = model.parts;
  toml::table table{{"false_alarm_rate", model.false_alarm_rate},
                    {"threshold", model.threshold()},
                    {"calibration_rows", static_cast<std::int64_t>(model.calibration.size())},
                    {"neighbours", parts.neighbours ? parts.neighbours->k() : 0},
                    {"neighbour_weight", parts.neighbour_weight},
                    {"neighbour_floor", parts.neighbour_floor},
                    {"neighbour_scale", parts.neighbour_scale}};
  return table;
}

toml::table HistoryTable(const ModelHistory& history) {
  return toml::table{{"created_by", history.created_by},
                     {"seed", static_cast<std::int64_t>(history.seed)},
                     {"rows", static_cast<std::int64_t>(history.rows)},
                     {"steps", history.steps},
                     {"world_size", history.world_size},
                     {"engine", history.engine},
                     {"train_loss", history.train_loss},
                     {"label", EscapeBytes(history.label)},
                     {"normal", TextArray(history.normal)},
                     {"notes", TextArray(history.notes)}};
}

/// Reads values of one table; the first one that lacks or is out of range is remembered.
class TableReader {
 public:
  TableReader(const toml::table* table, std::string name) : table_(table), name_(std::move(name)) {}

  template <typename T>
  T Get(const char* key, T low, T high) {
    const auto value = table_ == nullptr ? std::nullopt : (*table_)[key].value<T>();
    if (!value || !(*value >= low && *value <= high)) {
      if (error_.empty()) error_ = fmt::format("{}.{} lacks or is out of its range", name_, key);
      return low;
    }
    return *value;
  }
  std::string Text(const char* key) {
    const auto value = table_ == nullptr ? std::nullopt : (*table_)[key].value<std::string>();
    if (!value && error_.empty()) error_ = fmt::format("{}.{} lacks", name_, key);
    return value.value_or("");
  }
  std::vector<std::string> Texts(const char* key) const {
    std::vector<std::string> texts;
    const toml::array* array = table_ == nullptr ? nullptr : (*table_)[key].as_array();
    if (array == nullptr) return texts;
    for (const auto& item : *array) {
      texts.push_back(UnescapeBytes(item.value<std::string>().value_or("")));
    }
    return texts;
  }
  const toml::array* Array(const char* key) {
    const toml::array* array = table_ == nullptr ? nullptr : (*table_)[key].as_array();
    if (array == nullptr && error_.empty()) error_ = fmt::format("{}.{} lacks", name_, key);
    return array;
  }
  const std::string& error() const { return error_; }

 private:
  const toml::table* table_;
  std::string name_;
  std::string error_;
};

Result<LayerSpec> ReadLayer(const toml::table* table) {
  TableReader reader(table, "net.layers");
  LayerSpec layer;
  layer.width = static_cast<int>(reader.Get<std::int64_t>("width", 1, 1'000'000));
  layer.dropout = reader.Get<double>("dropout", 0.0, 0.999);
  const std::string activation = reader.Text("activation");
  if (!reader.error().empty()) return Error(Code::kCorrupt, reader.error());
  for (const auto& [name, value] : kActivations) {
    if (activation == name) {
      layer.activation = value;
      return layer;
    }
  }
  return Error(Code::kCorrupt, "net.layers.activation '" + Printable(activation) + "' is unknown");
}

Result<NetSpec> ReadNet(const toml::table* table) {
  TableReader reader(table, "net");
  NetSpec net;
  net.inputs = static_cast<int>(reader.Get<std::int64_t>("inputs", 1, 1'000'000));
  net.members = static_cast<int>(reader.Get<std::int64_t>("members", 1, 1'000));
  const toml::array* noise = reader.Array("input_noise");
  const toml::array* layers = reader.Array("layers");
  if (!reader.error().empty()) return Error(Code::kCorrupt, reader.error());
  for (const auto& sd : *noise) {
    const double value = sd.value<double>().value_or(-1.0);
    if (!(value >= 0.0 && value <= 1e6))
      return Error(Code::kCorrupt, "net.input_noise is out of its range");
    net.input_noise.push_back(static_cast<float>(value));
  }
  if (!net.input_noise.empty() && net.input_noise.size() != static_cast<std::size_t>(net.members)) {
    return Error(Code::kCorrupt, "net.input_noise must have one entry a member");
  }
  if (layers->empty() || layers->size() > 100)
    return Error(Code::kCorrupt, "net.layers must have 1 to 100 entries");
  for (const auto& item : *layers) {
    RINGWARD_ASSIGN(const LayerSpec layer, ReadLayer(item.as_table()));
    net.layers.push_back(layer);
  }
  if (net.layers.back().width != net.inputs) {
    return Error(Code::kCorrupt, "net.layers must end in a layer as wide as net.inputs");
  }
  return net;
}

Status ReadScore(const toml::table* table, ModelText& text) {
  TableReader reader(table, "score");
  text.false_alarm_rate = reader.Get<double>("false_alarm_rate", 1e-12, 1.0 - 1e-12);
  text.neighbour_count = static_cast<int>(reader.Get<std::int64_t>("neighbours", 0, 10'000));
  text.neighbour_weight = reader.Get<double>("neighbour_weight", 0.0, 1e6);
  text.neighbour_floor = reader.Get<double>("neighbour_floor", 0.0, 1e6);
  text.neighbour_scale = reader.Get<double>("neighbour_scale", 1e-300, 1e300);
  text.has_neighbours = text.neighbour_count > 0;
  if (!reader.error().empty()) return Error(Code::kCorrupt, reader.error());
  return Ok();
}

Status ReadHistory(const toml::table* table, ModelHistory& history) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  TableReader reader(table, "history");
  history.created_by = reader.Text("created_by");
  history.engine = reader.Text("engine");
  history.label = UnescapeBytes(reader.Text("label"));
  history.seed = static_cast<std::uint64_t>(reader.Get<std::int64_t>("seed", 0, kMax));
  history.rows = static_cast<std::uint64_t>(reader.Get<std::int64_t>("rows", 0, kMax));
  history.steps = reader.Get<std::int64_t>("steps", 0, kMax);
  history.world_size = static_cast<int>(reader.Get<std::int64_t>("world_size", 1, 1'000'000));
  history.train_loss = reader.Get<double>("train_loss", 0.0, 1e300);
  history.normal = reader.Texts("normal");
  history.notes = reader.Texts("notes");
  if (!reader.error().empty()) return Error(Code::kCorrupt, reader.error());
  return Ok();
}

std::optional<std::map<std::string, ListedFile>> ReadFiles(const toml::table* table) {
  if (table == nullptr) return std::nullopt;
  std::map<std::string, ListedFile> files;
  for (const auto& [name, node] : *table) {
    const toml::table* entry = node.as_table();
    ListedFile& file = files[std::string(name.str())];
    if (entry == nullptr) continue;
    file.bytes = (*entry)["bytes"].value<std::int64_t>().value_or(-1);
    file.crc32 = (*entry)["crc32"].value<std::int64_t>().value_or(-1);
  }
  return files;
}

/// The first line of a model.toml whose other lines are `rest`.
std::string ChecksumLine(std::string_view rest) {
  return fmt::format("crc32 = {}  # of all that follows\n", io::Crc32(rest));
}

Status CheckVersion(const toml::table& table, const std::string& file) {
  if (table["format"].value<std::string>().value_or("") != kModelFormatName) {
    return Error(Code::kCorrupt, file + ": is not a ringward model");
  }
  const auto version = table["version"].value<std::int64_t>().value_or(0);
  if (version > kModelFormatVersion) {
    return Error(
        Code::kInvalidInput,
        fmt::format("{}: version {} of the format is newer than this program, which reads up "
                    "to {}; update ringward",
                    file, version, kModelFormatVersion));
  }
  if (version < 1) return Error(Code::kCorrupt, file + ": version lacks or is out of its range");
  return Ok();
}

}  // namespace

std::string WriteModelText(const Model& model, const ModelFiles& files) {
  toml::table listed;
  for (const auto& [name, bytes] : files) {
    listed.insert(name, toml::table{{"bytes", static_cast<std::int64_t>(bytes.size())},
                                    {"crc32", static_cast<std::int64_t>(io::Crc32(bytes))}});
  }
  toml::table table{{"format", kModelFormatName}, {"version", kModelFormatVersion},
                    {"kind", model.kind},         {"net", NetTable(model.net)},
                    {"score", ScoreTable(model)}, {"history", HistoryTable(model.history)},
                    {"files", std::move(listed)}};
  if (!model.features.empty()) table.insert("features", model.features);
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << table << '\n';
  return ChecksumLine(out.str()) + out.str();
}

Result<ModelText> ReadModelText(std::string_view text, const std::string& file) {
  RINGWARD_ASSIGN(const toml::table table, ParseToml(text, file, Code::kCorrupt));
  RINGWARD_TRY(CheckVersion(table, file));
  const auto refuse = [&](const Error& error) {
    return Error(error.code(), file + ": " + error.what());
  };
  ModelText result;
  result.kind = table["kind"].value<std::string>().value_or("");
  result.features = table["features"].value<std::string>().value_or("");
  if (result.kind != "autoencoder") {
    return Error(Code::kInvalidInput, file + ": kind '" + Printable(result.kind) + "' is unknown");
  }
  auto net = ReadNet(table["net"].as_table());
  if (!net) return refuse(net.error());
  result.net = *std::move(net);
  if (auto score = ReadScore(table["score"].as_table(), result); !score)
    return refuse(score.error());
  if (auto history = ReadHistory(table["history"].as_table(), result.history); !history) {
    return refuse(history.error());
  }
  result.files = ReadFiles(table["files"].as_table());
  return result;
}

Status CheckFiles(const ModelText& text, const ModelFiles& files, const std::string& folder) {
  const std::string_view whole = files.at("model.toml");
  if (!whole.starts_with("crc32 = ")) {
    return Error(Code::kCorrupt,
                 folder + "/model.toml: has no checksum (was it made by an older version?)");
  }
  const std::string_view rest = whole.substr(std::min(whole.size(), whole.find('\n') + 1));
  if (whole.substr(0, whole.size() - rest.size()) != ChecksumLine(rest)) {
    return Error(Code::kCorrupt, folder + "/model.toml: is damaged (its checksum is wrong)");
  }
  if (!text.files) return Error(Code::kCorrupt, folder + "/model.toml: files lacks");
  for (const auto& [name, listed] : *text.files) {
    const auto found = files.find(name);
    if (found == files.end())
      return Error(Code::kCorrupt, folder + "/" + Printable(name) + ": is missing");
    if (listed.bytes != static_cast<std::int64_t>(found->second.size())) {
      return Error(Code::kCorrupt,
                   fmt::format("{}/{}: has {} bytes where model.toml says {} (truncated?)", folder,
                               name, found->second.size(), listed.bytes));
    }
    if (listed.crc32 != static_cast<std::int64_t>(io::Crc32(found->second))) {
      return Error(Code::kCorrupt,
                   fmt::format("{}/{}: is damaged (its checksum is wrong)", folder, name));
    }
  }
  return Ok();
}

}  // namespace ringward::learn
