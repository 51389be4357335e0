/* An MPI program that knows nothing of any watcher: a training loop's collectives and some of every other kind.
 *
 *   mpi_program STEPS [slow RANK FROM MS | freeze RANK AT]
 *
 * Each step computes for about 5 ms, reduces three buckets and a loss, the last without blocking. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kElements = 4096, kBuckets = 3 };

static void sleep_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&time, &time) != 0) {
  }
}

/* What a program does before it trains, on all ranks and on some. */
static void prepare(int rank) {
  int word = rank;
  int all[64];
  MPI_Comm half;
  MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = argc > 1 ? atoi(argv[1]) : 100;
  const int hurt = argc > 4 && atoi(argv[3]) == rank;
  static double sent[kElements];
  static double received[kElements];
  double loss = 1.0;
  double total = 0.0;
  prepare(rank);
  for (int step = 0; step < steps; ++step) {
    MPI_Request request;
    sleep_ms(5);
    if (hurt && strcmp(argv[2], "slow") == 0 && step >= atoi(argv[4])) sleep_ms(atol(argv[5]));
    if (hurt && strcmp(argv[2], "freeze") == 0 && step == atoi(argv[4])) raise(SIGSTOP);
    for (int bucket = 0; bucket < kBuckets; ++bucket) {
      MPI_Allreduce(sent, received, kElements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Iallreduce(&loss, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 0) printf("sum %g\n", total);
  MPI_Finalize();
  return 0;
}
