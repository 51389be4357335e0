#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "telemetry/guest/segment.h"
#include "telemetry/host/host_sampler.h"
#include "telemetry/segment_folder.h"
#include "telemetry/segment_reader.h"
#include "watch/source.h"

namespace ringward::watch {

struct LocalSourceOptions {
  std::string job;          ///< the name as the recorder was given it; empty: all jobs of this user
  std::string launched_by;  ///< the id of a launch (RINGWARD_JOB_ID); empty: however started
  std::string folder = telemetry::kSegmentFolder;
  std::string root;  ///< "", or a test's stand-in for the file system with /proc and /sys
  std::string nvml = telemetry::kNvmlLibrary;  ///< the GPUs' library; empty: none
  std::string host;  ///< what this machine is called; empty: as it calls itself
};

/// The ranks on this machine that record into shared memory, as far as they are this user's and in
/// this pid namespace. What is wrong with a segment is said once, as a warning, and the segment
/// left alone; those that dead processes left behind are removed once they are read.
class LocalSource final : public Source {
 public:
  /// `clock` outlives it.
  LocalSource(LocalSourceOptions options, const Clock& clock);
  std::vector<RankSight> Look() override;
  void Wait(Clock::Duration until) override;
  const std::string& host() const { return host_; }

 private:
  struct Followed {
    telemetry::SegmentReader reader;
    Fd process;  ///< readable once it is gone; none where the kernel gives none
  };

  void FindNew();
  bool IsOfLaunch(std::int32_t pid) const;
  void Follow(const telemetry::SegmentEntry& entry);
  void Refuse(const std::string& path, const std::string& why);
  void ForgetRefused(const std::vector<telemetry::SegmentEntry>& entries);
  /// Once a second, while ranks are followed.
  bool SampleMachine();
  /// Nothing where the segment can be read no more.
  std::optional<RankSight> SightOf(Followed& rank);

  LocalSourceOptions options_;
  const Clock& clock_;
  std::string proc_;
  telemetry::HostSampler machine_;
  Clock::Duration next_sample_{};
  std::string host_;
  std::string job_in_name_;
  std::uint64_t pid_namespace_;
  std::map<std::string, Followed> followed_;           ///< by path
  std::set<std::string> refused_;                      ///< paths
  std::map<std::string, Clock::Duration> unreadable_;  ///< since when, by path
};

}  // namespace ringward::watch
