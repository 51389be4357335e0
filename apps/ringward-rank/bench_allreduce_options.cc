#include "ringward-rank/bench_allreduce_options.h"

namespace ringward::rank {

void AddAllReduceBenchOptions(OptionTable& table, AllReduceBenchOptions& options) {
  using comm::DType;
  using comm::ReduceOp;
  constexpr std::int64_t kLargest = 1LL << 34;
  table.Group("Measurement");
  table.AddBytes("begin", &options.begin, {.min = 1, .max = kLargest}, "size of the first buffer")
      .Short("b");
  table.AddBytes("end", &options.end, {.min = 1, .max = kLargest}, "size of the last buffer")
      .Short("e");
  table.Add("factor", &options.factor, {.min = 2, .max = 1024}, "from one size to the next")
      .Short("f");
  table.AddChoice("type", &options.dtype,
                  {{"float", DType::kFloat32},
                   {"double", DType::kFloat64},
                   {"float16", DType::kFloat16},
                   {"bfloat16", DType::kBFloat16},
                   {"int32", DType::kInt32},
                   {"int64", DType::kInt64}},
                  "of the elements");
  table.AddChoice("op", &options.op,
                  {{"sum", ReduceOp::kSum},
                   {"avg", ReduceOp::kAverage},
                   {"min", ReduceOp::kMin},
                   {"max", ReduceOp::kMax},
                   {"prod", ReduceOp::kProduct}},
                  "the reduction");
  table.Add("blocks", &options.blocks, {.min = 1, .max = 10'000},
            "timed blocks for each size; ours and the library's alternate");
  table.Add("block-ms", &options.block_ms, {.min = 1, .max = 60'000},
            "how long a block runs at least, in milliseconds");
}

}  // namespace ringward::rank
