#include "learn/score/model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "learn/data/missing.h"
#include "learn/data/test_files.h"
#include "learn/score/safetensors.h"
#include "learn/score/test_model.h"

namespace ringward::learn {
namespace {

TEST(SafetensorsTest, ReadsWhatItWrote) {
  const std::vector<Tensor> tensors{{"a", {2, 2}, std::vector<float>{1, 2, 3, 4}},
                                    {"b", {}, std::vector<double>{0.1}},
                                    {"none", {0, 7}, std::vector<float>{}}};
  const std::string bytes = WriteSafetensors(tensors);
  const auto read = *ReadSafetensors(bytes);
  ASSERT_EQ(read.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read[i].name, tensors[i].name);
    EXPECT_EQ(read[i].shape, tensors[i].shape);
    EXPECT_EQ(read[i].values, tensors[i].values);
  }
}

TEST(FeaturesTest, ACellWithoutAValueReadsMissingInEveryColumn) {
  const Model model = MakeModel();  // neither column missed values in training
  const auto features = FeaturesOf(model.preprocessor);
  EXPECT_EQ(FeatureValue(model.preprocessor, features[0], std::vector<float>{kMissingInput}),
            "missing");
  EXPECT_EQ(FeatureValue(model.preprocessor, features[0], std::vector<float>{0.0F}), "2.5");
}

std::string Safetensors(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

TEST(SafetensorsTest, RefusesHostileFiles) {
  const std::string eight(8, '\0');
  const std::string cases[] = {
      "",
      "short",
      std::string(8, '\xff') + "{}",
      Safetensors("not json", ""),
      Safetensors("[]", ""),
      Safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}})", eight),
      Safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", eight),
      Safetensors(R"({"a":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}})", eight),
      Safetensors(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", eight),
      Safetensors(R"({"a":{"dtype":"F32","shape":[4294967296,4294967297],"data_offsets":[0,8]}})",
                  eight),
      Safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", eight),
      Safetensors(R"({"a":7})", eight),
  };
  for (const std::string& bytes : cases) {
    const auto read = ReadSafetensors(bytes);
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code(), Code::kCorrupt);
  }
}

TEST(ModelTest, FilesAreReproducibleAndComeBack) {
  const Model model = MakeModel();
  const ModelFiles files = *WriteModelFiles(model);
  EXPECT_EQ(files, *WriteModelFiles(model));
  const auto read = ReadModelFiles(files, "m");
  ASSERT_TRUE(read) << read.error().what();
  EXPECT_EQ(read->parameters, model.parameters);
  EXPECT_EQ(read->calibration.scores(), model.calibration.scores());
  EXPECT_EQ(read->net.layers[0].activation, Activation::kGelu);
  EXPECT_EQ(read->net.layers[0].dropout, 0.25);
  EXPECT_EQ(read->parts.neighbours->references().values,
            model.parts.neighbours->references().values);
  EXPECT_EQ(*WriteModelFiles(*read), files) << "writing what was read changes nothing";
}

void Replace(ModelFiles& files, const std::string& name, const std::string& from,
             const std::string& to) {
  std::string& text = files.at(name);
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

struct DamageCase {
  const char* what;
  std::function<void(ModelFiles&)> damage;
  const char* message;
  Checksums checksums = Checksums::kVerify;
};

TEST(ModelTest, DamagedModelsAreRefusedWithAReason) {
  const DamageCase cases[] = {
      {"no model.toml", [](ModelFiles& f) { f.erase("model.toml"); }, "m: holds no model.toml"},
      {"weights missing", [](ModelFiles& f) { f.erase("weights.safetensors"); },
       "m/weights.safetensors: is missing"},
      {"weights truncated", [](ModelFiles& f) { f["weights.safetensors"].pop_back(); },
       "truncated?"},
      {"a flipped bit", [](ModelFiles& f) { f["weights.safetensors"].back() ^= 1; },
       "m/weights.safetensors: is damaged (its checksum is wrong)"},
      {"a newer version",
       [](ModelFiles& f) { Replace(f, "model.toml", "version = 1", "version = 2"); },
       "newer than this program"},
      {"another kind of file", [](ModelFiles& f) { f["model.toml"] = "a = 1\n"; },
       "m/model.toml: is not a ringward model"},
      {"no TOML", [](ModelFiles& f) { f["model.toml"] = "format = \n"; }, "m/model.toml:1"},
      {"huge net", [](ModelFiles& f) { Replace(f, "model.toml", "members = 2", "members = 900"); },
       "net.input_noise must have one entry a member"},
      {"other width",
       [](ModelFiles& f) { Replace(f, "model.toml", "width = 3", "width = 999999"); },
       "too small for the net", Checksums::kIgnore},
      {"another net of the same shape",
       [](ModelFiles& f) { Replace(f, "model.toml", "gelu", "tanh"); },
       "m/model.toml: is damaged (its checksum is wrong)"},
      {"another end", [](ModelFiles& f) { f["model.toml"] += "\n"; },
       "m/model.toml: is damaged (its checksum is wrong)"},
      {"rate out of range",
       [](ModelFiles& f) {
         Replace(f, "model.toml", "false_alarm_rate = 0.01", "false_alarm_rate = 1.5");
       },
       "m/model.toml: score.false_alarm_rate lacks or is out of its range"},
  };
  for (const DamageCase& c : cases) {
    ModelFiles files = *WriteModelFiles(MakeModel());
    c.damage(files);
    const auto read = ReadModelFiles(files, "m", c.checksums);
    ASSERT_FALSE(read) << c.what;
    EXPECT_NE(read.error().what().find(c.message), std::string::npos)
        << c.what << ": " << read.error().what();
    EXPECT_EQ(read.error().what().find('\n'), std::string::npos) << c.what;
  }
}

TEST(ModelTest, SavingReplacesAModelButNothingElse) {
  const TestFolder folder;
  const Model model = MakeModel();
  const std::string path = folder.Path("model");
  ASSERT_TRUE(SaveModel(model, path, {{"report.html", "<html>"}}));
  ASSERT_TRUE(SaveModel(model, path)) << "a model may be replaced";
  EXPECT_TRUE(LoadModel(path));
  EXPECT_FALSE(std::filesystem::exists(path + "/report.html"));
  std::filesystem::create_directory(folder.Path("mine"));
  folder.Write("mine/thesis.txt", "years of work");
  EXPECT_FALSE(SaveModel(model, folder.Path("mine")));
  EXPECT_FALSE(CheckModelFolder(folder.Path("mine")));
  EXPECT_TRUE(std::filesystem::exists(folder.Path("mine/thesis.txt")));
  std::filesystem::create_directories(folder.Path("model/evaluation"));
  std::filesystem::create_directories(folder.Path("project"));
  folder.Write("model/evaluation/report.html", "<html>");
  folder.Write("model/evaluation/.report.html.tmp-17-0", "<ht");
  EXPECT_TRUE(CheckModelFolder(path)) << "an evaluation's report belongs to the model";
  folder.Write("model/evaluation/notes.txt", "years of work");
  EXPECT_FALSE(CheckModelFolder(path));
  folder.Write("project/model.toml", "[another]\n");
  EXPECT_FALSE(CheckModelFolder(folder.Path("project")));
  EXPECT_TRUE(CheckModelFolder(folder.Path("fresh")));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("fresh")));
}

}  // namespace
}  // namespace ringward::learn
