#pragma once

#include <mpi.h>

#include "comm/communicator.h"

namespace ringward::comm {

/// The MPI type of the same size and, for numbers MPI knows, the same meaning.
MPI_Datatype MpiTypeOf(DType dtype);

/// MPI's own operation where it keeps our contract, else one of ours over comm/reduce.h: minima and
/// maxima that keep NaN, and everything on half types. kAverage reduces like kSum.
/// REQUIRES: MPI runs. Operations live until MPI is finished.
MPI_Op MpiOpOf(ReduceOp op, DType dtype);

}  // namespace ringward::comm
