// What an MPI program runs without knowing it (LD_PRELOAD=libringward_mpi.so): every collective is
// recorded, entry before and exit after, and waiting for other messages is told from working.
// The functions are those of MPI 3.1; each passes its arguments on unchanged to its PMPI_ twin.
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "capi/mpi/call_record.h"

namespace {

using ringward::capi::CallRecord;
using ringward::capi::Operation;

constinit CallRecord record;

/// Bytes of `count` elements; for kinds of collectives, whose sizes are equal on all ranks.
std::int64_t Bytes(std::int64_t count, MPI_Datatype type) {
  int size = 0;
  return PMPI_Type_size(type, &size) == MPI_SUCCESS && size > 0 ? count * size : 0;
}

bool Ok(int status) { return status == MPI_SUCCESS; }

/// A blocking collective from its entry to its exit. One of some of the ranks is waiting.
class Blocking {
 public:
  Blocking(Operation operation, MPI_Comm comm, std::int64_t bytes)
      : number_(record.Enter(operation, comm, bytes, false)),
        begin_(number_ == 0 ? record.Now() : 0) {}
  int End(int status) const {
    if (number_ == 0) {
      record.Waited(begin_);
    } else {
      record.Exit(number_, Ok(status));
    }
    return status;
  }

 private:
  std::uint64_t number_;
  std::int64_t begin_;
};

/// The beginning of a collective that goes on behind the program's back.
class Nonblocking {
 public:
  Nonblocking(Operation operation, MPI_Comm comm, std::int64_t bytes)
      : number_(record.Enter(operation, comm, bytes, true)) {}
  int Begun(int status, const MPI_Request* request) const {
    if (Ok(status)) {
      record.Keep(number_, *request);
    } else {
      record.Exit(number_, false);
    }
    return status;
  }

 private:
  std::uint64_t number_;
};

/// A call that waits for messages or for requests.
class Waiting {
 public:
  Waiting() : begin_(record.Now()) {}
  int End(int status) const {
    record.Waited(begin_);
    return status;
  }

 private:
  std::int64_t begin_;
};

/// Handles of requests before a call that may end them and set them to null.
class Handles {
 public:
  Handles(int count, MPI_Request* requests) : requests_(requests) {
    if (!record.any_kept()) return;  // messages only: nothing to look for
    count_ = count < kMost ? count : kMost;
    for (int i = 0; i < count_; ++i) before_[i] = requests[i];
  }
  int End(int status) const {
    for (int i = 0; i < count_; ++i) record.EndOf(before_[i], requests_[i], Ok(status));
    return status;
  }

 private:
  static constexpr int kMost = 256;  // as many collectives can be under way
  MPI_Request* requests_;
  int count_ = 0;
  MPI_Request before_[kMost];  ///< filled up to count_
};

}  // namespace

// Parameters and arguments keep MPI's names and order, so that a row can be compared with the
// standard. A row of a collective makes it and its twin that does not block.
#define RINGWARD_EXPORT extern "C" __attribute__((visibility("default"))) int
#define RINGWARD_PLAIN(...) __VA_ARGS__
#define RINGWARD_COLLECTIVE(Name, IName, operation, bytes, parameters, arguments) \
  RINGWARD_EXPORT MPI_##Name parameters {                                         \
    const Blocking call(Operation::operation, comm, bytes);                       \
    return call.End(PMPI_##Name arguments);                                       \
  }                                                                               \
  RINGWARD_EXPORT MPI_##IName(RINGWARD_PLAIN parameters, MPI_Request* request) {  \
    const Nonblocking call(Operation::operation, comm, bytes);                    \
    return call.Begun(PMPI_##IName(RINGWARD_PLAIN arguments, request), request);  \
  }
#define RINGWARD_WAITING(Name, parameters, arguments) \
  RINGWARD_EXPORT MPI_##Name parameters {             \
    const Waiting call;                               \
    return call.End(PMPI_##Name arguments);           \
  }

RINGWARD_COLLECTIVE(Barrier, Ibarrier, kBarrier, 0, (MPI_Comm comm), (comm))
RINGWARD_COLLECTIVE(Bcast, Ibcast, kBroadcast, Bytes(count, datatype),
                    (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm),
                    (buffer, count, datatype, root, comm))
RINGWARD_COLLECTIVE(Allreduce, Iallreduce, kAllreduce, Bytes(count, datatype),
                    (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, comm))
RINGWARD_COLLECTIVE(Scan, Iscan, kScan, Bytes(count, datatype),
                    (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, comm))
RINGWARD_COLLECTIVE(Exscan, Iexscan, kScan, Bytes(count, datatype),
                    (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, comm))
RINGWARD_COLLECTIVE(Reduce, Ireduce, kReduce, Bytes(count, datatype),
                    (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm),
                    (sendbuf, recvbuf, count, datatype, op, root, comm))
RINGWARD_COLLECTIVE(Reduce_scatter, Ireduce_scatter, kReduceScatter, 0,
                    (const void* sendbuf, void* recvbuf, const int recvcounts[],
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm),
                    (sendbuf, recvbuf, recvcounts, datatype, op, comm))
RINGWARD_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, kReduceScatter,
                    Bytes(recvcount, datatype),
                    (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm),
                    (sendbuf, recvbuf, recvcount, datatype, op, comm))
RINGWARD_COLLECTIVE(Allgather, Iallgather, kAllgather, Bytes(recvcount, recvtype),
                    (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
RINGWARD_COLLECTIVE(Alltoall, Ialltoall, kAlltoall, Bytes(recvcount, recvtype),
                    (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
RINGWARD_COLLECTIVE(Gather, Igather, kGather, 0,
                    (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
RINGWARD_COLLECTIVE(Scatter, Iscatter, kScatter, 0,
                    (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
RINGWARD_COLLECTIVE(Allgatherv, Iallgatherv, kAllgather, 0,
                    (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))
RINGWARD_COLLECTIVE(Gatherv, Igatherv, kGather, 0,
                    (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                     MPI_Comm comm),
                    (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root,
                     comm))
RINGWARD_COLLECTIVE(Scatterv, Iscatterv, kScatter, 0,
                    (const void* sendbuf, const int sendcounts[], const int displs[],
                     MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                     int root, MPI_Comm comm),
                    (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root,
                     comm))
RINGWARD_COLLECTIVE(Alltoallv, Ialltoallv, kAlltoall, 0,
                    (const void* sendbuf, const int sendcounts[], const int sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                     const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm),
                    (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                     comm))
RINGWARD_COLLECTIVE(Alltoallw, Ialltoallw, kAlltoall, 0,
                    (const void* sendbuf, const int sendcounts[], const int sdispls[],
                     const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                     const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
                    (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                     recvtypes, comm))

RINGWARD_WAITING(Recv,
                 (void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                  MPI_Status* status),
                 (buf, count, datatype, source, tag, comm, status))
RINGWARD_WAITING(Send,
                 (const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm),
                 (buf, count, datatype, dest, tag, comm))
RINGWARD_WAITING(Ssend,
                 (const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm),
                 (buf, count, datatype, dest, tag, comm))
RINGWARD_WAITING(Probe, (int source, int tag, MPI_Comm comm, MPI_Status* status),
                 (source, tag, comm, status))
RINGWARD_WAITING(Sendrecv,
                 (const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status* status),
                 (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                  recvtag, comm, status))

RINGWARD_EXPORT MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const Handles handles(1, request);
  const Waiting call;
  return handles.End(call.End(PMPI_Wait(request, status)));
}

RINGWARD_EXPORT MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const Handles handles(count, requests);
  const Waiting call;
  return handles.End(call.End(PMPI_Waitall(count, requests, statuses)));
}

RINGWARD_EXPORT MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const Handles handles(count, requests);
  const Waiting call;
  return handles.End(call.End(PMPI_Waitany(count, requests, index, status)));
}

RINGWARD_EXPORT MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                             MPI_Status statuses[]) {
  const Handles handles(incount, requests);
  const Waiting call;
  return handles.End(call.End(PMPI_Waitsome(incount, requests, outcount, indices, statuses)));
}

RINGWARD_EXPORT MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const Handles handles(1, request);
  return handles.End(PMPI_Test(request, flag, status));
}

RINGWARD_EXPORT MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const Handles handles(count, requests);
  return handles.End(PMPI_Testall(count, requests, flag, statuses));
}

RINGWARD_EXPORT MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                            MPI_Status* status) {
  const Handles handles(count, requests);
  return handles.End(PMPI_Testany(count, requests, index, flag, status));
}

RINGWARD_EXPORT MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                             MPI_Status statuses[]) {
  const Handles handles(incount, requests);
  return handles.End(PMPI_Testsome(incount, requests, outcount, indices, statuses));
}

RINGWARD_EXPORT MPI_Init(int* argc, char*** argv) {
  const int status = PMPI_Init(argc, argv);
  if (Ok(status)) record.Open();
  return status;
}

RINGWARD_EXPORT MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = PMPI_Init_thread(argc, argv, required, provided);
  if (Ok(status)) record.Open();
  return status;
}

RINGWARD_EXPORT MPI_Finalize() {
  record.Close();
  return PMPI_Finalize();
}
