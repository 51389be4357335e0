#include "telemetry/host/nvml.h"

#include <dlfcn.h>

#include <array>
#include <deque>
#include <mutex>

namespace ringward::telemetry {

// Of NVML's documented C interface. Not in the anonymous namespace, for Nvml::Functions has them in
// its type.
namespace nvml_abi {

using Device = void*;
struct Utilization {
  unsigned gpu;  // percent
  unsigned memory;
};
struct Memory {
  unsigned long long total;  // bytes
  unsigned long long free;
  unsigned long long used;
};
struct ProcessV1 {
  unsigned pid;
  unsigned long long memory;
};
struct ProcessV2 {  // of versions 2 and 3 of the call
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

}  // namespace nvml_abi

namespace {

using namespace nvml_abi;

constexpr int kSuccess = 0;
constexpr int kDriverNotLoaded = 9;
constexpr unsigned kGpuSensor = 0;
constexpr unsigned kSmClock = 1;
constexpr unsigned kUncorrected = 1;
constexpr unsigned kSinceDriverBegan = 0;

constexpr unsigned kGpusMost = 64;
constexpr unsigned kProcessesMost = 256;

template <typename Process>
std::vector<std::int32_t> PidsOf(int (*call)(Device, unsigned*, Process*), Device device) {
  std::array<Process, kProcessesMost> processes{};
  unsigned count = kProcessesMost;
  std::vector<std::int32_t> pids;
  if (call(device, &count, processes.data()) != kSuccess) return pids;
  for (unsigned i = 0; i < count && i < kProcessesMost; ++i)
    pids.push_back(static_cast<std::int32_t>(processes[i].pid));
  return pids;
}

/// The answer of `call`, which may be missing in this version of the library.
template <typename Value, typename Function, typename... Arguments>
std::optional<Value> Ask(Function* call, Device device, Arguments... arguments) {
  Value value{};
  if (call == nullptr || call(device, arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

std::optional<double> Scaled(std::optional<unsigned> value, double unit) {
  if (!value) return std::nullopt;
  return unit * *value;
}

}  // namespace

struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*temperature)(Device, unsigned, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;  // milliwatts
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*throttle)(Device, unsigned long long*) = nullptr;
  int (*ecc)(Device, unsigned, unsigned, unsigned long long*) = nullptr;
  int (*processes)(Device, unsigned*, ProcessV2*) = nullptr;
  int (*processes_v1)(Device, unsigned*, ProcessV1*) = nullptr;
};

Result<Nvml> Nvml::Load(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Error(Code::kUnavailable, dlerror());
  // The first of the names that the library has.
  const auto find = [&](auto& function, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (function == nullptr)
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    }
  };
  Functions functions;
  find(functions.init, {"nvmlInit_v2", "nvmlInit"});
  find(functions.shutdown, {"nvmlShutdown"});
  find(functions.count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  find(functions.device, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  if (functions.init == nullptr || functions.shutdown == nullptr || functions.count == nullptr ||
      functions.device == nullptr)
    return Error(Code::kCorrupt, path + " is not NVML");
  find(functions.utilization, {"nvmlDeviceGetUtilizationRates"});
  find(functions.memory, {"nvmlDeviceGetMemoryInfo"});
  find(functions.temperature, {"nvmlDeviceGetTemperature"});
  find(functions.power, {"nvmlDeviceGetPowerUsage"});
  find(functions.clock, {"nvmlDeviceGetClockInfo"});
  find(functions.throttle,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  find(functions.ecc, {"nvmlDeviceGetTotalEccErrors"});
  find(functions.processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  find(functions.processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  // A driver that hangs may still be inside when everything else has ended: never freed.
  static auto* const loaded = new std::deque<Functions>();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return Nvml(&loaded->emplace_back(functions));
}

Status Nvml::Begin() const {
  const int status = functions_->init();
  if (status == kDriverNotLoaded) return Error(Code::kUnavailable, "the driver is not loaded");
  if (status != kSuccess)
    return Error(Code::kResource, "NVML says no: its error " + std::to_string(status));
  unsigned count = 0;
  if (functions_->count(&count) != kSuccess || count == 0)
    return Error(Code::kUnavailable, "there is no GPU");
  return Ok();
}

void Nvml::End() const { functions_->shutdown(); }

GpuState Nvml::StateOf(void* device, std::uint32_t index) const {
  const Functions& call = *functions_;
  GpuState state{.index = index};
  if (const auto rates = Ask<Utilization>(call.utilization, device)) state.busy = 0.01 * rates->gpu;
  if (const auto memory = Ask<Memory>(call.memory, device)) {
    state.memory = static_cast<double>(memory->used);
    state.memory_all = static_cast<double>(memory->total);
  }
  state.celsius = Scaled(Ask<unsigned>(call.temperature, device, kGpuSensor), 1.0);
  state.watts = Scaled(Ask<unsigned>(call.power, device), 1e-3);
  state.sm_hertz = Scaled(Ask<unsigned>(call.clock, device, kSmClock), 1e6);
  state.throttle = Ask<unsigned long long>(call.throttle, device);
  state.ecc_fatal = Ask<unsigned long long>(call.ecc, device, kUncorrected, kSinceDriverBegan);
  if (call.processes != nullptr) {
    state.pids = PidsOf(call.processes, device);
  } else if (call.processes_v1 != nullptr) {
    state.pids = PidsOf(call.processes_v1, device);
  }
  return state;
}

std::vector<GpuState> Nvml::Read() const {
  unsigned count = 0;
  std::vector<GpuState> states;
  if (functions_->count(&count) != kSuccess) return states;
  for (unsigned i = 0; i < count && i < kGpusMost; ++i) {
    Device device = nullptr;
    if (functions_->device(i, &device) == kSuccess) states.push_back(StateOf(device, i));
  }
  return states;
}

}  // namespace ringward::telemetry
