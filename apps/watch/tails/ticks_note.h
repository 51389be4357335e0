#pragma once

namespace ringward::watch {

/// What is said once of a timeline that does not tell who was late.
inline constexpr char kNoTicks[] =
    "this timeline holds no per-rank ticks, so it tells that somebody is late and not who; "
    "HOROVOD_CACHE_CAPACITY=0 gives them";

}  // namespace ringward::watch
