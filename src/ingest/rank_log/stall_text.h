#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringward::ingest {

/// What Horovod's stall inspector says: ranks that have not come to collectives which others are
/// in.
struct StallWord {
  /// Who keeps the others: the ranks that are missing, or, where all are missing somewhere (they
  /// are in different collectives), those that miss what most do not; ascending. Empty: undecided.
  std::vector<std::int32_t> ranks{};
  bool differ = false;   ///< ranks are in different collectives
  double seconds = 0.0;  ///< that is looked for; the stall itself is older
  std::uint64_t line = 0;
  std::string text{};  ///< the line that names the first of them
};

/// Puts the inspector's lines together, of one rank that prints them: since 0.15, whether it calls
/// them missing or stalled ranks. Bounded: kRanksMost ranks. Not safe for concurrent use.
class StallText {
 public:
  static constexpr std::size_t kRanksMost = std::size_t{1} << 12U;

  /// True where the line is part of such a text.
  bool Take(std::string_view text, std::uint64_t line);
  /// What was said, where the text has ended or nothing more is there to read; it is given once,
  /// and again where more of it has come.
  std::optional<StallWord> Word(bool nothing_more);

 private:
  struct Missing {
    std::string tensors;
    std::uint64_t line = 0;
    std::string text;
  };
  bool TakeRank(std::string_view text, std::uint64_t line);
  bool TakeTensor(std::string_view text, std::uint64_t line);
  void Add(std::int32_t rank, std::string tensors, std::string_view text, std::uint64_t line);

  bool inside_ = false;  ///< its lines are being read
  bool fresh_ = false;   ///< not given yet
  double seconds_ = 0.0;
  std::map<std::int32_t, Missing> missing_;
};

}  // namespace ringward::ingest
