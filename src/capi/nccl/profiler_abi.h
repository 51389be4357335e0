#pragma once

// The interface through which NCCL (2.27 and later) tells a profiler plugin what it does: its
// version 4, as far as collectives need it. Layouts are those of NCCL's documentation; no header of
// NCCL is needed, and none of its code is here.

#include <cstddef>
#include <cstdint>

namespace ringward::capi::nccl {

inline constexpr int kSuccess = 0;

// Kinds of events, and bits of the mask that asks for them.
inline constexpr int kCollective = 1 << 1;
inline constexpr int kKernelChannel = 1 << 6;

struct CollectiveEvent {
  std::uint64_t sequence;  // of this function on this communicator
  const char* function;    // "AllReduce"
  const void* send;
  void* receive;
  std::size_t count;  // elements
  int root;
  const char* datatype;  // "ncclFloat32"
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};

struct PointToPointEvent {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};

struct KernelChannelEvent {
  std::uint8_t channel;
  std::uint64_t gpu_timer;
};

struct Event {
  std::uint8_t type;  // one of the kinds
  void* parent;       // handle of the event it is part of; of a kernel's channel: the collective's
  int rank;
  union {
    CollectiveEvent collective;
    PointToPointEvent point_to_point;
    KernelChannelEvent kernel_channel;
  };
};

struct Profiler {
  const char* name;
  int (*init)(void** context, int* mask, const char* communicator, std::uint64_t hash, int nodes,
              int ranks, int rank, void (*log)());
  int (*start_event)(void* context, void** handle, Event* event);
  int (*stop_event)(void* handle);
  int (*record_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

// What NCCL's compiler lays out on 64-bit machines.
static_assert(offsetof(Event, parent) == 8 && offsetof(Event, rank) == 16);
static_assert(offsetof(Event, collective) == 24);
static_assert(offsetof(CollectiveEvent, count) == 32 && offsetof(CollectiveEvent, datatype) == 48);
static_assert(offsetof(CollectiveEvent, channels) == 56);
static_assert(offsetof(CollectiveEvent, algorithm) == 64 && sizeof(CollectiveEvent) == 80);
static_assert(sizeof(Profiler) == 48);

}  // namespace ringward::capi::nccl
