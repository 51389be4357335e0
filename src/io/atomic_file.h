#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ringward::io {

/// A file that appears whole or not at all: bytes go to a hidden sibling, Commit() flushes them to
/// the disk and renames it over `path`. Without Commit() the sibling is removed and `path` is as it
/// was. A path that is a device or pipe (/dev/null, /dev/stdout) is written directly, because
/// replacing it would destroy it. Not safe for concurrent use.
class AtomicFile {
 public:
  /// kInvalidInput when the folder does not exist or `path` is a folder, else kResource.
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  /// kResource naming the file, e.g. when the disk is full.
  Status Write(std::string_view bytes);
  Status Commit();

 private:
  AtomicFile() = default;
  std::string path_;  ///< as the user named it, for messages
  std::string target_;
  std::string temporary_;  ///< empty when written directly
  int fd_ = -1;
};

/// Writes `bytes` to `path` as one AtomicFile.
Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace ringward::io
