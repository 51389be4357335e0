#include "comm/mpi/mpi_types.h"

#include <cstddef>

#include "comm/reduce.h"

namespace ringward::comm {
namespace {

template <ReduceOp op, DType dtype>
void Apply(void* in, void* inout, int* count, MPI_Datatype*) {
  Combine(op, dtype, inout, in, inout, static_cast<std::size_t>(*count));
}

template <ReduceOp op, DType dtype>
MPI_Op Own() {
  // Made on first use, on the thread that uses MPI.
  static const MPI_Op made = [] {
    MPI_Op op_of_mpi = MPI_OP_NULL;
    MPI_Op_create(&Apply<op, dtype>, /*commute=*/1, &op_of_mpi);
    return op_of_mpi;
  }();
  return made;
}

template <ReduceOp op>
MPI_Op OwnOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return Own<op, DType::kFloat16>();
    case DType::kBFloat16:
      return Own<op, DType::kBFloat16>();
    case DType::kFloat32:
      return Own<op, DType::kFloat32>();
    default:
      return Own<op, DType::kFloat64>();
  }
}

bool IsFloat(DType dtype) { return dtype != DType::kInt32 && dtype != DType::kInt64; }

}  // namespace

MPI_Op MpiOpOf(ReduceOp op, DType dtype) {
  const bool half = SizeOf(dtype) == 2;
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      return half ? OwnOf<ReduceOp::kSum>(dtype) : MPI_SUM;
    case ReduceOp::kProduct:
      return half ? OwnOf<ReduceOp::kProduct>(dtype) : MPI_PROD;
    case ReduceOp::kMin:
      return IsFloat(dtype) ? OwnOf<ReduceOp::kMin>(dtype) : MPI_MIN;
    case ReduceOp::kMax:
      return IsFloat(dtype) ? OwnOf<ReduceOp::kMax>(dtype) : MPI_MAX;
  }
  return MPI_OP_NULL;
}

MPI_Datatype MpiTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return MPI_UINT16_T;
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kInt64:
      return MPI_INT64_T;
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace ringward::comm
