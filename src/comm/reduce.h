#pragma once

#include "comm/communicator.h"

namespace ringward::comm {

/// out[i] = op(a[i], b[i]) for `count` elements: the one arithmetic behind every engine, so that
/// all agree on NaN, overflow and rounding (see ReduceOp). kAverage combines like kSum.
/// `out` may be `a` or `b`; other overlaps are not allowed. Thread-safe.
void Combine(ReduceOp op, DType dtype, void* out, const void* a, const void* b, std::size_t count);

/// The step of kAverage that goes before the sum: halves are multiplied by 1/size.
/// Does nothing for other ops and types.
void ScaleBefore(ReduceOp op, Buffer data, int size);

/// The step of kAverage that goes after the sum: all but halves are divided by size.
/// Does nothing for other ops.
void ScaleAfter(ReduceOp op, Buffer data, int size);

}  // namespace ringward::comm
