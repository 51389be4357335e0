// Plays a job that trains over NCCL, as the profiler plugin meets it: a process for each rank,
// whose program thread enqueues collectives while another thread tells of kernels, as NCCL's does.
// A kernel runs until the kernels of all ranks do.
//
//   nccl_job PLUGIN RANKS CASE
//
// Cases: train (rank 1 is slow), hang (rank 2 stays away from step 20 on), silent (NCCL tells of no
// kernels), off (the plugin wants nothing). The ranks say nothing; the job prints a line once all
// steps are over (in `hang`, once all others are inside), and ends when standard input does.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capi/nccl/profiler_abi.h"

namespace {

using namespace ringward::capi::nccl;
using std::chrono::milliseconds;

constexpr int kSteps = 300;
constexpr int kHangsAt = 20;
constexpr int kChannels = 2;
constexpr std::uint64_t kWorldHash = 0xabcd;

/// What the processes share.
struct Shared {
  pthread_barrier_t arrived;  // at a collective
  pthread_barrier_t done;     // with the steps; the parent too
};

struct Bucket {
  const char* function;
  std::size_t count;
};
constexpr Bucket kBuckets[] = {{"AllReduce", 1000}, {"AllReduce", 500}, {"AllGather", 1}};

void Check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "nccl_job: %s\n", what);
  _exit(1);
}

/// The GPU and NCCL's own thread: kernels in the order in which they were enqueued.
class Gpu {
 public:
  Gpu(const Profiler& plugin, void* context, int rank, Shared& shared, bool silent)
      : plugin_(plugin), context_(context), rank_(rank), shared_(shared), silent_(silent) {}
  ~Gpu() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  void Enqueue(void* collective) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(collective);
    changed_.notify_all();
  }
  void Synchronize() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.empty(); });
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      void* const collective = queue_.front();
      lock.unlock();
      Kernel(collective);
      lock.lock();
      queue_.pop_front();
      changed_.notify_all();
    }
  }

  void Kernel(void* collective) {
    void* channels[kChannels] = {};
    for (int channel = 0; channel < kChannels && !silent_; ++channel) {
      Event event{};
      event.type = kKernelChannel;
      event.parent = collective;
      event.rank = rank_;
      event.kernel_channel = {static_cast<std::uint8_t>(channel), 0};
      plugin_.start_event(context_, &channels[channel], &event);
    }
    pthread_barrier_wait(&shared_.arrived);
    for (int channel = 0; channel < kChannels && !silent_; ++channel) {
      plugin_.record_state(channels[channel], 0, nullptr);
      plugin_.stop_event(channels[channel]);
    }
  }

  const Profiler& plugin_;
  void* context_;
  int rank_;
  Shared& shared_;
  bool silent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::deque<void*> queue_;
  std::thread thread_{[this] { Run(); }};
};

void* Start(const Profiler& plugin, void* context, int rank, std::uint64_t sequence,
            const Bucket& bucket) {
  Event event{};
  event.type = kCollective;
  event.rank = rank;
  event.collective = {.sequence = sequence,
                      .function = bucket.function,
                      .send = nullptr,
                      .receive = nullptr,
                      .count = bucket.count,
                      .root = 0,
                      .datatype = "ncclFloat32",
                      .channels = kChannels,
                      .warps = 4,
                      .algorithm = "RING",
                      .protocol = "LL"};
  void* handle = nullptr;
  Check(plugin.start_event(context, &handle, &event) == kSuccess, "startEvent failed");
  return handle;
}

int RunRank(const char* path, int rank, int ranks, const std::string& kind, Shared& shared) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  Check(library != nullptr, "the plugin cannot be loaded");
  const auto* const plugin = static_cast<const Profiler*>(dlsym(library, "ncclProfiler_v4"));
  Check(plugin != nullptr, "no ncclProfiler_v4");
  void* context = nullptr;
  int mask = -1;
  Check(plugin->init(&context, &mask, "world", kWorldHash, 1, ranks, rank, nullptr) == kSuccess,
        "init failed");
  Check(mask == (kind == "off" ? 0 : kCollective | kKernelChannel), "another mask");
  void* pair = nullptr;  // a communicator of some ranks
  plugin->init(&pair, &mask, "pair", 0x77, 1, 2, rank % 2, nullptr);
  {
    Gpu gpu(*plugin, context, rank, shared, kind == "silent");
    std::uint64_t sequence = 0;
    for (int step = 0; step < kSteps; ++step) {
      if (kind == "hang" && step == kHangsAt && rank == 2) {
        pthread_barrier_wait(&shared.done);
        pause();
      }
      std::this_thread::sleep_for(milliseconds(kind == "train" && rank == 1 ? 6 : 1));
      for (const Bucket& bucket : kBuckets) {
        void* const collective = Start(*plugin, context, rank, sequence++, bucket);
        plugin->stop_event(collective);  // it is enqueued
        gpu.Enqueue(collective);
      }
      if (kind == "hang" && step == kHangsAt) pthread_barrier_wait(&shared.done);
      gpu.Synchronize();
    }
  }
  pthread_barrier_wait(&shared.done);
  pause();  // until the parent ends it: a reader looks at what it has recorded
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int ranks = std::atoi(argv[2]);
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Check(ranks > 0 && shared != MAP_FAILED, "no shared memory");
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->arrived, &attributes, static_cast<unsigned>(ranks));
  pthread_barrier_init(&shared->done, &attributes, static_cast<unsigned>(ranks) + 1);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) _exit(RunRank(argv[1], rank, ranks, argv[3], *shared));
    children.push_back(child);
  }
  pthread_barrier_wait(&shared->done);
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return 0;
}
