#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace ringward::io {

/// A folder that appears whole or not at all: files are written into a hidden sibling, Commit()
/// flushes it and puts it in the place of `path`. Without Commit() the sibling is removed and
/// `path` is as it was. Not safe for concurrent use.
class AtomicDirectory {
 public:
  /// Says whether an existing, non-empty folder may be replaced (e.g. because it is a model).
  using MayReplace = std::function<bool(const std::string& folder)>;

  /// Fails at once (kInvalidInput) when `path` exists and is neither an empty folder nor one that
  /// `may_replace` allows, or when its parent folder does not exist.
  static Result<AtomicDirectory> Create(const std::string& path, MayReplace may_replace);
  AtomicDirectory(AtomicDirectory&& other) noexcept;
  AtomicDirectory& operator=(AtomicDirectory&&) = delete;
  ~AtomicDirectory();

  /// Where to write the files until Commit().
  const std::string& folder() const { return temporary_; }
  /// Asks `may_replace` again, since time has passed. An old folder is swapped out in one step
  /// where the kernel can, and then removed.
  Status Commit();

 private:
  AtomicDirectory(std::string path, MayReplace may_replace)
      : path_(std::move(path)), may_replace_(std::move(may_replace)) {}
  /// Whether something is at path_; an error when that must not be replaced.
  Result<bool> CheckTarget() const;
  Status Replace();
  std::string path_;
  MayReplace may_replace_;
  std::string temporary_;
};

}  // namespace ringward::io
