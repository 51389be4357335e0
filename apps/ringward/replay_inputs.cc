#include "ringward/replay_inputs.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/byte_source.h"
#include "io/expand.h"
#include "replay/fault_plan.h"
#include "ringward/recording_file.h"

namespace ringward::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTruthBytesMax = std::size_t{16} << 20U;

/// Files below `folder` whose names hold `part`, by name.
Result<std::vector<std::string>> FilesBelow(const std::string& folder, std::string_view part) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_regular_file(error) && name.find(part) != std::string::npos)
      found.push_back(at->path().string());
  }
  if (error) return Error(Code::kResource, folder + ": " + error.message());
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<std::string>> Expand(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return io::ExpandInputs(std::vector{path});
  RINGWARD_ASSIGN(auto found, FilesBelow(path, ".rwrec"));
  // What lies beside recordings (plans, write-ahead logs) is theirs.
  std::erase_if(found, [](const std::string& name) { return !name.ends_with(".rwrec"); });
  if (!found.empty()) return found;
  return FilesBelow(path, ".csv");
}

}  // namespace

Result<ReplayInputs> FindReplayInputs(const std::vector<std::string>& paths) {
  ReplayInputs inputs;
  for (const std::string& path : paths) {
    RINGWARD_ASSIGN(const std::vector<std::string> files, Expand(path));
    inputs.files.insert(inputs.files.end(), files.begin(), files.end());
  }
  if (inputs.files.empty()) {
    return Error(Code::kInvalidInput, paths.front() + ": holds no .csv file and no recording");
  }
  for (const std::string& file : inputs.files) {
    RINGWARD_ASSIGN(const bool recording, IsRecording(file));
    if (&file == &inputs.files.front()) {
      inputs.recordings = recording;
    } else if (recording != inputs.recordings) {
      return Error(Code::kInvalidInput,
                   file + ": tables and recordings are different runs; replay them one by one");
    }
  }
  return inputs;
}

Result<std::optional<std::vector<replay::Fault>>> TruthOf(const std::string& recording) {
  const std::string plan = recording + ".plan.toml";
  std::error_code error;
  if (!fs::exists(plan, error)) return std::optional<std::vector<replay::Fault>>();
  RINGWARD_ASSIGN(const auto source, io::OpenInput(plan));
  RINGWARD_ASSIGN(const std::string text, io::ReadAll(*source, kTruthBytesMax));
  replay::JobOptions job;
  RINGWARD_TRY(replay::ParseFaultPlan(text, plan, job));
  return std::optional(std::move(job.faults));
}

}  // namespace ringward::cli
