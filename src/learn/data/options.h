#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

enum class HeaderMode { kAuto, kYes, kNo };

/// Which data to read and what its columns are for; one field per flag of the command line.
/// A column is named as its header names it or, in files without a header, by its number from 1.
/// A column has at most one of the roles label, id, drop and time.
struct DataOptions {
  std::vector<std::string> paths;         ///< --data: files, patterns, "-"; at least one
  std::string label;                      ///< --label: empty = none (an .npz may bring its own)
  std::vector<std::string> normal;        ///< --normal: label values of normal rows; empty = 0,
                                          ///< false, normal (numbers compare as numbers: 0 is 0.0);
                                          ///< to train with them needs a label
  std::vector<std::string> drop;          ///< --drop: never read
  std::vector<std::string> id;            ///< --id: kept as text for the output, never an input
  std::string kind;                       ///< --kind: kept as text behind the ids; may be one
  std::string time;                       ///< --time: number or ISO 8601; rows must be in its order
  int window = 1;                         ///< --window: consecutive rows of one input, 1 .. 100,000
  std::vector<std::string> categorical;   ///< --categorical: never a number
  std::vector<std::string> numeric;       ///< --numeric: any text in it is an error
  char delimiter = '\0';                  ///< --delimiter: one byte; 0 = found among , ; tab |
  HeaderMode header = HeaderMode::kAuto;  ///< --header
};

/// kInvalidInput naming the flag that is outside its range.
Status Validate(const DataOptions& options);

}  // namespace ringward::learn
