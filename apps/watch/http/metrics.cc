#include "watch/http/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "signal/time.h"

namespace ringward::watch {
namespace {

constexpr std::size_t kJobsShown = 64;
constexpr std::size_t kEachRankUpTo = 256;  // ranks of a job that are all shown
constexpr std::size_t kWorstShown = 10;
// What a machine tells comes once a second, with one look in four.
constexpr std::size_t kColumnsBack = 8;

struct Statistic {
  const char* name;
  double share;  // of the ranks that are at most there
};
constexpr Statistic kStatistics[] = {
    {"min", 0.0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1.0}};

void AppendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || (quotes && c == '"')) out += '\\';
      out += c;
    }
  }
}

template <typename T>
std::string NumberText(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

template <typename Visit>
void ForRunning(const MetricSources& sources, const Visit& visit) {
  std::size_t shown = 0;
  for (const auto& job : sources.snapshot.jobs) {
    if (job->ended) continue;
    if (++shown > kJobsShown) return;
    visit(*job);
  }
}

/// The newest number of each rank in the last columns; empty: no rank has any.
std::vector<float> NewestOf(const JobSnapshot& job, RankMetric metric) {
  std::vector<float> newest;
  const std::size_t columns = job.columns.size();
  for (std::size_t back = 0; back < std::min(columns, kColumnsBack); ++back) {
    const std::vector<float>& values = job.columns[columns - 1 - back]->of(metric);
    if (newest.size() < values.size()) newest.resize(values.size(), signal::kMissing);
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      if (signal::IsMissing(newest[rank])) newest[rank] = values[rank];
    }
  }
  return newest;
}

std::uint64_t SumOf(const MetricSources& sources, std::uint64_t AgentStatus::*count) {
  std::uint64_t sum = 0;
  for (const AgentStatus& agent : sources.snapshot.agents) sum += agent.*count;
  return sum;
}

/// All ranks, or where there are many those with the highest self time, that first.
std::vector<std::size_t> RanksShown(const JobSnapshot& job) {
  std::vector<std::size_t> ranks;
  const std::size_t world = job.ranks.size();
  const std::vector<float> self = NewestOf(job, RankMetric::kSelf);
  for (std::size_t rank = 0; rank < world; ++rank) {
    if (world <= kEachRankUpTo || (!self.empty() && !std::isnan(self[rank]))) ranks.push_back(rank);
  }
  if (world <= kEachRankUpTo) return ranks;
  const std::size_t count = std::min(kWorstShown, ranks.size());
  std::partial_sort(
      ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count), ranks.end(),
      [&](std::size_t a, std::size_t b) { return self[a] == self[b] ? a < b : self[a] > self[b]; });
  ranks.resize(count);
  return ranks;
}

template <RankMetric kMetric>
void RenderRanks(const MetricSources& sources, MetricText& text) {
  ForRunning(sources, [&](const JobSnapshot& job) {
    const std::vector<float> values = NewestOf(job, kMetric);
    if (values.empty()) return;
    for (const std::size_t rank : RanksShown(job)) {
      const float value = values[rank];
      if (!signal::IsMissing(value))
        text.Add({{"job", job.run.name}, {"rank", std::to_string(rank)}}, value);
    }
  });
}

template <RankMetric kMetric>
void RenderStatistics(const MetricSources& sources, MetricText& text) {
  ForRunning(sources, [&](const JobSnapshot& job) {
    const std::vector<float> values = NewestOf(job, kMetric);
    if (values.empty()) return;
    std::vector<float> finite;
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
                 [](float value) { return std::isfinite(value); });
    if (finite.empty()) return;
    for (const Statistic& statistic : kStatistics) {
      const auto at = static_cast<std::ptrdiff_t>(
          std::ceil(statistic.share * static_cast<double>(finite.size() - 1)));
      std::nth_element(finite.begin(), finite.begin() + at, finite.end());
      text.Add({{"job", job.run.name}, {"statistic", statistic.name}},
               finite[static_cast<std::size_t>(at)]);
    }
  });
}

/// One number of each job.
template <auto kValue>
void RenderJobs(const MetricSources& sources, MetricText& text) {
  ForRunning(sources, [&](const JobSnapshot& job) {
    text.Add({{"job", job.run.name}}, kValue(job));
  });
}

/// One number of the watcher.
template <auto kValue>
void RenderOne(const MetricSources& sources, MetricText& text) {
  text.Add({}, kValue(sources));
}

void RenderStates(const MetricSources& sources, MetricText& text) {
  ForRunning(sources, [&](const JobSnapshot& job) {
    for (std::size_t state = 0; state < kRankStates; ++state) {
      text.Add({{"job", job.run.name}, {"state", NameOf(static_cast<RankState>(state))}},
               std::uint64_t{job.states[state]});
    }
  });
}

void RenderOpen(const MetricSources& sources, MetricText& text) {
  ForRunning(sources, [&](const JobSnapshot& job) {
    for (const auto& [cause, count] : job.open)
      text.Add({{"job", job.run.name}, {"cause", cause}}, std::uint64_t{count});
  });
}

void RenderFound(const MetricSources& sources, MetricText& text) {
  for (const auto& [cause, count] : sources.snapshot.found) text.Add({{"cause", cause}}, count);
}

void RenderAnswers(const MetricSources& sources, MetricText& text) {
  for (const auto& [status, count] : sources.http.answers)
    text.Add({{"code", std::to_string(status)}}, count);
}

using Sources = const MetricSources&;
using Job = const JobSnapshot&;

std::uint64_t RunningJobs(Sources s) {
  return static_cast<std::uint64_t>(std::count_if(s.snapshot.jobs.begin(), s.snapshot.jobs.end(),
                                                  [](const auto& job) { return !job->ended; }));
}

constexpr MetricRow kRows[] = {
    {"ringward_last_judgement_timestamp_seconds", "gauge", "seconds", "",
     "When the detectors last ran, since the Unix epoch: alert when it stands still",
     RenderOne<[](Sources s) { return signal::Seconds(s.snapshot.judged); }>},
    {"ringward_looks_total", "counter", "", "", "Looks at the ranks",
     RenderOne<[](Sources s) { return s.snapshot.looks; }>},
    {"ringward_judgements_total", "counter", "", "", "Times that the detectors ran",
     RenderOne<[](Sources s) { return s.snapshot.judgements; }>},
    {"ringward_watcher_cpu_seconds_total", "counter", "seconds", "",
     "Processor time that the watcher has used",
     RenderOne<[](Sources s) { return s.snapshot.cpu_seconds; }>},
    {"ringward_clock_steps_total", "counter", "", "",
     "Times that the clock of the watcher's machine was set, or the machine slept",
     RenderOne<[](Sources s) { return s.snapshot.clock_steps; }>},
    {"ringward_rules_changes_total", "counter", "", "", "Times that other rules came into force",
     RenderOne<[](Sources s) { return s.snapshot.rules_changes; }>},
    {"ringward_recording_events_lost_total", "counter", "", "",
     "Events that the recording lacks because it stopped, mostly for want of room",
     RenderOne<[](Sources s) { return s.snapshot.not_recorded; }>},
    {"ringward_jobs", "gauge", "", "", "Jobs that are watched now", RenderOne<RunningJobs>},
    {"ringward_incidents_found_total", "counter", "", "cause",
     "Incidents found since the watcher started, in jobs that have ended too", RenderFound},
    {"ringward_incidents_open", "gauge", "", "job, cause",
     "Incidents that are not over; without a sample where there are none", RenderOpen},
    {"ringward_job_incidents_open", "gauge", "", "job", "Incidents of any cause that are not over",
     RenderJobs<[](Job j) { return std::uint64_t{j.open_incidents()}; }>},
    {"ringward_ranks", "gauge", "", "job, state",
     "Ranks by how they are seen: living, silent (no progress for 5 seconds), ended, lost, unseen",
     RenderStates},
    {"ringward_blind_ranks", "gauge", "", "job",
     "Ranks of the job that this watcher knows nothing of: unseen or lost", RenderJobs<[](Job j) {
       return std::uint64_t{j.in(RankState::kUnseen) + j.in(RankState::kLost)};
     }>},
    {"ringward_job_step", "gauge", "", "job", "Newest step that has ended; -1 before the first",
     RenderJobs<[](Job j) { return static_cast<double>(j.step); }>},
    {"ringward_job_steps_total", "counter", "", "job", "Steps that have ended while watched",
     RenderJobs<[](Job j) { return j.steps; }>},
    {"ringward_job_step_seconds", "gauge", "seconds", "job",
     "Length of the newest step, median over the ranks",
     RenderJobs<[](Job j) { return static_cast<float>(j.step_seconds); }>},
    {"ringward_job_records_lost_total", "counter", "", "job",
     "Records that ranks wrote over before they were read, or that were malformed",
     RenderJobs<[](Job j) { return j.records_lost; }>},
    {"ringward_job_samples_lost_total", "counter", "", "job",
     "Numbers of ranks that came too late or too early for their step",
     RenderJobs<[](Job j) { return j.samples_lost; }>},
    {"ringward_job_self_seconds", "gauge", "seconds", "job, statistic",
     "Time per step that ranks need for themselves (computing, reading data): min, p50, p90, p99 "
     "and max over the ranks",
     RenderStatistics<RankMetric::kSelf>},
    {"ringward_job_wait_seconds", "gauge", "seconds", "job, statistic",
     "Time per step inside collectives, waiting for others and transferring",
     RenderStatistics<RankMetric::kWait>},
    {"ringward_job_local_loss", "gauge", "", "job, statistic",
     "Loss of the ranks' own rows, over those where it is finite",
     RenderStatistics<RankMetric::kLoss>},
    {"ringward_job_memory_bytes", "gauge", "bytes", "job, statistic",
     "Resident memory of the ranks", RenderStatistics<RankMetric::kMemory>},
    {"ringward_rank_self_seconds", "gauge", "seconds", "job, rank",
     "Self time per step of each rank; of the ten highest where a job has more than 256",
     RenderRanks<RankMetric::kSelf>},
    {"ringward_rank_wait_seconds", "gauge", "seconds", "job, rank",
     "Waiting time per step of the same ranks", RenderRanks<RankMetric::kWait>},
    {"ringward_rank_local_loss", "gauge", "", "job, rank", "Local loss of the same ranks",
     RenderRanks<RankMetric::kLoss>},
    {"ringward_rank_memory_bytes", "gauge", "bytes", "job, rank",
     "Resident memory of the same ranks", RenderRanks<RankMetric::kMemory>},
    {"ringward_gpu_busy_ratio", "gauge", "ratio", "job, rank",
     "Share of the time in which the GPU of the rank computed; this and the others of NVIDIA's "
     "GPUs only",
     RenderRanks<RankMetric::kGpuBusy>},
    {"ringward_gpu_memory_bytes", "gauge", "bytes", "job, rank", "Memory in use on the GPU",
     RenderRanks<RankMetric::kGpuMemory>},
    {"ringward_gpu_temperature_celsius", "gauge", "celsius", "job, rank", "Temperature of the GPU",
     RenderRanks<RankMetric::kGpuTemperature>},
    {"ringward_gpu_power_watts", "gauge", "watts", "job, rank", "Power that the GPU draws",
     RenderRanks<RankMetric::kGpuPower>},
    {"ringward_gpu_clock_hertz", "gauge", "hertz", "job, rank", "Clock of the GPU's processors",
     RenderRanks<RankMetric::kGpuClock>},
    {"ringward_gpu_held_back_ratio", "gauge", "ratio", "job, rank",
     "Share of the looks in which heat or power supply held the GPU's clock back",
     RenderRanks<RankMetric::kGpuHeldBack>},
    {"ringward_gpu_errors", "gauge", "", "job, rank",
     "Errors of the GPU's memory beyond repair, as its driver counts them",
     RenderRanks<RankMetric::kGpuErrors>},
    {"ringward_http_answers_total", "counter", "", "code", "Answers of the HTTP server by status",
     RenderAnswers},
    {"ringward_http_connections", "gauge", "", "", "Connections that are open",
     RenderOne<[](Sources s) { return std::uint64_t{s.http.connections}; }>},
    {"ringward_http_connections_refused_total", "counter", "", "",
     "Connections refused because too many were open",
     RenderOne<[](Sources s) { return s.http.refused; }>},
    {"ringward_agents", "gauge", "", "state", "Agents of other hosts: heard, or silent",
     [](const MetricSources& sources, MetricText& text) {
       const auto& agents = sources.snapshot.agents;
       const auto heard = static_cast<std::uint64_t>(std::count_if(
           agents.begin(), agents.end(), [](const AgentStatus& agent) { return agent.heard; }));
       text.Add({{"state", "heard"}}, heard);
       text.Add({{"state", "silent"}}, agents.size() - heard);
     }},
    {"ringward_agent_messages_total", "counter", "", "", "Messages of agents that were taken",
     RenderOne<[](Sources s) { return SumOf(s, &AgentStatus::messages); }>},
    {"ringward_agent_messages_missing_total", "counter", "", "",
     "Messages of agents that never came, by their numbers",
     RenderOne<[](Sources s) { return SumOf(s, &AgentStatus::missing); }>},
    {"ringward_agent_records_lost_total", "counter", "", "",
     "Records that agents could not keep while nobody took them",
     RenderOne<[](Sources s) { return SumOf(s, &AgentStatus::dropped); }>},
    {"ringward_agent_messages_refused_total", "counter", "", "",
     "Messages of a second agent that says to be a host which has one",
     RenderOne<[](Sources s) { return SumOf(s, &AgentStatus::refused); }>},
    {"ringward_stream_clients", "gauge", "", "", "Clients of the event stream",
     RenderOne<[](Sources s) { return std::uint64_t{s.http.stream_clients}; }>},
    {"ringward_stream_clients_dropped_total", "counter", "", "",
     "Clients of the event stream that were too slow",
     RenderOne<[](Sources s) { return s.http.stream_dropped; }>},
};

}  // namespace

void MetricText::Write(Labels labels, std::string_view value) {
  out_ += name_;
  char separator = '{';
  for (const auto& [name, text] : labels) {
    out_ += separator;
    out_ += name;
    out_ += "=\"";
    AppendEscaped(out_, text, true);
    out_ += '"';
    separator = ',';
  }
  if (labels.size() > 0) out_ += '}';
  out_ += ' ';
  out_ += value;
  out_ += '\n';
}

void MetricText::Add(Labels labels, double value) { Write(labels, NumberText(value)); }
void MetricText::Add(Labels labels, float value) { Write(labels, NumberText(value)); }
void MetricText::Add(Labels labels, std::uint64_t value) {
  Write(labels, fmt::format("{}", value));
}

std::span<const MetricRow> MetricRows() { return kRows; }

std::string MetricsPage(const MetricSources& sources) {
  std::string page;
  MetricText text(page);
  for (const MetricRow& row : kRows) {
    page += fmt::format("# HELP {} ", row.name);
    AppendEscaped(page, row.help, false);
    page += fmt::format("\n# TYPE {} {}\n", row.name, row.type);
    text.Begin(row.name);
    row.render(sources, text);
  }
  return page;
}

std::string MetricsTable() {
  std::string table;
  for (const MetricRow& row : kRows) {
    table += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, row.type, row.unit, row.labels,
                         row.help);
  }
  return table;
}

}  // namespace ringward::watch
