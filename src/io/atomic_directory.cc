#include "io/atomic_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/system_error.h"
#include "io/sync.h"

namespace ringward::io {

namespace fs = std::filesystem;

Result<bool> AtomicDirectory::CheckTarget() const {
  std::error_code error;
  const auto status = fs::symlink_status(path_, error);
  if (!fs::exists(status)) return false;
  if (!fs::is_directory(status)) {
    return Error(Code::kInvalidInput, path_ + ": exists and is not a folder");
  }
  if (!fs::is_empty(path_, error) && !error && !may_replace_(path_)) {
    return Error(Code::kInvalidInput,
                 path_ + ": exists and holds other files; choose another name");
  }
  if (error) return Error(Code::kResource, path_ + ": cannot list: " + error.message());
  return true;
}

Result<AtomicDirectory> AtomicDirectory::Create(const std::string& path, MayReplace may_replace) {
  fs::path clean(path);
  if (!clean.has_filename()) clean = clean.parent_path();  // "model/" is "model"
  AtomicDirectory made(clean.string(), std::move(may_replace));
  RINGWARD_TRY(made.CheckTarget());
  std::string temporary = HiddenSibling(made.path_);
  if (mkdir(temporary.c_str(), 0777) != 0) return PathError(path, "create", errno);
  made.temporary_ = std::move(temporary);
  return made;
}

AtomicDirectory::AtomicDirectory(AtomicDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      may_replace_(std::move(other.may_replace_)),
      temporary_(std::exchange(other.temporary_, {})) {}

AtomicDirectory::~AtomicDirectory() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

Status AtomicDirectory::Replace() {
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
    return Ok();  // temporary_ is now the old folder, which the destructor removes
  }
  if (errno != EINVAL && errno != ENOSYS) return PathError(path_, "replace", errno);
  const std::string old = HiddenSibling(path_);
  if (rename(path_.c_str(), old.c_str()) != 0) return PathError(path_, "replace", errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    (void)rename(old.c_str(), path_.c_str());  // back to what was there; nothing else can be done
    return PathError(path_, "replace", error);
  }
  temporary_ = old;
  return Ok();
}

Status AtomicDirectory::Commit() {
  RINGWARD_CHECK(!temporary_.empty());
  RINGWARD_TRY(SyncTree(temporary_));
  RINGWARD_ASSIGN(const bool exists, CheckTarget());
  if (exists) {
    RINGWARD_TRY(Replace());
    const std::string old = std::exchange(temporary_, {});
    std::error_code error;
    fs::remove_all(old, error);
    if (error)
      LogWarning(path_ + ": the folder it replaces stays at " + old + ": " + error.message());
  } else {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return PathError(path_, "rename", errno);
    temporary_.clear();
  }
  return SyncFolder(ParentFolder(path_));
}

}  // namespace ringward::io
