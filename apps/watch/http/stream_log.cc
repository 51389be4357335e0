#include "watch/http/stream_log.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace ringward::watch {
namespace {

constexpr std::size_t kKeptMost = 1024;
constexpr std::size_t kKeptBytesMost = 1 << 20;
// How long a browser waits before it comes back.
constexpr std::string_view kOpening = "retry: 2000\n\n";

/// The number in "RUN-17", where it is of this run.
std::optional<std::uint64_t> NumberIn(std::string_view id, std::string_view run) {
  if (!id.starts_with(run) || id.size() <= run.size() || id[run.size()] != '-') return {};
  id.remove_prefix(run.size() + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return {};
  return number;
}

}  // namespace

StreamFrame StreamLog::Add(const StreamEvent& event) {
  if (!event.kept) {
    return std::make_shared<const std::string>(
        fmt::format("event: {}\ndata: {}\n\n", event.name, event.data));
  }
  const std::uint64_t number = next_++;
  kept_.push_back(
      {number, std::make_shared<const std::string>(fmt::format(
                   "id: {}-{}\nevent: {}\ndata: {}\n\n", run_, number, event.name, event.data))});
  kept_bytes_ += kept_.back().frame->size();
  StreamFrame frame = kept_.back().frame;
  while (kept_.size() > kKeptMost || kept_bytes_ > kKeptBytesMost) {
    kept_bytes_ -= kept_.front().frame->size();
    kept_.pop_front();
  }
  return frame;
}

std::vector<StreamFrame> StreamLog::Opening(std::string_view last_event_id) const {
  std::vector<StreamFrame> frames = {std::make_shared<const std::string>(kOpening)};
  if (last_event_id.empty()) return frames;
  const auto seen = NumberIn(last_event_id, run_);
  const std::uint64_t from = seen && *seen < next_ ? *seen + 1 : 0;
  const std::uint64_t oldest = next_ - kept_.size();
  if (!seen || *seen >= next_ || from < oldest) {
    frames.push_back(std::make_shared<const std::string>("event: reset\ndata: {}\n\n"));
  }
  for (const Kept& kept : kept_) {
    if (kept.number >= from) frames.push_back(kept.frame);
  }
  return frames;
}

}  // namespace ringward::watch
