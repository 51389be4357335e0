#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ringward/cli/json.h"

namespace ringward::cli {

/// What ranks are listed by, worst first.
enum class TopOrder : std::uint8_t { kSelf, kWait, kLoss, kMemory, kRank };

struct TopView {
  TopOrder order = TopOrder::kSelf;
  std::size_t ranks = 20;  ///< lines of ranks at most, for each job
  bool color = false;
};

/// A job for people, from its document of the API (docs/api.md): one line of its state, one for
/// each open incident, a table of its ranks. What the document lacks is shown as "-"; no document
/// is too strange.
std::string TopText(const Json& job, const TopView& view);

}  // namespace ringward::cli
