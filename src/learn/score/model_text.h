#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "learn/score/model.h"

namespace ringward::learn {

/// model.toml of `model`; the [files] table lists bytes and CRC-32 of every other file in `files`.
std::string WriteModelText(const Model& model, const ModelFiles& files);

/// What model.toml says, before the other files are looked at. Scores parts without arrays.
struct ModelText {
  std::string kind;
  NetSpec net;
  double false_alarm_rate = 0.01;
  bool has_neighbours = false;
  int neighbour_count = 0;
  double neighbour_weight = 0.0;
  double neighbour_floor = 0.0;
  double neighbour_scale = 1.0;
  ModelHistory history;
};

/// kCorrupt for anything but a model this program can read; a newer version is named as such.
Result<ModelText> ReadModelText(std::string_view text, const std::string& file);

/// kCorrupt naming the first file that lacks, has another size or another checksum than the
/// [files] table of `text` says.
Status CheckFiles(std::string_view text, const ModelFiles& files, const std::string& folder);

}  // namespace ringward::learn
