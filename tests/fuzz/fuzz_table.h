#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "learn/data/file_reader.h"
#include "learn/data/labels.h"
#include "learn/data/missing.h"
#include "learn/data/preprocessor.h"
#include "learn/data/table.h"

namespace ringward::learn {

/// An error is one printable line of bounded length.
inline void CheckError(const Error& error) {
  RINGWARD_CHECK(!error.what().empty() && error.what().size() < 1000);
  for (const char c : error.what()) RINGWARD_CHECK(static_cast<unsigned char>(c) >= 0x20);
}

inline bool Failed(const auto& result) {
  if (!result) CheckError(result.error());
  return !result;
}

inline Status ReadBlocks(FileReader& file, Table& table) {
  while (true) {
    Block block;
    block.slots = table.schema.slots;
    block.texts.resize(block.slots);
    block.first_row = table.rows;
    block.file = table.schema.file;
    RINGWARD_ASSIGN(const bool any, file.Next(table.schema, block));
    if (!any) return Ok();
    RINGWARD_CHECK(block.rows > 0 && block.numbers.size() == block.rows * block.slots);
    table.rows += block.rows;
    table.blocks.push_back(std::move(block));
  }
}

/// Fits on the rows, sends them through the model's text form, and checks what comes out.
inline void UseTable(Result<std::unique_ptr<FileReader>> file, const DataOptions& options) {
  if (Failed(file)) return;
  const FileColumns& columns = (*file)->columns();
  auto schema = MakeSchema(columns.names, columns.named, "fuzz", options, columns.extra_label);
  if (Failed(schema)) return;
  Table table{*std::move(schema), {}, 0};
  if (Failed(ReadBlocks(**file, table)) || table.rows == 0) return;
  const auto fitted = Preprocessor::Fit(table, {}, options, PreprocessOptions());
  if (Failed(fitted)) return;
  const std::string text = fitted->ToToml();
  const auto again = Preprocessor::FromToml(text, "fuzz.toml");
  RINGWARD_CHECK(again && again->ToToml() == text);
  const auto slots = again->Bind(table.schema);
  RINGWARD_CHECK(static_cast<bool>(slots));
  TransformCounts counts;
  for (const Block& block : table.blocks) {
    std::vector<float> out(block.rows * again->width());
    const auto done = again->Transform(block, *slots, out, counts);
    RINGWARD_CHECK(static_cast<bool>(done));  // Fit saw the same rows
    for (const float value : out) RINGWARD_CHECK(std::isfinite(value) || IsMissingInput(value));
    if (const Column* label = table.schema.WithRole(Role::kLabel)) {
      (void)LabelsOf(block, label->slot, NormalValues({}));
    }
  }
}

}  // namespace ringward::learn
