#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "telemetry/guest/recorder.h"

namespace ringward::telemetry {

/// A folder for the segments of one test, removed at its end.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "ringward-guest-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }
  RecorderOptions options(int rank = 0, int world = 1) const {
    return {.job = "job", .rank = rank, .world = world, .folder = path_.c_str()};
  }

 private:
  std::string path_;
};

/// An open recorder, closed at the end of its life.
class TestRecorder {
 public:
  explicit TestRecorder(const RecorderOptions& options) : recorder_(Recorder::Open(options)) {
    RINGWARD_CHECK(recorder_ != nullptr);
  }
  ~TestRecorder() { recorder_->Close(); }
  TestRecorder(const TestRecorder&) = delete;
  TestRecorder& operator=(const TestRecorder&) = delete;
  Recorder* operator->() const { return recorder_; }
  Recorder& operator*() const { return *recorder_; }

 private:
  Recorder* recorder_;
};

}  // namespace ringward::telemetry
