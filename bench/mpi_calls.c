/* Nanoseconds of one MPI_Allreduce of a double on one rank, where it does nearly nothing: the median over blocks of calls.
 * What libringward_mpi.so adds to a call shows best here (mpi_preload.py). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kBlocks = 201, kCalls = 2000 };

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a;
  const double y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static double ns[kBlocks];
  double in = 1.0;
  double out = 0.0;
  MPI_Init(&argc, &argv);
  for (int block = 0; block < kBlocks; ++block) {
    const double begin = now_ns();
    for (int call = 0; call < kCalls; ++call) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ns[block] = (now_ns() - begin) / kCalls;
  }
  qsort(ns, kBlocks, sizeof(ns[0]), compare);
  printf("%.1f\n", ns[kBlocks / 2]);
  MPI_Finalize();
  return 0;
}
