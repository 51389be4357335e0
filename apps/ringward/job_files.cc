#include "ringward/job_files.h"

#include <filesystem>
#include <utility>

#include "base/log.h"
#include "io/expand.h"
#include "watch/tails/file_events.h"
#include "watch/tails/ticks_note.h"

namespace ringward::cli {

std::string JobFileOptions::Name() const {
  const std::string& path = timeline.empty() ? logs.front() : timeline;
  std::string name = std::filesystem::path(path).stem().string();
  std::erase_if(name, [](char c) { return c == '*' || c == '?' || c == '[' || c == ']'; });
  return name.empty() ? "job" : name;
}

void AddJobFileOptions(OptionTable& table, JobFileOptions& options) {
  table.Group("A job that nobody changed, by its files");
  table
      .Add("timeline", &options.timeline, {.what = "a file", .allow_empty = true},
           "the Horovod timeline that the job writes (HOROVOD_TIMELINE)")
      .Complete(Completion::kFile);
  table
      .Add("log", &options.logs, {.what = "files or globs"},
           "what its ranks print: tagged by mpirun, horovodrun, torchrun, srun or `ringward run`, "
           "or "
           "a file for each")
      .Metavar("FILE")
      .Complete(Completion::kFile);
  table.Add("world", &options.world, {.min = 0, .max = 65536},
            "ranks of the job of these files; 0: as many as they tell");
}

Result<replay::Replayed> ReplayJobFiles(const JobFileOptions& options,
                                        const detect::DetectOptions& rules,
                                        std::vector<ingest::InputReport>& inputs) {
  watch::JobFiles files{.timeline = options.timeline,
                        .world = static_cast<std::size_t>(options.world)};
  RINGWARD_ASSIGN(files.logs, io::ExpandInputs(options.logs));
  watch::JobFilesRead read;
  RINGWARD_ASSIGN(const auto events, watch::EventsOfFiles(files, read));
  if (!files.timeline.empty()) {
    inputs.push_back({.file = files.timeline,
                      .format = "horovod-timeline",
                      .lines_used = read.timeline.used,
                      .lines_other = read.timeline.other,
                      .lines_malformed = read.timeline.malformed,
                      .first_malformed = read.timeline.first_malformed,
                      .note = read.lacks_ticks ? watch::kNoTicks : ""});
  }
  for (std::size_t i = 0; i < files.logs.size(); ++i) {
    inputs.push_back({.file = files.logs[i],
                      .format = "rank-log",
                      .lines_used = read.logs[i].used,
                      .lines_other = read.logs[i].lines - read.logs[i].used});
  }
  for (const ingest::InputReport& input : inputs) {
    if (!input.note.empty()) LogWarning(input.file + ": " + input.note);
  }
  if (events.empty()) {
    return Error(Code::kInvalidInput, inputs.front().file +
                                          ": tells of no rank; is it a Horovod "
                                          "timeline, or a log with the ranks' tags?");
  }
  return replay::ReplayEvents(events, rules);
}

}  // namespace ringward::cli
