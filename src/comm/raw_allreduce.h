#pragma once

#include <functional>

#include "comm/communicator.h"

namespace ringward::comm {

/// A library's own in-place all-reduce, without anything of ours around it: only there to be
/// measured against. Every rank calls it alike; it has no deadline.
using RawAllReduce = std::function<Status(Buffer data)>;

}  // namespace ringward::comm
