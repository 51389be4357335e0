#include "watch/hosts/agent_hub.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace ringward::watch {
namespace {

constexpr std::size_t kAgentsMost = 4096;
constexpr std::size_t kRanksMost = 4096;  // of one agent
/// Between two looks: what is longer, somebody slept.
constexpr std::chrono::milliseconds kLookGapMost{500};
/// An agent that says nothing for so long, where four times a second is usual, has ended: another
/// may speak for its host.
constexpr std::chrono::seconds kTakeOverAfter{1};
/// An agent that was silent for so long is forgotten with its ranks.
constexpr std::chrono::hours kForgetAfter{1};

std::string HostList(const std::vector<std::string>& hosts) {
  constexpr std::size_t kShown = 8;
  const std::size_t shown = std::min(kShown, hosts.size());
  std::string text = fmt::format(
      "{}", fmt::join(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  return shown < hosts.size() ? fmt::format("{} and {} more", text, hosts.size() - shown) : text;
}

AgentReply Refusal(unsigned status, std::string why) { return {status, std::move(why)}; }

}  // namespace

AgentHub::AgentHub(AgentHubOptions options, const Clock& clock)
    : options_(options),
      clock_(clock),
      run_(static_cast<std::uint64_t>(clock.WallNow().count()) | 1U),
      looked_(clock.Now()) {}

bool AgentHub::IsBlind(const Agent& agent) const {
  return agent.status.silent >= options_.silent_after;
}

/// Finds the agent that may speak for its host, or says why it may not.
AgentReply AgentHub::Admit(const AgentHeader& header, Agent*& agent) {
  if (header.protocol != kAgentProtocol) {
    return Refusal(426, fmt::format("this agent speaks protocol {}, the aggregator {}: they need "
                                    "the same; update the older one",
                                    header.protocol, kAgentProtocol));
  }
  if (header.host.empty() || header.sequence == 0 || header.run == 0)
    return Refusal(400, "a message without a host, a run or a number");
  const auto known = agents_.find(header.host);
  if (known == agents_.end() && agents_.size() >= kAgentsMost)
    return Refusal(503, fmt::format("there are {} agents already", kAgentsMost));
  Agent& found = known == agents_.end() ? agents_[header.host] : known->second;
  if (found.run != header.run) {
    if (found.run != 0 && !found.left && found.status.silent < kTakeOverAfter) {
      ++found.status.refused;
      return Refusal(409, "another agent says to be host " + header.host +
                              ": give one of them another --host-name, or wait until it is silent");
    }
    found.run = header.run;
    found.taken = found.dropped_told = 0;
    found.clock = {};
  }
  found.status.host = header.host;
  found.status.software = header.software;
  agent = &found;
  return {};
}

void AgentHub::TakeSights(AgentMessage& message, Agent& agent) {
  for (RankSight& sight : message.sights) {
    sight.host = agent.status.host;
    RankKey key(sight.who.job, sight.who.rank, sight.who.pid, sight.who.start_time);
    const auto known = agent.ranks.find(key);
    if (known == agent.ranks.end()) {
      if (agent.ranks.size() >= kRanksMost) continue;
      agent.ranks.emplace(
          std::move(key),
          Followed{.sight = std::move(sight), .run = agent.run, .round = agent.round});
      continue;
    }
    Followed& rank = known->second;
    if (rank.fresh) {
      MergeSight(rank.sight, std::move(sight));
    } else {
      rank.sight = std::move(sight);
    }
    rank.fresh = true;
    rank.vanished = false;
    rank.run = agent.run;
    rank.round = agent.round;
  }
}

/// What an agent follows it has told in each round. A rank that a new agent does not find has ended
/// while nobody looked; one that the same agent tells no more cannot be read.
void AgentHub::EndRound(Agent& agent) {
  for (auto& [key, rank] : agent.ranks) {
    if (rank.round == agent.round || rank.sight.ended) continue;
    rank.vanished = true;
    rank.sight.ended = rank.run != agent.run;
  }
  ++agent.round;
}

AgentReply AgentHub::Take(std::string_view body) {
  const std::lock_guard lock(mutex_);
  const Clock::Duration received = clock_.Now();
  auto message = codec_.Read(body);
  if (!message) return Refusal(400, message.error().what());
  const AgentHeader& header = message->header;
  Agent* agent = nullptr;
  AgentReply refusal = Admit(header, agent);
  if (agent == nullptr) return refusal;
  AgentStatus& status = agent->status;
  agent->clock.TakeMessage(header.sent, received);
  if (header.echo && header.echo->aggregator == run_) agent->clock.Take(*header.echo, received);
  status.silent = {};
  agent->left = header.leaving;
  if (header.sequence <= agent->taken) {
    ++status.again;
  } else {
    if (agent->taken != 0) status.missing += header.sequence - agent->taken - 1;
    agent->taken = header.sequence;
    ++status.messages;
    status.dropped += header.dropped - std::min(header.dropped, agent->dropped_told);
    agent->dropped_told = header.dropped;
    TakeSights(*message, *agent);
    if (header.round) EndRound(*agent);
  }
  status.ranks = agent->ranks.size();
  return {200, AgentCodec::Answer({.aggregator = run_,
                                   .taken = agent->taken,
                                   .received = received,
                                   .answered = clock_.Now()})};
}

/// Says in the log who is heard, and who no longer: one line, however many agents there are.
void AgentHub::TellChanges() {
  std::vector<std::string> heard;
  std::vector<std::string> silent;
  for (auto& [host, agent] : agents_) {
    const bool blind = IsBlind(agent);
    if (agent.told && agent.status.heard != blind) continue;
    agent.told = true;
    agent.status.heard = !blind;
    (blind ? silent : heard).push_back(host);
  }
  if (!heard.empty()) LogInfo("heard are the agents of " + HostList(heard));
  if (!silent.empty()) LogWarning("blind: silent are the agents of " + HostList(silent));
}

void AgentHub::LookAt(Agent& agent, Clock::Duration now, std::vector<RankSight>& sights) const {
  const Clock::Duration offset = agent.clock.offset();
  const bool blind = IsBlind(agent);
  const auto here = [&](Clock::Duration theirs, Clock::Duration latest) {
    return std::clamp(theirs - offset, Clock::Duration(0), latest);
  };
  for (auto at = agent.ranks.begin(); at != agent.ranks.end();) {
    Followed& rank = at->second;
    if (rank.vanished && !rank.sight.ended) {
      at = agent.ranks.erase(at);
      continue;
    }
    if (rank.fresh) rank.looked = std::max(rank.looked, here(rank.sight.looked, now));
    for (telemetry::StepRecord& record : rank.sight.batch.steps)
      record.end_ns = here(Clock::Duration(record.end_ns), rank.looked).count();
    // What came before it fell silent still counts; it is blind from the next look on.
    const bool stale = !rank.fresh && !rank.sight.ended;
    telemetry::SegmentBatch batch = std::exchange(rank.sight.batch, {});
    std::vector<MachineValue> machine = std::exchange(rank.sight.machine, {});
    RankSight& shown = sights.emplace_back(rank.sight);
    shown.batch = std::move(batch);
    shown.machine = std::move(machine);
    shown.looked = rank.looked;
    shown.unsure = agent.clock.unsure(now);
    shown.blind = blind && stale;
    rank.fresh = false;
    at = shown.ended ? agent.ranks.erase(at) : std::next(at);
  }
  agent.status.ranks = agent.ranks.size();
  agent.status.clock_unsure = agent.clock.unsure(now);
}

std::vector<RankSight> AgentHub::Look() {
  const std::lock_guard lock(mutex_);
  const Clock::Duration now = clock_.Now();
  const Clock::Duration gap = std::min<Clock::Duration>(now - looked_, kLookGapMost);
  looked_ = now;
  std::vector<RankSight> sights;
  for (auto at = agents_.begin(); at != agents_.end();) {
    Agent& agent = at->second;
    agent.status.silent += gap;
    LookAt(agent, now, sights);
    at = agent.status.silent >= kForgetAfter ? agents_.erase(at) : std::next(at);
  }
  TellChanges();
  return sights;
}

std::vector<AgentStatus> AgentHub::agents() const {
  const std::lock_guard lock(mutex_);
  std::vector<AgentStatus> all;
  for (const auto& [host, agent] : agents_) all.push_back(agent.status);
  return all;
}

}  // namespace ringward::watch
