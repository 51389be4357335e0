// Any bytes as what an agent sends: taken whole as a message, as sights that are packed soundly,
// and as the aggregator's answer. What is taken goes on into a watcher, whose memory stays bounded.
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "watch/hosts/agent_hub.h"
#include "watch/watcher.h"

using namespace ringward;
using namespace ringward::watch;

namespace {

class Nobody final : public Listener {
 public:
  void OnLook(const JobLook&) override {}
  void OnJob(const JobEvents&) override {}
  void OnIncident(const JobEvents&, const Told&) override {}
  void OnEnd(const JobWatch&) override {}
  void OnLooked(const Watcher&, bool) override {}
};

class HubSource final : public Source {
 public:
  explicit HubSource(AgentHub& hub) : hub_(hub) {}
  std::vector<RankSight> Look() override {
    std::vector<RankSight> sights = hub_.Look();
    // A world of many ranks costs the memory of many ranks: true, bounded, and slow to fuzz.
    std::erase_if(sights, [](const RankSight& sight) { return sight.who.world > 64; });
    return sights;
  }
  void Wait(Clock::Duration) override {}

 private:
  AgentHub& hub_;
};

/// A few messages of one agent, with looks between them.
void Watch(const std::string& first, const std::string& second) {
  ManualClock clock;
  clock.Advance(std::chrono::seconds(100));
  AgentHub hub({}, clock);
  HubSource source(hub);
  Nobody nobody;
  Watcher watcher({}, source, clock, nobody);
  for (const std::string& body : {first, second, first}) {
    const AgentReply reply = hub.Take(body);
    RINGWARD_CHECK(reply.status != 200 || AgentCodec::ReadAnswer(reply.body));
    clock.Advance(std::chrono::milliseconds(600));
    watcher.Look();
    watcher.Look();
  }
  clock.Advance(std::chrono::seconds(3));
  watcher.Look();
  watcher.Finish();
}

std::string Packed(std::string_view plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1));
  return packed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) {
    Watch(std::string(rest), std::string(rest.substr(rest.size() / 2)));
  } else if (data[0] % 3 == 1) {
    AgentHeader header{.host = "a", .run = 1, .sequence = 1};
    header.round = true;
    const std::string first = AgentCodec::Message(header, Packed(rest.substr(0, rest.size() / 2)));
    header.sequence = 2;
    Watch(first, AgentCodec::Message(header, Packed(rest)));
  } else {
    const auto answer = AgentCodec::ReadAnswer(rest);
    RINGWARD_CHECK(answer || answer.error().what().find('\n') == std::string::npos);
  }
  return 0;
}
