/* Recording inside a training process: what a rank does, for a watcher beside it to read.
 *
 * Conventions
 *
 *  1. Every name begins with rw_guest_ or RW_GUEST_. C99, C11 and C++ may include this header.
 *  2. A handle comes from rw_guest_open() and ends at rw_guest_close(), which is called once. Every
 *     function accepts NULL for a handle and then does nothing.
 *  3. Nothing here ever prints, aborts, throws, raises a signal or waits for another process. Only
 *     open, close, metric_id and operation_id may make system calls; no other function does, nor
 *     does any of them allocate or lock. What cannot be recorded at once is dropped and counted.
 *  4. A recorder that cannot record is off: rw_guest_status() says why, and every call is a cheap
 *     no-op. A program need not look: it runs the same with and without a recorder or a watcher.
 *  5. Threads: steps, phases and slow marks belong to one thread at a time; so do metrics, and so
 * do collectives; these three may be different threads. Two threads that meet in one of them are
 *     safe: the later call is dropped and counted as dropped_busy. rw_guest_wait() and the
 *     functions that only read may be called from any thread at any time. A call that is under way
 *     in another thread during rw_guest_close(), or comes after it, does nothing.
 *  6. After fork() the child's handle is off (RW_GUEST_FORKED); the child may open its own.
 *  7. Times are nanoseconds of CLOCK_MONOTONIC. Strings are copied, and cut where they are too
 * long.
 *  8. An argument out of its range is ignored and counted as dropped_misuse.
 *  9. The ABI only grows. rw_guest_abi_version() tells what the library has; structures carry their
 *     size, so that an older program may call a newer library.
 */
#ifndef RINGWARD_GUEST_H
#define RINGWARD_GUEST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RW_GUEST_ABI_VERSION 1

#if defined(__GNUC__)
#define RW_GUEST_API __attribute__((visibility("default")))
#else
#define RW_GUEST_API
#endif

typedef struct rw_guest rw_guest;

/* Phases of a step. Between steps, and in a step before its first phase, it is OTHER. */
#define RW_GUEST_OTHER 0
#define RW_GUEST_DATA 1
#define RW_GUEST_FORWARD 2
#define RW_GUEST_BACKWARD 3
#define RW_GUEST_COMMUNICATE 4
#define RW_GUEST_OPTIMIZER 5
#define RW_GUEST_CHECKPOINT 6
#define RW_GUEST_EVALUATE 7

/* Metrics that need no rw_guest_metric_id(). "Local" is before any reduction over ranks: after it
 * one rank's NaN is everybody's. */
#define RW_GUEST_LOCAL_LOSS 0
#define RW_GUEST_LOCAL_GRADIENT_NORM 1
#define RW_GUEST_SAMPLES 2 /* rows that this rank trained on in the step */
#define RW_GUEST_LEARNING_RATE 3

/* Why a rank expects to be slow; a watcher raises no alarm for it meanwhile. */
#define RW_GUEST_SLOW_COMPILE 1
#define RW_GUEST_SLOW_EVALUATE 2
#define RW_GUEST_SLOW_CHECKPOINT 3
#define RW_GUEST_SLOW_OTHER 4

/* Flags of rw_guest_collective_enter(). */
#define RW_GUEST_OVERLAPPED 1u /* computing goes on meanwhile: its time is not waiting */

/* What rw_guest_status() says. */
#define RW_GUEST_FORKED 0       /* off: a child of the process that opened it */
#define RW_GUEST_ON 1           /* records */
#define RW_GUEST_CLOSED 2       /* off: closed */
#define RW_GUEST_BAD_ARGUMENT 3 /* off: what rw_guest_open() was given */
#define RW_GUEST_NO_SPACE 4     /* off: /dev/shm is full, or a limit on file sizes */
#define RW_GUEST_NO_ACCESS 5    /* off: /dev/shm is missing or not writable */
#define RW_GUEST_ALREADY_OPEN 6 /* off: this process already records as this job and rank */
#define RW_GUEST_UNSUPPORTED 7  /* off: before Linux 4.14, or without /proc */
#define RW_GUEST_NO_HANDLE 8    /* the handle is NULL */

typedef struct rw_guest_options {
  size_t size;        /* sizeof(rw_guest_options) */
  const char *folder; /* where the shared memory lies; NULL = /dev/shm */
} rw_guest_options;

typedef struct rw_guest_counters {
  size_t size;             /* sizeof(rw_guest_counters), set by the caller */
  uint64_t records;        /* written so far */
  uint64_t dropped_busy;   /* calls dropped because another thread was in one */
  uint64_t dropped_misuse; /* calls dropped because an argument was out of range or out of order */
} rw_guest_counters;

/* RW_GUEST_ABI_VERSION of the library. */
RW_GUEST_API uint32_t rw_guest_abi_version(void);

/* Opens the recorder of one rank; 0 <= rank < world. `job` is any text that is not empty, equal on
 * all ranks; 127 bytes of it are kept. `options` may be NULL. NULL only when there is no memory at
 * all. */
RW_GUEST_API rw_guest *rw_guest_open(const char *job, int32_t rank, int32_t world,
                                     const rw_guest_options *options);
/* Writes what is not yet in a record, and takes the shared memory away: a reader that has it open
 * can still read it. */
RW_GUEST_API void rw_guest_close(rw_guest *guest);

/* One of the constants above, and a line that explains it (never NULL, never to be freed). */
RW_GUEST_API int32_t rw_guest_status(const rw_guest *guest);
RW_GUEST_API const char *rw_guest_status_text(int32_t status);
/* The file of shared memory; "" where the recorder is off. */
RW_GUEST_API const char *rw_guest_path(const rw_guest *guest);
/* Fills in what fits into counters->size bytes; all 0 where the recorder is off. */
RW_GUEST_API void rw_guest_count(const rw_guest *guest, rw_guest_counters *counters);

/* A step. Numbers grow by one; equal on all ranks for the same step. One that is still under way
 * ends where the next begins. */
RW_GUEST_API void rw_guest_step_begin(rw_guest *guest, uint64_t step);
RW_GUEST_API void rw_guest_step_end(rw_guest *guest);
/* Call BEFORE the phase: a rank that hangs in it then shows where it is. A phase lasts until the
 * next one, or the end of the step. */
RW_GUEST_API void rw_guest_phase(rw_guest *guest, int32_t phase);
/* Expected slowness, until the end of it; marks do not nest. */
RW_GUEST_API void rw_guest_slow_begin(rw_guest *guest, int32_t reason);
RW_GUEST_API void rw_guest_slow_end(rw_guest *guest);

/* The number of a metric: once per name, at most 128 names of at most 47 printable characters.
 * -1 where that does not hold or the recorder is off; rw_guest_metric() accepts it. */
RW_GUEST_API int32_t rw_guest_metric_id(rw_guest *guest, const char *name);
RW_GUEST_API void rw_guest_metric(rw_guest *guest, int32_t metric, double value);

/* The number of a kind of collective ("allreduce"): as rw_guest_metric_id(), at most 32 kinds. */
RW_GUEST_API int32_t rw_guest_operation_id(rw_guest *guest, const char *name);
/* `number` counts collectives, equal on all ranks for the same one. Up to 256 may be under way. */
RW_GUEST_API void rw_guest_collective_enter(rw_guest *guest, int32_t operation, uint64_t number,
                                            uint64_t bytes, uint32_t flags);
/* `ok` 0: it failed. */
RW_GUEST_API void rw_guest_collective_exit(rw_guest *guest, uint64_t number, int32_t ok);
/* Waiting for other ranks within `phase` of the step under way that no collective shows; nothing
 * between steps. The phase keeps its time; a reader takes the waiting out of it. */
RW_GUEST_API void rw_guest_wait(rw_guest *guest, int32_t phase, uint64_t ns);

#ifdef __cplusplus
}
#endif

#endif /* RINGWARD_GUEST_H */
