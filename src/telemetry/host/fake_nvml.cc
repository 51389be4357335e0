// Plays NVIDIA's management library: what it answers stands in the file $RINGWARD_FAKE_NVML, which
// is read at each call. Lines "NAME VALUE": `gpus` how many there are, `init` what nvmlInit
// returns, `hang` 1: calls do not return while that stands there; and for each GPU "INDEX.NAME
// VALUE": what a call gives, `pid` the process on it, `lost` 1. A value that does not stand there
// is an error of its call. With RINGWARD_FAKE_OLD it has the first versions only.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>

namespace {

constexpr int kFine = 0;
constexpr int kNotHere = 3;
constexpr int kLost = 15;

std::map<std::string, unsigned long long> Answers() {
  std::map<std::string, unsigned long long> answers;
  const char* const path = std::getenv("RINGWARD_FAKE_NVML");
  std::ifstream file(path == nullptr ? "" : path);
  std::string name;
  for (unsigned long long value = 0; file >> name >> value;) answers[name] = value;
  return answers;
}

unsigned long long AnswerOr(const std::string& name, unsigned long long otherwise) {
  const auto answers = Answers();
  const auto found = answers.find(name);
  return found == answers.end() ? otherwise : found->second;
}

void HangWhereTold() {
  while (AnswerOr("hang", 0) != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// The handle of GPU n points to the n-th of these.
char devices[64];

template <typename T>
int Give(void* device, const char* name, T* value) {
  const auto index = static_cast<const char*>(device) - devices;
  const auto answers = Answers();
  const auto found = answers.find(std::to_string(index) + "." + name);
  if (found == answers.end()) return kNotHere;
  *value = static_cast<T>(found->second);
  return kFine;
}

struct PlayedV1 {
  unsigned pid;
  unsigned long long memory;
};
struct PlayedV2 {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// One process, or two: `pid` and `pid2`.
template <typename Process>
int GiveProcesses(void* device, unsigned* count, Process* processes) {
  unsigned there = 0;
  for (const char* name : {"pid", "pid2"}) {
    if (there < *count && Give(device, name, &processes[there].pid) == kFine) ++there;
  }
  *count = there;
  return kFine;
}

int Init() { return static_cast<int>(AnswerOr("init", kFine)); }
int Count(unsigned* count) {
  HangWhereTold();
  *count = static_cast<unsigned>(AnswerOr("gpus", 0));
  return kFine;
}
int DeviceAt(unsigned index, void** device) {
  if (AnswerOr(std::to_string(index) + ".lost", 0) != 0) return kLost;
  *device = devices + index;
  return kFine;
}

}  // namespace

extern "C" {
#pragma GCC diagnostic ignored "-Wmissing-declarations"  // NVML's header has them

int nvmlShutdown() { return kFine; }
int nvmlDeviceGetTemperature(void* device, unsigned /*sensor*/, unsigned* value) {
  return Give(device, "celsius", value);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* value) {
  return Give(device, "milliwatts", value);
}
int nvmlDeviceGetClockInfo(void* device, unsigned clock, unsigned* value) {
  return Give(device, clock == 1 ? "sm_megahertz" : "other_megahertz", value);
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* gpu_and_memory) {
  return Give(device, "busy", gpu_and_memory);
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* total_free_used) {
  const int status = Give(device, "total", total_free_used);
  return status == kFine ? Give(device, "used", total_free_used + 2) : status;
}
#ifdef RINGWARD_FAKE_OLD
int nvmlInit() { return Init(); }
int nvmlDeviceGetCount(unsigned* count) { return Count(count); }
int nvmlDeviceGetHandleByIndex(unsigned index, void** device) { return DeviceAt(index, device); }
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, PlayedV1* processes) {
  return GiveProcesses(device, count, processes);
}
#else
int nvmlInit_v2() { return Init(); }
int nvmlDeviceGetCount_v2(unsigned* count) { return Count(count); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return DeviceAt(index, device); }
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return Give(device, "throttle", reasons);
}
int nvmlDeviceGetTotalEccErrors(void* device, unsigned error, unsigned counter,
                                unsigned long long* count) {
  return Give(device, error == 1 && counter == 0 ? "ecc" : "other_ecc", count);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, PlayedV2* processes) {
  return GiveProcesses(device, count, processes);
}
#endif
}
