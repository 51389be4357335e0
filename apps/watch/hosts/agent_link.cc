#include "watch/hosts/agent_link.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/caught.h"
#include "base/log.h"

namespace ringward::watch {
namespace {

/// One line of a refusal, which may be a document of another server.
std::string Excerpt(std::string text) {
  constexpr std::size_t kMost = 300;
  text.resize(std::min(text.size(), kMost));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace

AgentLink::AgentLink(Options options, std::unique_ptr<AgentPost> post, const Clock& clock)
    : options_(std::move(options)),
      post_(std::move(post)),
      clock_(clock),
      run_(static_cast<std::uint64_t>(clock.WallNow().count()) | 1U),
      pause_(options_.again_after) {
  thread_ = std::thread([this] {
    // Signals are for the thread that looks.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const Status ran = Guarded([this]() -> Status {
      Run();
      return Ok();
    });
    if (!ran) LogWarning("nothing is sent to the aggregator any more: " + ran.error().what());
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
  });
}

AgentLink::~AgentLink() {
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    give_up_ = std::chrono::steady_clock::now() + options_.farewell;
    changed_.notify_all();
    changed_.wait_until(lock, give_up_, [this] { return ended_; });
  }
  post_->Stop();
  thread_.join();
}

void AgentLink::Offer(std::vector<RankSight> sights) {
  {
    const std::lock_guard lock(mutex_);
    outbox_.Add(std::move(sights));
    counts_.dropped = outbox_.dropped();
  }
  changed_.notify_all();
}

AgentLink::Counts AgentLink::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

/// What to send next, once there is something; nothing at the very end.
std::optional<AgentLink::Outgoing> AgentLink::Next() {
  std::unique_lock lock(mutex_);
  std::optional<AgentOutbox::Batch> batch = outbox_.Take();
  while (!batch && !ending_) {
    changed_.wait(lock);
    batch = outbox_.Take();
  }
  const bool leaving = !batch;
  if (leaving) batch.emplace();
  Outgoing outgoing{.header = {.software = options_.software,
                               .host = options_.host,
                               .run = run_,
                               .round = batch->round,
                               .leaving = leaving,
                               .dropped = outbox_.dropped()}};
  lock.unlock();
  auto packed = codec_.Pack(batch->sights);
  if (!packed) {
    LogWarning(packed.error().what());
    return std::nullopt;
  }
  outgoing.header.sequence = ++sequence_;
  outgoing.packed = *std::move(packed);
  return outgoing;
}

void AgentLink::Run() {
  while (auto outgoing = Next()) {
    while (!Send(*outgoing)) {
      if (!Pause()) return;
    }
    if (outgoing->header.leaving) return;
  }
}

/// False where the end has come.
bool AgentLink::Pause() {
  std::unique_lock lock(mutex_);
  ++counts_.failed;
  const auto now = std::chrono::steady_clock::now();
  const auto until = now + std::min(pause_, options_.again_most);
  pause_ = std::min(2 * pause_, options_.again_most);
  changed_.wait_until(lock, until, [this] { return ending_; });
  if (!ending_) return true;
  // The last words are tried a few times more, and not in a hurry.
  constexpr std::chrono::milliseconds kAtTheEnd{50};
  const auto last = std::min(give_up_, std::chrono::steady_clock::now() + kAtTheEnd);
  changed_.wait_until(lock, last, [] { return false; });
  return std::chrono::steady_clock::now() < give_up_;
}

bool AgentLink::Send(Outgoing& outgoing) {
  outgoing.header.echo = echo_;
  outgoing.header.sent = clock_.Now();
  const auto reply = post_->Post(AgentCodec::Message(outgoing.header, outgoing.packed));
  if (!reply) {
    Complain(reply.error().what());
    return false;
  }
  return Heard(*reply, outgoing.header.sent);
}

bool AgentLink::Heard(const AgentPost::Reply& reply, Clock::Duration sent) {
  const Clock::Duration returned = clock_.Now();
  if (reply.status != 200) {
    Complain(fmt::format("it answers {}: {}", reply.status, Excerpt(reply.body)));
    // What it cannot read it will not read next time: the next message may be better.
    return reply.status == 400 || reply.status == 413;
  }
  const auto answer = AgentCodec::ReadAnswer(reply.body);
  if (!answer || answer->aggregator == 0) {
    Complain("what answers is no aggregator");
    return false;
  }
  echo_ = ClockEcho{.aggregator = answer->aggregator,
                    .sent = sent,
                    .received = answer->received,
                    .answered = answer->answered,
                    .returned = returned};
  pause_ = options_.again_after;
  const std::lock_guard lock(mutex_);
  ++counts_.taken;
  if (!complaint_.empty()) {
    LogInfo(fmt::format("the aggregator takes our messages again; {} records were lost meanwhile",
                        counts_.dropped - dropped_before_));
    complaint_.clear();
  }
  dropped_before_ = counts_.dropped;
  return true;
}

/// Once for each reason, until it is over.
void AgentLink::Complain(const std::string& why) {
  if (why == complaint_) return;
  complaint_ = why;
  LogWarning("the aggregator takes no message: " + why + "; the newest are kept until it does");
}

}  // namespace ringward::watch
