#include "watch/local_source.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "comm/suspect.h"
#include "launch/environment.h"
#include "launch/process.h"
#include "telemetry/guest/segment.h"
#include "telemetry/segment_folder.h"
#include "watch/machine_values.h"

namespace ringward::watch {
namespace {

/// Not longer than a second between looks that come four times as often.
constexpr std::chrono::milliseconds kSampleEvery{900};
/// A segment that still cannot be read so long after it was met is not one that is being made.
constexpr std::chrono::seconds kMadeWithin{2};

std::string HostName() {
  std::array<char, 256> name{};
  // The last byte stays 0: a name that is too long may come without one.
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::uint64_t PidNamespace() {
  struct stat info {};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

bool IsMine(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && info.st_uid == geteuid();
}

/// The process, unless it is gone (or a zombie, which does nothing any more).
std::optional<comm::ProcessStat> Living(std::int32_t pid, std::uint64_t start_time,
                                        const std::string& proc) {
  auto process = comm::ReadProcessStat(pid, proc);
  const bool lives = process && process->start_time == start_time && process->state != 'Z' &&
                     process->state != 'X';
  if (!lives) process.reset();
  return process;
}

}  // namespace

LocalSource::LocalSource(LocalSourceOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      proc_(options_.root + "/proc"),
      machine_(options_.root, options_.nvml),
      host_(options_.host.empty() ? HostName() : options_.host),
      job_in_name_(telemetry::MakeSegmentName(options_.job.c_str(), 0, 0, 0).job),
      pid_namespace_(PidNamespace()) {}

void LocalSource::Refuse(const std::string& path, const std::string& why) {
  if (refused_.insert(path).second) LogWarning("not watched: " + path + ": " + why);
}

void LocalSource::Follow(const telemetry::SegmentEntry& entry) {
  const std::string& path = entry.path;
  auto reader = telemetry::SegmentReader::Open(path);
  if (!reader) {
    // One that is being made, or was removed meanwhile, is no trouble.
    const bool passing = reader.error().code() == Code::kUnavailable || !IsMine(path);
    const Clock::Duration now = clock_.Now();
    const Clock::Duration met = unreadable_.try_emplace(path, now).first->second;
    if (!passing && now - met >= kMadeWithin) Refuse(path, reader.error().what());
    return;
  }
  unreadable_.erase(path);
  const telemetry::SegmentInfo& who = reader->info();
  // A copy, say: two that claim to be one rank of one process would be taken for one.
  if (who.rank != entry.rank || who.pid != entry.pid || who.start_time != entry.start_time)
    return Refuse(path, "it is of another rank or process than its name says");
  if (!options_.job.empty() && who.job != options_.job) return;
  if (who.pid_namespace != pid_namespace_) {
    Refuse(path, "its process is in another pid namespace (a container)");
    return;
  }
  machine_.Follow(who.pid);
  Fd process = launch::OpenProcess(who.pid, who.start_time);
  followed_.emplace(path, Followed{*std::move(reader), std::move(process)});
}

bool LocalSource::IsOfLaunch(std::int32_t pid) const {
  return options_.launched_by.empty() ||
         launch::HasTag(pid, launch::variable::kJobId, options_.launched_by);
}

/// Those that are gone: a machine sees many in its life.
void LocalSource::ForgetRefused(const std::vector<telemetry::SegmentEntry>& entries) {
  if (refused_.empty() && unreadable_.empty()) return;
  std::set<std::string> there;
  for (const telemetry::SegmentEntry& entry : entries) there.insert(entry.path);
  std::erase_if(refused_, [&](const std::string& path) { return !there.contains(path); });
  std::erase_if(unreadable_, [&](const auto& each) { return !there.contains(each.first); });
}

void LocalSource::FindNew() {
  const std::vector<telemetry::SegmentEntry> entries = telemetry::ListSegments(options_.folder);
  ForgetRefused(entries);
  for (const telemetry::SegmentEntry& entry : entries) {
    const bool wanted = options_.job.empty() || entry.job == job_in_name_;
    if (!wanted || followed_.contains(entry.path) || refused_.contains(entry.path)) continue;
    // What the dead left behind tells of the past.
    const bool lives = IsMine(entry.path) && Living(entry.pid, entry.start_time, proc_);
    if (lives && IsOfLaunch(entry.pid)) Follow(entry);
  }
}

std::optional<RankSight> LocalSource::SightOf(Followed& rank) {
  RankSight sight{.who = rank.reader.info(), .host = host_};
  // Looked at before the segment is read: what is dead now writes nothing later.
  const auto process = Living(sight.who.pid, sight.who.start_time, proc_);
  auto batch = rank.reader.Read();
  auto state = rank.reader.State();
  if (!batch || !state) {
    Refuse(rank.reader.path(), (batch ? state.error() : batch.error()).what());
    return std::nullopt;
  }
  sight.batch = *std::move(batch);
  sight.state = *std::move(state);
  sight.looked = clock_.Now();
  sight.ended = !process || sight.state.closed;
  if (process) {
    sight.stopped = process->state == 'T' || process->state == 't';
    sight.cpu_ticks = process->cpu_ticks;
  }
  return sight;
}

bool LocalSource::SampleMachine() {
  const Clock::Duration now = clock_.Now();
  if (followed_.empty() || now < next_sample_) return false;
  machine_.Sample(now);
  next_sample_ = now + kSampleEvery;
  return true;
}

std::vector<RankSight> LocalSource::Look() {
  FindNew();
  const bool sampled = SampleMachine();
  std::vector<RankSight> sights;
  bool left_behind = false;
  for (auto at = followed_.begin(); at != followed_.end();) {
    auto sight = SightOf(at->second);
    const bool last = !sight || sight->ended;
    const std::int32_t pid = at->second.reader.info().pid;
    if (sampled && sight) sight->machine = MachineValuesOf(machine_.host(), machine_.Of(pid));
    if (last) machine_.Forget(pid);
    if (sight) {
      left_behind |= sight->ended && !sight->state.closed;
      sights.push_back(*std::move(sight));
    }
    at = last ? followed_.erase(at) : std::next(at);
  }
  if (left_behind) telemetry::RemoveDeadSegments(options_.folder);
  return sights;
}

void LocalSource::Wait(Clock::Duration until) {
  std::vector<pollfd> processes;
  for (const auto& [path, rank] : followed_) {
    if (rank.process) processes.push_back({rank.process.get(), POLLIN, 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.Now());
  if (left.count() <= 0) return;
  poll(processes.data(), processes.size(), static_cast<int>(left.count()));
}

}  // namespace ringward::watch
