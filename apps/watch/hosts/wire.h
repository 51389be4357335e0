// What agents and the aggregator say to one another: docs/formats/agent.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "watch/source.h"

namespace ringward::watch {

/// Rises only when an older reader would misread a message; fields may be added without.
inline constexpr std::uint32_t kAgentProtocol = 1;
inline constexpr char kAgentContentType[] = "application/vnd.ringward.agent";
inline constexpr char kAgentPath[] = "/api/v1/agent";

/// How much one message may hold. What is more is refused, unread.
inline constexpr std::size_t kAgentBodyMost = std::size_t{1} << 20U;   ///< bytes, as it travels
inline constexpr std::size_t kAgentPlainMost = std::size_t{4} << 20U;  ///< unpacked
inline constexpr std::size_t kAgentSightsMost = 1024;
inline constexpr std::size_t kAgentRecordsMost = std::size_t{1} << 15U;  ///< of all its sights
/// And of one rank: what its rings hold.
inline constexpr std::size_t kSightStepsMost = 1024;
inline constexpr std::size_t kSightMetricsMost = 4096;
inline constexpr std::size_t kSightValuesMost = 512;

/// The four moments of an answered message, by which two clocks are compared.
struct ClockEcho {
  std::uint64_t aggregator = 0;  ///< the run of the one that answered
  Clock::Duration sent{};        ///< by the agent, on its clock
  Clock::Duration received{};    ///< on the aggregator's clock
  Clock::Duration answered{};
  Clock::Duration returned{};  ///< to the agent, on its clock
};

/// Around the sights of a message; made anew each time it is sent.
struct AgentHeader {
  std::uint32_t protocol = kAgentProtocol;
  std::string software;        ///< version, for people
  std::string host;            ///< printable
  std::uint64_t run = 0;       ///< of the agent: another after each start
  std::uint64_t sequence = 0;  ///< of its sights, from 1; the same when they are sent again
  Clock::Duration sent{};
  bool round = false;    ///< all ranks that it follows were in the messages since the last such
  bool leaving = false;  ///< it ends in good order
  std::uint64_t dropped = 0;  ///< records it could not keep, since it began
  std::optional<ClockEcho> echo{};
};

struct AgentMessage {
  AgentHeader header;
  /// Times are the agent's; hosts are left empty.
  std::vector<RankSight> sights;
};

/// What the aggregator answers.
struct AgentAnswer {
  std::uint64_t aggregator = 0;  ///< its run
  std::uint64_t taken = 0;       ///< the newest sequence that it has taken
  Clock::Duration received{};    ///< the message, on its clock
  Clock::Duration answered{};
};

/// Packs and unpacks, with buffers of its own. Whatever bytes are unpacked, the end is a value or
/// an Error (kCorrupt), memory within the bounds above. Not safe for concurrent use.
class AgentCodec {
 public:
  AgentCodec();
  ~AgentCodec();
  AgentCodec(AgentCodec&&) noexcept;
  AgentCodec& operator=(AgentCodec&&) noexcept;

  /// The sights as they travel: packed once, sent as often as it takes. Errors: kResource.
  Result<std::string> Pack(std::span<const RankSight> sights);
  static std::string Message(const AgentHeader& header, std::string_view packed);
  Result<AgentMessage> Read(std::string_view body);

  static std::string Answer(const AgentAnswer& answer);
  static Result<AgentAnswer> ReadAnswer(std::string_view body);

 private:
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Adds what a later look at the same process shows. What a rank's rings could not hold is dropped,
/// oldest first, and counted in its batch. Returns how many records were.
std::uint64_t MergeSight(RankSight& into, RankSight&& later);

}  // namespace ringward::watch
