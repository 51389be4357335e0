#pragma once

#include <string>

#include "replay/score_sheet.h"
#include "ringward/cli/json.h"

namespace ringward::cli {

/// The object `score` of `replay` and `bench detection` (docs/replay.md).
Json ScoreJson(const replay::ScoreSheet& sheet);

/// The same for people: a table with a row per kind of fault, and a line below it.
std::string ScoreText(const replay::ScoreSheet& sheet);

/// Two rule sets over the same runs, side by side.
std::string ComparisonText(const std::string& one, const replay::ScoreSheet& a,
                           const std::string& other, const replay::ScoreSheet& b);

}  // namespace ringward::cli
