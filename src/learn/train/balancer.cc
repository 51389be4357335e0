#include "learn/train/balancer.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

namespace ringward::learn {
namespace {

/// Steps between two exchanges, at most; the first ones follow sooner, as nothing is known yet.
constexpr int kWindowMax = 8;

}  // namespace

Balancer::Balancer(comm::Communicator& comm, const Clock& clock)
    : comm_(comm), clock_(clock), shares_(static_cast<std::size_t>(comm.size())) {}

Status Balancer::EndStep(std::size_t rows) {
  panels_ += BatchShares::PanelsOf(rows);
  if (++steps_ < window_) return Ok();
  const double seconds = std::chrono::duration<double>(worked_).count();
  std::vector<double> speeds(static_cast<std::size_t>(comm_.size()), 0.0);
  if (seconds > 0.0) {
    speeds[static_cast<std::size_t>(comm_.rank())] = static_cast<double>(panels_) / seconds;
  }
  // Each number is zero on all ranks but one: the sum is exact, and the same everywhere.
  RINGWARD_TRY(comm_.AllReduce(comm::AsBuffer(std::span(speeds)), comm::ReduceOp::kSum));
  shares_.Learn(speeds);
  window_ = std::min(2 * window_, kWindowMax);
  steps_ = 0;
  panels_ = 0;
  worked_ = {};
  return Ok();
}

}  // namespace ringward::learn
