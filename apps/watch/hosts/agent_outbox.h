#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "watch/hosts/wire.h"
#include "watch/source.h"

namespace ringward::watch {

/// What an agent has seen and not sent. Looks at one process are merged until they are taken, so
/// that it holds no more than so many records, however long nobody takes them; what is older is
/// dropped and counted. That a process ended is never dropped. Not safe for concurrent use.
class AgentOutbox {
 public:
  struct Limits {
    std::size_t records = std::size_t{1} << 18U;          ///< of all ranks; 50 MB at most
    std::size_t ranks = 8192;                             ///< that wait
    std::size_t message_records = kAgentRecordsMost / 4;  ///< beyond them a message is full
    std::size_t message_ranks = 256;
  };
  /// The sights of one message.
  struct Batch {
    std::vector<RankSight> sights;
    bool round = false;  ///< with it, every rank of the newest look was taken since the last such
  };

  AgentOutbox() = default;
  explicit AgentOutbox(const Limits& limits) : limits_(limits) {}

  /// One look: all ranks that are followed.
  void Add(std::vector<RankSight> sights);
  /// What goes out next; nothing until there was a look since the last round.
  std::optional<Batch> Take();
  /// Records that were dropped, since the beginning.
  std::uint64_t dropped() const { return dropped_; }

 private:
  using Key = std::tuple<std::string, std::int32_t, std::int32_t, std::uint64_t>;
  void Shrink();

  Limits limits_;
  std::map<Key, RankSight> waiting_;
  std::size_t records_ = 0;
  std::optional<Key> last_;  ///< taken in the round under way
  bool looked_ = false;      ///< since the last round
  std::uint64_t dropped_ = 0;
};

}  // namespace ringward::watch
