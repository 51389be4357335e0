#pragma once

#include <optional>
#include <string>

#include "report/train_report.h"

namespace ringward::report {

/// The score histogram that both reports show.
std::string DrawScores(const ScoreBins& bins, std::optional<double> threshold,
                       const std::string& title, const std::string& all_rows_name);

}  // namespace ringward::report
