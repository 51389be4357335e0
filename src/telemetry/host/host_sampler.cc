#include "telemetry/host/host_sampler.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ringward::telemetry {
namespace {

constexpr std::size_t kFileBytes = 1 << 16;  // the cores come first in the longest
constexpr std::size_t kSensorsMost = 32;
constexpr std::uint64_t kSensorsEvery = 10;    // samples: some sensors take milliseconds to read
constexpr std::size_t kThreadFilesMost = 512;  // open at a time, of all processes

/// Kinds of file systems that answer from this machine.
bool IsLocal(const std::string& kind) {
  constexpr std::array kLocal = {"ext2",  "ext3", "ext4",    "xfs",   "btrfs",   "zfs",
                                 "tmpfs", "f2fs", "overlay", "ramfs", "bcachefs"};
  return std::any_of(kLocal.begin(), kLocal.end(),
                     [&](const char* local) { return kind == local; });
}

/// Bytes that programs may still write below `path`; nothing where it has no size.
std::optional<double> FreeIn(const std::string& path) {
  struct statvfs disk {};
  if (path.empty() || statvfs(path.c_str(), &disk) != 0 || disk.f_blocks == 0) return std::nullopt;
  return static_cast<double>(disk.f_frsize) * static_cast<double>(disk.f_bavail);
}

std::optional<double> Share(std::optional<double> microseconds_per_second) {
  if (!microseconds_per_second) return std::nullopt;
  return std::min(1e-6 * *microseconds_per_second, 1.0);
}

std::vector<KeptFile> Sensors(const std::string& folder) {
  std::vector<KeptFile> sensors;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(
      folder, std::filesystem::directory_options::follow_directory_symlink, error);
  for (; !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    if (at.depth() > 0) at.disable_recursion_pending();
    const std::string name = at->path().filename().string();
    if (!name.starts_with("temp") || !name.ends_with("_input")) continue;
    if (KeptFile sensor(at->path().string()); sensor && sensors.size() < kSensorsMost)
      sensors.push_back(std::move(sensor));
  }
  return sensors;
}

}  // namespace

HostSampler::HostSampler(std::string root, const std::string& nvml)
    : root_(std::move(root)),
      buffer_(kFileBytes),
      stat_(root_ + "/proc/stat"),
      cpu_(root_ + "/proc/pressure/cpu"),
      memory_(root_ + "/proc/pressure/memory"),
      io_(root_ + "/proc/pressure/io"),
      meminfo_(root_ + "/proc/meminfo"),
      vmstat_(root_ + "/proc/vmstat"),
      links_(root_ + "/proc/net/dev"),
      snmp_(root_ + "/proc/net/snmp"),
      sensors_(Sensors(root_ + "/sys/class/hwmon")),
      gpus_(nvml) {}

std::optional<std::uint64_t> HostSampler::NumberIn(const KeptFile& file, const char* key) {
  const auto text = file.Read(buffer_);
  return text ? NumberOf(*text, key) : std::nullopt;
}

const CgroupMemory* HostSampler::MemoryOf(const CgroupPaths& paths) {
  auto& group = groups_[paths.unified + '\n' + paths.memory_v1];
  if (!group) group = std::make_unique<CgroupMemory>(root_ + "/sys/fs/cgroup", paths);
  return group.get();
}

std::string HostSampler::WorkOf(const std::string& folder) {
  std::error_code error;
  const std::string work = std::filesystem::read_symlink(folder + "/cwd", error).string();
  if (error) return "";
  // As the process sees it: it may live in a container with mounts of its own.
  const KeptFile mounts(folder + "/mountinfo");
  std::vector<char> text(1 << 20);
  const auto read = mounts.Read(text);
  return read && IsLocal(FileSystemOf(*read, work)) ? folder + "/cwd" : "";
}

void HostSampler::Follow(std::int32_t pid) {
  if (processes_.contains(pid)) return;
  const std::string folder = root_ + "/proc/" + std::to_string(pid);
  const KeptFile group(folder + "/cgroup");
  const auto text = group.Read(buffer_);
  const CgroupPaths paths = text ? ParseCgroups(*text) : CgroupPaths{};
  const std::size_t room =
      kThreadFilesMost -
      std::min(kThreadFilesMost, processes_.size() * ProcessSampler::kThreadsMost);
  const std::size_t threads = std::clamp<std::size_t>(room, 1, ProcessSampler::kThreadsMost);
  processes_.emplace(pid,
                     Process{ProcessSampler(folder, threads), MemoryOf(paths), WorkOf(folder)});
}

HostSampler::Counts HostSampler::Count() {
  Counts counts;
  if (const auto text = stat_.Read(buffer_)) counts.cores = ParseCores(*text);
  const auto pressure = [&](const KeptFile& file) {
    const auto text = file.Read(buffer_);
    return text ? ParsePressure(*text) : std::nullopt;
  };
  counts.cpu = pressure(cpu_);
  counts.memory = pressure(memory_);
  counts.io = pressure(io_);
  if (const auto text = vmstat_.Read(buffer_)) {
    const auto in = NumberOf(*text, "pswpin");
    const auto out = NumberOf(*text, "pswpout");
    if (in && out) counts.swapped = *in + *out;
  }
  if (const auto text = links_.Read(buffer_)) counts.links = ParseLinks(*text);
  if (const auto text = snmp_.Read(buffer_)) counts.retransmits = ParseRetransmits(*text);
  return counts;
}

void HostSampler::TakeCores(const std::vector<CoreTimes>& now) {
  for (const CoreTimes& core : now) {
    const auto before =
        std::find_if(before_->cores.begin(), before_->cores.end(),
                     [&](const CoreTimes& other) { return other.core == core.core; });
    if (before == before_->cores.end()) continue;
    const auto ticks = [&](std::uint64_t CoreTimes::*what) {
      // Idle and iowait are known to go back now and then.
      return static_cast<double>(core.*what - std::min(core.*what, (*before).*what));
    };
    const double busy = ticks(&CoreTimes::busy);
    const double iowait = ticks(&CoreTimes::iowait);
    const double stolen = ticks(&CoreTimes::steal);
    const double all = busy + iowait + stolen + ticks(&CoreTimes::idle);
    if (all <= 0.0) continue;
    host_.cores[core.core] = {.busy = busy / all, .iowait = iowait / all, .stolen = stolen / all};
  }
}

void HostSampler::TakeRates(const Counts& now, double seconds) {
  TakeCores(now.cores);
  host_.cpu_pressure = Share(RateOf(before_->cpu, now.cpu, seconds));
  host_.memory_pressure = Share(RateOf(before_->memory, now.memory, seconds));
  host_.io_pressure = Share(RateOf(before_->io, now.io, seconds));
  host_.retransmits = RateOf(before_->retransmits, now.retransmits, seconds);
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  host_.swap_bytes = RateOf(before_->swapped, now.swapped, seconds / page);
  if (now.links && before_->links) {
    host_.network_bytes = RateOf(before_->links->bytes, now.links->bytes, seconds);
    host_.network_errors = RateOf(before_->links->errors, now.links->errors, seconds);
  }
}

void HostSampler::TakeTemperature() {
  if (samples_ % kSensorsEvery != 0) return;
  host_.temperature.reset();
  for (const KeptFile& sensor : sensors_) {
    const auto text = sensor.Read(buffer_);
    const auto value = text ? LeadingNumber(*text) : std::nullopt;  // thousandths of a degree
    if (value)
      host_.temperature =
          std::max(host_.temperature.value_or(0.0), 1e-3 * static_cast<double>(*value));
  }
}

void HostSampler::SeeCore(Process& process) const {
  ProcessSight& sight = process.sight;
  if (!sight.use.core || !sight.use.cpu) return;
  const auto core = host_.cores.find(*sight.use.core);
  if (core == host_.cores.end()) return;
  const double own = std::min(*sight.use.cpu, core->second.busy);
  sight.core_others = core->second.busy - own;
  // What was stolen is shared by those who would have run.
  sight.core_stolen = core->second.busy > 0.0 ? core->second.stolen * own / core->second.busy : 0.0;
}

GpuState Joined(const std::vector<const GpuState*>& states) {
  GpuState joined = *states.front();
  const auto join = [](auto& value, const auto& other, auto with) {
    value = value && other ? std::optional(with(*value, *other)) : std::nullopt;
  };
  const auto sum = [](auto a, auto b) { return a + b; };
  for (std::size_t i = 1; i < states.size(); ++i) {
    const GpuState& other = *states[i];
    joined.index = std::min(joined.index, other.index);
    join(joined.busy, other.busy, sum);
    join(joined.memory, other.memory, sum);
    join(joined.memory_all, other.memory_all, sum);
    join(joined.celsius, other.celsius, [](double a, double b) { return std::max(a, b); });
    join(joined.watts, other.watts, sum);
    join(joined.sm_hertz, other.sm_hertz, [](double a, double b) { return std::min(a, b); });
    join(joined.throttle, other.throttle, [](std::uint64_t a, std::uint64_t b) { return a | b; });
    join(joined.ecc_fatal, other.ecc_fatal, sum);
  }
  if (joined.busy) *joined.busy /= static_cast<double>(states.size());
  return joined;
}

std::optional<GpuState> HostSampler::GpuOf(std::int32_t pid) const {
  std::vector<const GpuState*> used;
  for (const GpuState& gpu : gpus_.gpus()) {
    if (std::find(gpu.pids.begin(), gpu.pids.end(), pid) != gpu.pids.end()) used.push_back(&gpu);
  }
  if (used.empty()) return std::nullopt;
  return Joined(used);
}

void HostSampler::Sample(Clock::Duration now) {
  const Counts counts = Count();
  const auto temperature = host_.temperature;
  host_ = {.temperature = temperature};
  if (before_) TakeRates(counts, std::chrono::duration<double>(now - before_at_).count());
  before_ = counts;
  before_at_ = now;
  if (const auto kilobytes = NumberIn(meminfo_, "MemAvailable:"))
    host_.memory_available = 1024.0 * static_cast<double>(*kilobytes);
  host_.root_free = FreeIn(root_ + "/");
  host_.shared_free = FreeIn(root_ + "/dev/shm");
  host_.temporary_free = FreeIn(root_ + "/tmp");
  TakeTemperature();
  gpus_.Ask(now);
  for (auto& [pid, process] : processes_) {
    process.sight = {.use = process.sampler.Sample(now, buffer_),
                     .work_free = FreeIn(process.work),
                     .gpu = GpuOf(pid)};
    SeeCore(process);
    const auto left = process.memory->Left(buffer_);
    process.sight.memory_left = host_.memory_available;
    if (left)
      process.sight.memory_left =
          std::min(static_cast<double>(*left), host_.memory_available.value_or(1e30));
  }
  ++samples_;
}

ProcessSight HostSampler::Of(std::int32_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? ProcessSight{} : found->second.sight;
}

}  // namespace ringward::telemetry
