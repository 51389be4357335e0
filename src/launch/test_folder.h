#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"

namespace ringward::launch {

/// A folder of one test, removed with all its content at the end.
class TestFolder {
 public:
  TestFolder() {
    path_ = (std::filesystem::temp_directory_path() / "launch-test-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

  /// Writes a file, with its folders; `name` starts with '/'.
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + name).parent_path());
    std::ofstream(path_ + name) << text;
  }

 private:
  std::string path_;
};

}  // namespace ringward::launch
