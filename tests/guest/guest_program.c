/* A rank in C: records ten steps into the folder given, waits for a line on stdin, and closes.
 * With a second argument it hangs in its last collective instead of leaving it. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "ringward_guest.h"

static void work(void) {
  const clock_t until = clock() + CLOCKS_PER_SEC / 500;
  while (clock() < until) {
  }
}

static void train(rw_guest *guest) {
  const int32_t queue = rw_guest_metric_id(guest, "queue_length");
  const int32_t allreduce = rw_guest_operation_id(guest, "allreduce");
  uint64_t step;
  for (step = 0; step < 10; ++step) {
    rw_guest_step_begin(guest, step);
    rw_guest_phase(guest, RW_GUEST_DATA);
    rw_guest_metric(guest, queue, 3.0);
    rw_guest_metric(guest, RW_GUEST_SAMPLES, 32.0);
    rw_guest_phase(guest, RW_GUEST_FORWARD);
    work();
    rw_guest_metric(guest, RW_GUEST_LOCAL_LOSS, step == 7 ? (double)NAN : 0.5);
    rw_guest_phase(guest, RW_GUEST_BACKWARD);
    rw_guest_wait(guest, RW_GUEST_BACKWARD, 1000);
    rw_guest_phase(guest, RW_GUEST_COMMUNICATE);
    rw_guest_collective_enter(guest, allreduce, step, 2048, 0);
    rw_guest_collective_exit(guest, step, 1);
    rw_guest_phase(guest, RW_GUEST_OPTIMIZER);
    rw_guest_step_end(guest);
  }
  rw_guest_slow_begin(guest, RW_GUEST_SLOW_CHECKPOINT);
  rw_guest_phase(guest, RW_GUEST_CHECKPOINT);
  rw_guest_slow_end(guest);
  rw_guest_phase(guest, RW_GUEST_COMMUNICATE);
  rw_guest_collective_enter(guest, allreduce, step, 64, 0);
}

int main(int argc, char **argv) {
  rw_guest_options options = {0};
  rw_guest_counters counters = {0};
  rw_guest *guest;
  options.size = sizeof(options);
  options.folder = argc > 1 ? argv[1] : NULL;
  counters.size = sizeof(counters);
  guest = rw_guest_open("a job in C", 1, 2, &options);
  train(guest);
  train(NULL);
  rw_guest_count(guest, &counters);
  printf("abi %u, %s, %lu records, %lu dropped, %s\n", (unsigned)rw_guest_abi_version(),
         rw_guest_status_text(rw_guest_status(guest)), (unsigned long)counters.records,
         (unsigned long)(counters.dropped_busy + counters.dropped_misuse), rw_guest_path(guest));
  fflush(stdout);
  (void)getchar();
  rw_guest_collective_exit(guest, 10, 1);
  rw_guest_close(guest);
  return 0;
}
