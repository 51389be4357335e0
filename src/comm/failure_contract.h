#pragma once

#include "comm/communicator_contract.h"

// What a failure of one rank does to its peers; part of the suite of communicator_contract.h, for
// engines on which the peers survive it.

namespace ringward::comm {

/// Instantiate it with worlds of two ranks and more.
class FailureContract : public CommunicatorContract {};

}  // namespace ringward::comm
