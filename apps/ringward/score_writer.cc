#include "ringward/score_writer.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "io/atomic_file.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

/// A CSV field, quoted where it has to be.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted.push_back('"');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

/// Lines of text, to a file that appears when finished or to standard output.
class LineWriter : public ScoreWriter {
 public:
  LineWriter(std::optional<io::AtomicFile> file, Output& out) : file_(std::move(file)), out_(out) {}

  Status Flush() override {
    if (file_) return WriteBuffer();
    out_.Flush();
    if (out_.failed()) return out_.Finish();
    return Ok();
  }
  Status Finish() override {
    if (!file_) return Flush();
    RINGWARD_TRY(WriteBuffer());
    return file_->Commit();
  }

 protected:
  Status Append(const std::string& line) {
    if (!file_) {
      out_.Write(line);
      return Ok();
    }
    buffer_ += line;
    return buffer_.size() < kBufferBytes ? Ok() : WriteBuffer();
  }

 private:
  Status WriteBuffer() {
    RINGWARD_TRY(file_->Write(buffer_));
    buffer_.clear();
    return Ok();
  }
  std::optional<io::AtomicFile> file_;
  Output& out_;
  std::string buffer_;
};

class CsvWriter final : public LineWriter {
 public:
  CsvWriter(std::optional<io::AtomicFile> file, Output& out, const ScoreColumns& columns)
      : LineWriter(std::move(file), out) {
    for (const auto& id : columns.ids) header_ += Field(id) + ",";
    header_ += "row,score,p_value,anomaly";
    for (std::size_t k = 1; k <= columns.reasons; ++k) header_ += fmt::format(",reason_{}", k);
    header_ += "\n";
  }

  Status Write(const ScoredRow& row) override {
    std::string line = std::exchange(header_, "");
    for (const auto& id : row.ids) line += Field(id) + ",";
    line +=
        fmt::format("{},{:.9g},{:.6g},{}", row.row, row.score, row.p_value, row.anomaly ? 1 : 0);
    for (const auto& reason : row.reasons) line += "," + Field(reason.Text());
    return Append(line + "\n");
  }
  Status Finish() override {
    if (!header_.empty()) RINGWARD_TRY(Append(std::exchange(header_, "")));
    return LineWriter::Finish();
  }

 private:
  std::string header_;  // until it is written
};

class JsonlWriter final : public LineWriter {
 public:
  JsonlWriter(std::optional<io::AtomicFile> file, Output& out, ScoreColumns columns)
      : LineWriter(std::move(file), out), columns_(std::move(columns)) {}
  Status Write(const ScoredRow& row) override {
    return Append(DumpJsonLine(RowJson(columns_, row)) + "\n");
  }

 private:
  ScoreColumns columns_;
};

/// Keeps the numbers until the end, because the header says how many rows there are.
class NpyWriter final : public ScoreWriter {
 public:
  explicit NpyWriter(io::AtomicFile file) : file_(std::move(file)) {}
  Status Write(const ScoredRow& row) override {
    values_.insert(values_.end(),
                   {static_cast<double>(row.row), row.score, row.p_value, row.anomaly ? 1.0 : 0.0});
    return Ok();
  }
  Status Flush() override { return Ok(); }
  Status Finish() override {
    RINGWARD_TRY(file_.Write(Header()));
    RINGWARD_TRY(file_.Write(
        {reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof(double)}));
    return file_.Commit();
  }

 private:
  /// Version 1.0 of the format: magic, version, length, a Python literal padded to 64 bytes.
  std::string Header() const {
    constexpr std::size_t kPrefix = 10;
    constexpr std::size_t kAlign = 64;
    std::string text = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 4), }}",
                                   values_.size() / 4);
    text.append((kAlign - (kPrefix + text.size() + 1) % kAlign) % kAlign, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header.push_back(static_cast<char>(text.size() & 0xff));
    header.push_back(static_cast<char>(text.size() >> 8));
    return header + text;
  }
  io::AtomicFile file_;
  std::vector<double> values_;
};

}  // namespace

Status CheckNames(const ScoreColumns& columns) {
  std::set<std::string> taken{"row", "score", "p_value", "anomaly"};
  if (columns.reasons > 0) taken.insert("reasons");
  for (std::size_t k = 1; k <= columns.reasons; ++k) taken.insert(fmt::format("reason_{}", k));
  std::set<std::string> ids;
  for (const auto& id : columns.ids) {
    if (taken.contains(id)) {
      return Error(Code::kInvalidInput, "--id: score writes a column " + learn::Quoted(id) +
                                            " of its own; rename the one in the data");
    }
    if (!ids.insert(id).second) {
      return Error(Code::kInvalidInput,
                   "--id: the column " + learn::Quoted(id) + " is named twice");
    }
  }
  return Ok();
}

Json RowJson(const ScoreColumns& columns, const ScoredRow& row) {
  Json json = Json::object();
  for (std::size_t k = 0; k < columns.ids.size(); ++k) json[columns.ids[k]] = row.ids[k];
  json["row"] = row.row;
  json["score"] = row.score;
  json["p_value"] = row.p_value;
  json["anomaly"] = row.anomaly;
  if (columns.reasons == 0) return json;
  Json reasons = Json::array();
  for (const Reason& reason : row.reasons) {
    if (reason.feature.empty()) continue;
    reasons.push_back({{"feature", reason.feature},
                       {"seen", reason.seen},
                       {"expected", reason.expected},
                       {"contribution", reason.contribution},
                       {"share", reason.share}});
  }
  json["reasons"] = std::move(reasons);
  return json;
}

Result<std::unique_ptr<ScoreWriter>> MakeScoreWriter(const std::string& path,
                                                     const ScoreColumns& columns, Output& out) {
  const bool npy = path.ends_with(".npy");
  if (npy && (!columns.ids.empty() || columns.reasons > 0)) {
    return Error(
        Code::kInvalidInput,
        "--out " + path + ": NPY holds numbers only; --id and --explain need .csv or .jsonl");
  }
  std::optional<io::AtomicFile> file;
  if (!path.empty()) {
    RINGWARD_ASSIGN(auto created, io::AtomicFile::Create(path));
    file.emplace(std::move(created));
  }
  if (npy) return std::unique_ptr<ScoreWriter>(std::make_unique<NpyWriter>(*std::move(file)));
  if (path.ends_with(".jsonl")) {
    return std::unique_ptr<ScoreWriter>(
        std::make_unique<JsonlWriter>(std::move(file), out, columns));
  }
  return std::unique_ptr<ScoreWriter>(std::make_unique<CsvWriter>(std::move(file), out, columns));
}

}  // namespace ringward::cli
