#pragma once

#include <cstdint>
#include <vector>

#include "recording/pack.h"
#include "recording/sqlite.h"

namespace ringward::recording {

/// Makes the one-minute minimum, median and maximum of every rank from the columns of a minute,
/// one metric at a time, inside the transaction of its owner.
class MinuteMaker {
 public:
  static Result<MinuteMaker> Make(Database& database);

  /// Works on the next metric of the columns with keys in [first_key, key_end); false: there is
  /// none left, and the next call begins with another minute. kCorrupt for a damaged column.
  Result<bool> MakeNext(std::int64_t minute, std::uint64_t first_key, std::uint64_t key_end);

 private:
  Status Fill(std::uint64_t first_key, std::uint64_t key_end, std::size_t first_rank,
              std::size_t ranks, std::size_t frames);
  Status Insert(std::int64_t minute, std::size_t rank, std::span<float> values);

  const std::string* name_ = nullptr;
  Unpacker unpacker_;
  std::int64_t minute_ = -1;   ///< being worked on
  std::int64_t metric_ = -1;   ///< the last one of it that was
  std::vector<float> column_;  ///< [ranks of the job]
  std::vector<float> values_;  ///< [ranks at a time, frames]
  Statement next_, shape_, columns_, insert_;
};

}  // namespace ringward::recording
