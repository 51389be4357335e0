#include "io/expand.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace ringward::io {
namespace {

Result<std::vector<std::string>> Matches(const std::string& pattern) {
  glob_t found{};
  const int code = glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  std::vector<std::string> names;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i) {
    struct stat info {};
    const std::string name = found.gl_pathv[i];
    if (stat(name.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) names.push_back(name);
  }
  globfree(&found);
  if (code == GLOB_ABORTED || code == GLOB_NOSPACE) {
    return Error(Code::kResource, pattern + ": cannot list the folder");
  }
  if (names.empty()) return Error(Code::kInvalidInput, pattern + ": matches no file");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::vector<std::string>> ExpandInputs(std::span<const std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    struct stat info {};
    const bool exists = stat(path.c_str(), &info) == 0;
    if (path == "-" || (exists && !S_ISDIR(info.st_mode))) {
      files.push_back(path);
    } else if (exists) {
      return Error(Code::kInvalidInput, path + ": is a folder, not a file");
    } else if (path.find_first_of("*?[") == std::string::npos) {
      return Error(Code::kInvalidInput, path + ": no such file");
    } else {
      RINGWARD_ASSIGN(auto matches, Matches(path));
      files.insert(files.end(), matches.begin(), matches.end());
    }
  }
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return Error(Code::kInvalidInput, "-: standard input can be read only once");
  }
  return files;
}

Status CheckNotAnInput(const std::string& out, std::span<const std::string> paths) {
  struct stat there {};
  // Devices and pipes hold nothing that could be replaced.
  if (out.empty() || stat(out.c_str(), &there) != 0 || !S_ISREG(there.st_mode)) return Ok();
  RINGWARD_ASSIGN(const auto files, ExpandInputs(paths));
  for (const std::string& file : files) {
    struct stat input {};
    const int got = file == "-" ? fstat(STDIN_FILENO, &input) : stat(file.c_str(), &input);
    if (got == 0 && input.st_dev == there.st_dev && input.st_ino == there.st_ino) {
      return Error(Code::kInvalidInput, out + ": is one of the inputs, it would be overwritten");
    }
  }
  return Ok();
}

}  // namespace ringward::io
