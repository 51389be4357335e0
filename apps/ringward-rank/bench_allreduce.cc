#include "ringward-rank/bench_allreduce.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <new>
#include <span>

#include "comm/half.h"

namespace ringward::rank {
namespace {

using comm::Buffer;
using comm::DType;
using comm::ReduceOp;
using Clock = std::chrono::steady_clock;
using Call = std::function<Status(Buffer)>;

constexpr int kWarmUps = 3;

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Rank `rank`'s element `i`: small whole numbers, so that every type holds sums exactly. Products
/// are of ones and minus ones.
double TermAt(int rank, std::size_t i, ReduceOp op) {
  const auto mixed =
      static_cast<std::uint32_t>(i) * 2'654'435'761U + static_cast<std::uint32_t>(rank) * 40'503U;
  if (op == ReduceOp::kProduct) return (mixed >> 16) % 2 == 0 ? 1.0 : -1.0;
  return static_cast<double>((mixed >> 16) % 3);
}

double ExpectedAt(int ranks, std::size_t i, ReduceOp op) {
  double result = TermAt(0, i, op);
  for (int rank = 1; rank < ranks; ++rank) {
    const double term = TermAt(rank, i, op);
    if (op == ReduceOp::kMin) {
      result = std::min(result, term);
    } else if (op == ReduceOp::kMax) {
      result = std::max(result, term);
    } else if (op == ReduceOp::kProduct) {
      result *= term;
    } else {
      result += term;
    }
  }
  return op == ReduceOp::kAverage ? result / ranks : result;
}

template <typename T>
T Load(const Buffer& buffer, std::size_t i) {
  return static_cast<const T*>(buffer.data)[i];
}

double Get(const Buffer& buffer, std::size_t i) {
  switch (buffer.dtype) {
    case DType::kFloat16:
      return comm::FromFloat16(Load<std::uint16_t>(buffer, i));
    case DType::kBFloat16:
      return comm::FromBFloat16(Load<std::uint16_t>(buffer, i));
    case DType::kFloat32:
      return Load<float>(buffer, i);
    case DType::kFloat64:
      return Load<double>(buffer, i);
    case DType::kInt32:
      return Load<std::int32_t>(buffer, i);
    case DType::kInt64:
      return static_cast<double>(Load<std::int64_t>(buffer, i));
  }
  return 0;
}

void Put(const Buffer& buffer, std::size_t i, double value) {
  switch (buffer.dtype) {
    case DType::kFloat16:
      static_cast<std::uint16_t*>(buffer.data)[i] = comm::ToFloat16(static_cast<float>(value));
      return;
    case DType::kBFloat16:
      static_cast<std::uint16_t*>(buffer.data)[i] = comm::ToBFloat16(static_cast<float>(value));
      return;
    case DType::kFloat32:
      static_cast<float*>(buffer.data)[i] = static_cast<float>(value);
      return;
    case DType::kFloat64:
      static_cast<double*>(buffer.data)[i] = value;
      return;
    case DType::kInt32:
      static_cast<std::int32_t*>(buffer.data)[i] = static_cast<std::int32_t>(value);
      return;
    case DType::kInt64:
      static_cast<std::int64_t*>(buffer.data)[i] = static_cast<std::int64_t>(value);
      return;
  }
}

/// How far an average may be off: it rounds once or twice. Everything else is exact.
double ToleranceOf(DType dtype, ReduceOp op) {
  if (op != ReduceOp::kAverage) return 0.0;
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-7;
    case DType::kBFloat16:
      return 0x1p-4;
    case DType::kInt32:
    case DType::kInt64:
      return 0.999;  // truncated
    default:
      return 1e-6;
  }
}

/// One checked call; the number of wrong elements over all ranks.
Result<std::int64_t> CountWrong(comm::Communicator& communicator, const Call& call, Buffer data,
                                ReduceOp op) {
  for (std::size_t i = 0; i < data.count; ++i) Put(data, i, TermAt(communicator.rank(), i, op));
  RINGWARD_TRY(call(data));
  std::int64_t wrong = 0;
  const double tolerance = ToleranceOf(data.dtype, op);
  for (std::size_t i = 0; i < data.count; ++i) {
    const double error = std::abs(Get(data, i) - ExpectedAt(communicator.size(), i, op));
    if (!(error <= tolerance)) ++wrong;
  }
  RINGWARD_TRY(communicator.AllReduce({&wrong, 1, DType::kInt64}, ReduceOp::kSum));
  return wrong;
}

/// Microseconds of one of `calls` calls.
Result<double> TimeBlock(const Call& call, Buffer data, std::int64_t calls) {
  const auto begin = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i) RINGWARD_TRY(call(data));
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - begin;
  return elapsed.count() / static_cast<double>(calls);
}

/// Calls that fill a block, as rank 0 sees it, the same on all ranks.
Result<std::int64_t> CallsPerBlock(comm::Communicator& communicator, const Call& call, Buffer data,
                                   int block_ms) {
  RINGWARD_TRY(TimeBlock(call, data, kWarmUps));
  RINGWARD_ASSIGN(const double us, TimeBlock(call, data, kWarmUps));
  auto calls =
      std::clamp<std::int64_t>(std::llround(1000.0 * block_ms / std::max(us, 0.01)), 1, 1'000'000);
  RINGWARD_TRY(communicator.Broadcast({&calls, 1, DType::kInt64}, 0));
  return calls;
}

Result<AllReduceBenchLine> Measure(comm::Communicator& communicator,
                                   const AllReduceBenchOptions& options,
                                   const comm::RawAllReduce& raw, Buffer data) {
  const Call ours = [&](Buffer b) { return communicator.AllReduce(b, options.op); };
  AllReduceBenchLine line{.bytes = data.count * comm::SizeOf(data.dtype), .count = data.count};
  RINGWARD_ASSIGN(line.wrong, CountWrong(communicator, ours, data, options.op));
  // Zeros stay zeros under every reduction: no infinities or subnormal numbers while timing.
  std::memset(data.data, 0, line.bytes);
  RINGWARD_ASSIGN(const std::int64_t calls,
                  CallsPerBlock(communicator, ours, data, options.block_ms));
  if (raw) RINGWARD_TRY(TimeBlock(raw, data, kWarmUps));
  std::vector<double> own;
  std::vector<double> others;
  std::vector<double> ratios;
  for (int block = 0; block < options.blocks; ++block) {
    RINGWARD_ASSIGN(const double us, TimeBlock(ours, data, calls));
    own.push_back(us);
    if (!raw) continue;
    RINGWARD_ASSIGN(const double raw_us, TimeBlock(raw, data, calls));
    others.push_back(raw_us);
    ratios.push_back(us / raw_us);
  }
  line.us_median = Median(own);
  line.us_min = *std::min_element(own.begin(), own.end());
  if (!raw) return line;
  line.raw_us_median = Median(others);
  line.raw_us_min = *std::min_element(others.begin(), others.end());
  line.ratio = Median(ratios);
  return line;
}

}  // namespace

double AlgorithmBandwidth(const AllReduceBenchLine& line) {
  return line.us_median > 0 ? static_cast<double>(line.bytes) / line.us_median * 1e-3 : 0.0;
}

double BusBandwidth(const AllReduceBenchLine& line, int ranks) {
  return AlgorithmBandwidth(line) * 2.0 * (ranks - 1) / ranks;
}

Status RunBenchAllReduce(comm::Communicator& communicator, const AllReduceBenchOptions& options,
                         const comm::RawAllReduce& raw,
                         const std::function<void(const AllReduceBenchLine&)>& report) {
  if (options.begin > options.end) {
    return Error(Code::kInvalidInput, "--begin is larger than --end");
  }
  const auto element = static_cast<std::int64_t>(comm::SizeOf(options.dtype));
  std::vector<std::byte> memory;
  try {
    memory.resize(static_cast<std::size_t>(std::max(options.end, element)));
  } catch (const std::bad_alloc&) {
    return Error(Code::kResource,
                 "no memory for a buffer of " + std::to_string(options.end) + " bytes");
  }
  for (std::int64_t bytes = options.begin; bytes <= options.end; bytes *= options.factor) {
    const Buffer data{memory.data(), static_cast<std::size_t>(std::max(bytes, element) / element),
                      options.dtype};
    RINGWARD_ASSIGN(const AllReduceBenchLine line, Measure(communicator, options, raw, data));
    if (communicator.rank() == 0) report(line);
  }
  return Ok();
}

}  // namespace ringward::rank
