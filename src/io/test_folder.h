#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"

namespace ringward::io {

/// A fresh folder for the files of one test, removed with all that is in it.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ringward-test-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  /// `message` with this folder's path taken out, to compare with.
  std::string Hide(std::string message) const {
    const std::string prefix = path_ + "/";
    for (std::size_t at = 0; (at = message.find(prefix)) != std::string::npos;) {
      message.erase(at, prefix.size());
    }
    return message;
  }

 private:
  std::string path_;
};

}  // namespace ringward::io
