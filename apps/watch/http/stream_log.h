#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ringward::watch {

/// Something that clients of the stream hear.
struct StreamEvent {
  std::string name;   ///< "job", "incident", …
  std::string data;   ///< one line
  bool kept = false;  ///< a client that comes back is given it; others are old news by then
};

/// An event as it goes over the wire, shared by all clients.
using StreamFrame = std::shared_ptr<const std::string>;

/// Encodes events as server-sent events, once each, and keeps the last ones for clients that come
/// back. Not safe for concurrent use.
class StreamLog {
 public:
  /// `run` tells this run of the server from others, whose numbers mean nothing here: letters and
  /// digits.
  explicit StreamLog(std::string run) : run_(std::move(run)) {}

  StreamFrame Add(const StreamEvent& event);
  /// What a client is sent first: `last_event_id` is what it has seen, empty where it is new. When
  /// some of what it missed is no longer there, an event `reset` goes before the rest.
  std::vector<StreamFrame> Opening(std::string_view last_event_id) const;

 private:
  struct Kept {
    std::uint64_t number;
    StreamFrame frame;
  };
  std::string run_;
  std::uint64_t next_ = 0;
  std::deque<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace ringward::watch
