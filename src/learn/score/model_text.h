#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "learn/score/model.h"

namespace ringward::learn {

/// model.toml of `model`; the [files] table lists bytes and CRC-32 of every other file in `files`,
/// the first line the CRC-32 of the lines after it.
std::string WriteModelText(const Model& model, const ModelFiles& files);

/// What the [files] table says of one file; -1 where it says nothing that can be read.
struct ListedFile {
  std::int64_t bytes = -1;
  std::int64_t crc32 = -1;
};

/// What model.toml says, before the other files are looked at. Scores parts without arrays.
struct ModelText {
  std::string kind;
  std::string features;
  NetSpec net;
  double false_alarm_rate = 0.01;
  bool has_neighbours = false;
  int neighbour_count = 0;
  double neighbour_weight = 0.0;
  double neighbour_floor = 0.0;
  double neighbour_scale = 1.0;
  ModelHistory history;
  std::optional<std::map<std::string, ListedFile>> files;  ///< nothing without a [files] table
};

/// kCorrupt for anything but a model this program can read; a newer version is named as such.
Result<ModelText> ReadModelText(std::string_view text, const std::string& file);

/// kCorrupt naming model.toml where the text of it in `files` is not what was written, or the first
/// file that lacks, has another size or another checksum than `text`, read from it, lists.
Status CheckFiles(const ModelText& text, const ModelFiles& files, const std::string& folder);

}  // namespace ringward::learn
