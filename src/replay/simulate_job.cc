#include "replay/simulate_job.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "replay/noise.h"
#include "signal/metric.h"

namespace ringward::replay {
namespace {

using signal::Column;
using signal::Frame;
using signal::IdOf;
using signal::Known;
using signal::Phase;

constexpr double kSelfShare = 0.75;  // of a step: input and compute
constexpr double kInputShare = 0.05;
constexpr double kTransferShare = 0.2;
// Of the variance of a rank's noise; the rest is white. Fitted, with the tails, to step times of
// production jobs and of real Horovod runs (docs/simulate.md).
constexpr double kSlowVariance = 0.15;
constexpr double kSlowMemory = 0.8;  // lag-1 correlation of the slow part
constexpr double kCommonSd = 0.02;
constexpr double kCommonMemory = 0.9;
constexpr double kRankSd = 0.03;  // steady differences between ranks
constexpr double kTransferSd = 0.06;
constexpr double kBurstChance = 0.0005;  // of a rank and step: the system does something else
constexpr double kBurstMean = 0.3;       // of the self time
constexpr float kFastest = 0.4F;         // of the typical time: no step is faster
constexpr double kLossSd = 0.06;         // of a rank's loss, logarithm
constexpr double kMemoryBytes = 24e9;
constexpr double kMemoryLimit = 40e9;
constexpr double kMemorySd = 0.002;
constexpr std::int64_t kRareEvery = 32;  // steps between reports of what hardly changes
constexpr int kColumnsOften = 8;

class Job {
 public:
  Job(const JobOptions& options, const EventSink& sink)
      : options_(options),
        sink_(sink),
        topology_(TopologyOf(options)),
        world_(static_cast<std::size_t>(options.world)),
        random_(options.seed * 0x9e3779b97f4a7c15ULL + 0x5851f42d4c957f2dULL),
        usual_(world_),
        slow_(world_, 0.0F),
        data_(world_),
        compute_(world_),
        uneven_(world_, 1.0F),
        stall_(world_, 0.0F) {
    for (float& usual : usual_) usual = static_cast<float>(kRankSd) * tail_.Draw(random_);
    for (const Known metric : {Known::kStepTime, Known::kDataTime, Known::kComputeTime,
                               Known::kWaitTime, Known::kLoss, Known::kGradientNorm, Known::kMemory,
                               Known::kRetransmits, Known::kMemoryLimit, Known::kClockOffset}) {
      frame_.columns.push_back({IdOf(metric), std::vector<float>(world_)});
    }
  }

  Status Run() {
    RINGWARD_TRY(Send(signal::JobOpened{"simulated", topology_}));
    for (std::int64_t step = 0; step < options_.steps; ++step) {
      RINGWARD_ASSIGN(const bool goes_on, Interrupt(step));
      if (!goes_on) return Ok();
      Compute(step);
      RINGWARD_TRY(Report(step));
    }
    return Send(signal::JobClosed{});
  }

 private:
  Status Send(decltype(signal::Event::what) what) {
    return sink_({number_++, now_, std::move(what)});
  }

  /// What stops the job before a step: a frozen rank holds everybody up, a killed one ends it.
  Result<bool> Interrupt(std::int64_t step) {
    for (const Fault& fault : options_.faults) {
      if (fault.onset != step) continue;
      if (fault.kind == FaultKind::kKill) {
        now_ += signal::FromSeconds(0.5 * options_.step_seconds);
        for (const std::int32_t rank : fault.ranks)
          RINGWARD_TRY(Send(signal::RankEnded{rank, 0, 9}));
        return false;
      }
      if (fault.kind == FaultKind::kFreeze) RINGWARD_TRY(Freeze(fault, step));
    }
    return true;
  }

  /// Ranks report where they are once a second, as they do when a step is overdue.
  Status Freeze(const Fault& fault, std::int64_t step) {
    const double seconds = static_cast<double>(fault.length) * options_.step_seconds;
    for (double t = 1.0; t <= seconds; t += 1.0) {
      now_ += signal::FromSeconds(1.0);
      for (std::size_t r = 0; r < world_; ++r) {
        const auto rank = static_cast<std::int32_t>(r);
        const bool frozen =
            std::find(fault.ranks.begin(), fault.ranks.end(), rank) != fault.ranks.end();
        const bool arrived = !frozen && t >= kSelfShare * options_.step_seconds;
        const auto sequence = static_cast<std::uint64_t>(arrived ? step + 1 : step);
        RINGWARD_TRY(
            Send(signal::Progress{rank, step, arrived ? Phase::kCommunicate : Phase::kForward,
                                  sequence, arrived, frozen}));
      }
    }
    for (const std::int32_t rank : fault.ranks)
      stall_[static_cast<std::size_t>(rank)] = static_cast<float>(seconds);
    return Ok();
  }

  float Noise(std::size_t rank) {
    const auto memory = static_cast<float>(kSlowMemory);
    const auto cv = static_cast<float>(options_.cv);
    static const auto kDrive =
        static_cast<float>(std::sqrt(kSlowVariance * (1.0 - kSlowMemory * kSlowMemory)));
    static const auto kWhite = static_cast<float>(std::sqrt(1.0 - kSlowVariance));
    slow_[rank] = memory * slow_[rank] + kDrive * tail_.Draw(random_);
    return cv * (slow_[rank] + kWhite * tail_.Draw(random_));
  }

  float Burst() { return static_cast<float>(-kBurstMean * std::log(1.0 - random_.Uniform())); }

  void Compute(std::int64_t step) {
    common_ = kCommonMemory * common_ + kCommonSd * std::sqrt(1.0 - kCommonMemory * kCommonMemory) *
                                            static_cast<double>(tail_.Draw(random_));
    const auto base = static_cast<float>((kSelfShare - kInputShare) * options_.step_seconds);
    const auto input = static_cast<float>(kInputShare * options_.step_seconds);
    for (std::size_t r = 0; r < world_; ++r) {
      const float typical = base * std::exp(usual_[r] + static_cast<float>(common_));
      compute_[r] = typical * std::max(kFastest, 1.0F + Noise(r));
      if (random_.Uniform() < kBurstChance) compute_[r] += base * Burst();
      data_[r] = input * std::max(kFastest, 1.0F + static_cast<float>(2.0 * options_.cv) *
                                                       tail_.Draw(random_));
    }
    transfer_ = kTransferShare * options_.step_seconds *
                std::exp(kTransferSd * static_cast<double>(tail_.Draw(random_)));
    for (const Fault& fault : options_.faults) {
      if (fault.ActiveAt(step)) Slow(fault, input + base);
    }
    for (std::size_t r = 0; r < world_; ++r) compute_[r] += std::exchange(stall_[r], 0.0F);
  }

  void Slow(const Fault& fault, float self) {
    const auto severity = static_cast<float>(fault.severity);
    switch (fault.kind) {
      case FaultKind::kSlowRank:
        for (const std::int32_t rank : fault.ranks)
          compute_[static_cast<std::size_t>(rank)] *= 1.0F + severity;
        break;
      case FaultKind::kIntermittent: {
        // One step in five: five times as much then, so that severity is the mean.
        for (const std::int32_t rank : fault.ranks) {
          if (random_.Uniform() < 0.2)
            compute_[static_cast<std::size_t>(rank)] *= 1.0F + 5.0F * severity;
        }
        break;
      }
      case FaultKind::kSlowInput:
        for (const std::int32_t rank : fault.ranks)
          data_[static_cast<std::size_t>(rank)] += self * severity;
        break;
      case FaultKind::kSlowLink:
      case FaultKind::kSlowNetwork:
        transfer_ *= 1.0 + fault.severity;
        break;
      case FaultKind::kUnevenPartition:
        for (std::size_t r = 0; r < world_; ++r) {
          if (topology_.place(r).stage == fault.stage) compute_[r] *= 1.0F + severity;
        }
        break;
      case FaultKind::kUnevenData:
        DrawUneven(fault.severity);
        for (std::size_t r = 0; r < world_; ++r) {
          compute_[r] *= uneven_[static_cast<std::size_t>(topology_.place(r).replica)];
        }
        break;
      default:
        break;
    }
  }

  /// Work per replica: a replica's stages all work on the same rows.
  void DrawUneven(double severity) {
    const auto sd = static_cast<float>(std::log1p(severity));
    for (float& work : uneven_) {
      work = std::exp(sd * std::clamp(tail_.Draw(random_), -2.5F, 2.5F) * 0.7F);
    }
  }

  float* Values(Known metric) {
    for (Column& column : frame_.columns) {
      if (column.metric == IdOf(metric)) return column.values.data();
    }
    return nullptr;
  }

  void FillTimes() {
    float slowest = 0.0F;
    for (std::size_t r = 0; r < world_; ++r) slowest = std::max(slowest, data_[r] + compute_[r]);
    const float step = slowest + static_cast<float>(transfer_);
    float* const steps = Values(Known::kStepTime);
    float* const data = Values(Known::kDataTime);
    float* const compute = Values(Known::kComputeTime);
    float* const wait = Values(Known::kWaitTime);
    for (std::size_t r = 0; r < world_; ++r) {
      steps[r] = step;
      data[r] = data_[r];
      compute[r] = compute_[r];
      wait[r] = step - data_[r] - compute_[r];
    }
    now_ += signal::FromSeconds(static_cast<double>(step));
  }

  void FillNumbers(std::int64_t step) {
    const double progress = static_cast<double>(step) / 2000.0;
    const auto level = static_cast<float>(0.5 + 2.0 / (1.0 + progress));
    float* const loss = Values(Known::kLoss);
    float* const norm = Values(Known::kGradientNorm);
    float* const memory = Values(Known::kMemory);
    for (std::size_t r = 0; r < world_; ++r) {
      loss[r] = level * (1.0F + static_cast<float>(kLossSd) * tail_.Draw(random_));
      norm[r] = 0.4F * level * (1.0F + static_cast<float>(kLossSd) * tail_.Draw(random_));
      memory[r] = static_cast<float>(kMemoryBytes *
                                     (1.0 + kMemorySd * static_cast<double>(tail_.Draw(random_))));
    }
    float* const retransmits = Values(Known::kRetransmits);
    for (std::size_t r = 0; r < world_; ++r) {
      if (r % static_cast<std::size_t>(options_.ranks_per_host) == 0) {
        retransmission_ = static_cast<float>(-0.5 * std::log(1.0 - random_.Uniform()));
      }
      retransmits[r] = retransmission_;
    }
    std::fill_n(Values(Known::kMemoryLimit), world_, static_cast<float>(kMemoryLimit));
    std::fill_n(Values(Known::kClockOffset), world_, 0.001F);
    for (const Fault& fault : options_.faults) {
      if (step >= fault.onset) Disturb(fault, step, loss, norm, memory, retransmits);
    }
  }

  void Disturb(const Fault& fault, std::int64_t step, float* loss, float* norm, float* memory,
               float* retransmits) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    if (fault.kind == FaultKind::kNan) {
      const auto poison = [&](std::size_t r) { loss[r] = norm[r] = kNan; };
      if (step == fault.onset) {
        for (const std::int32_t rank : fault.ranks) poison(static_cast<std::size_t>(rank));
      } else {
        for (std::size_t r = 0; r < world_; ++r) poison(r);
      }
    }
    if (!fault.ActiveAt(step)) return;
    const auto done =
        static_cast<double>(step - fault.onset + 1) / static_cast<double>(fault.length);
    switch (fault.kind) {
      case FaultKind::kSpike:
        for (std::size_t r = 0; r < world_; ++r) {
          loss[r] *= static_cast<float>(1.0 + fault.severity);
          norm[r] *= static_cast<float>(1.0 + fault.severity);
        }
        break;
      case FaultKind::kOddRows:
        for (const std::int32_t rank : fault.ranks) {
          loss[rank] *= static_cast<float>(1.0 + fault.severity);
          norm[rank] /= static_cast<float>(1.0 + fault.severity);
        }
        break;
      case FaultKind::kLeak:
        for (const std::int32_t rank : fault.ranks) {
          memory[rank] += static_cast<float>(0.95 * done * (kMemoryLimit - kMemoryBytes));
        }
        break;
      case FaultKind::kSlowLink:
        for (const std::int32_t rank : fault.ranks)
          retransmits[rank] += static_cast<float>(20.0 + 100.0 * fault.severity);
        break;
      case FaultKind::kClockSkew:
        for (const std::int32_t rank : fault.ranks) {
          Values(Known::kClockOffset)[rank] += static_cast<float>(1.0 + 10.0 * fault.severity);
        }
        break;
      case FaultKind::kLostReports:
        for (Column& column : frame_.columns) {
          for (const std::int32_t rank : fault.ranks)
            column.values[static_cast<std::size_t>(rank)] = signal::kMissing;
        }
        break;
      default:
        break;
    }
  }

  Status Report(std::int64_t step) {
    frame_.step = step;
    FillTimes();
    FillNumbers(step);
    frame_.received = now_;
    if (step % kRareEvery == 0) return Send(frame_);
    Frame often = frame_;
    often.columns.resize(kColumnsOften);
    return Send(std::move(often));
  }

  const JobOptions& options_;
  const EventSink& sink_;
  const signal::Topology topology_;
  const std::size_t world_;
  FastRandom random_;
  HeavyTail tail_;
  std::vector<float> usual_;           ///< steady difference of each rank, logarithm
  std::vector<float> slow_;            ///< the slow part of its noise
  std::vector<float> data_, compute_;  ///< seconds of this step
  std::vector<float> uneven_;          ///< work of each replica in this step
  std::vector<float> stall_;           ///< seconds added to the next step
  double common_ = 0.0;
  double transfer_ = 0.0;
  float retransmission_ = 0.0F;
  Frame frame_;
  signal::Time now_{std::chrono::seconds(1'767'571'200)};
  std::uint64_t number_ = 0;
};

}  // namespace

signal::Topology TopologyOf(const JobOptions& options) {
  std::vector<signal::RankPlace> places(static_cast<std::size_t>(options.world));
  for (std::int32_t r = 0; r < options.world; ++r) {
    signal::RankPlace& place = places[static_cast<std::size_t>(r)];
    place.host = "node" + std::to_string(r / options.ranks_per_host);
    place.stage = r % options.stages;
    place.replica = r / options.stages;
  }
  return signal::Topology(std::move(places));
}

Status SimulateJob(const JobOptions& options, const EventSink& sink) {
  const auto refuse = [](const char* what) { return Error(Code::kInvalidInput, what); };
  if (options.world < 2 || options.world > 16'384) return refuse("world must be in [2, 16384]");
  if (options.ranks_per_host < 1) return refuse("ranks per host must be >= 1");
  if (options.stages < 1 || options.world % options.stages != 0)
    return refuse("stages must divide world");
  if (options.steps < 1) return refuse("steps must be >= 1");
  if (!(options.step_seconds > 0.0)) return refuse("step seconds must be > 0");
  if (!(options.cv >= 0.0 && options.cv <= 0.5)) return refuse("cv must be in [0, 0.5]");
  for (const Fault& fault : options.faults) {
    if (fault.onset < 0 || fault.length < 1 || !(fault.severity >= 0.0))
      return refuse("a fault needs onset >= 0, length >= 1, severity >= 0");
    for (const std::int32_t rank : fault.ranks) {
      if (rank < 0 || rank >= options.world)
        return refuse("a fault names a rank that the job does not have");
    }
  }
  return Job(options, sink).Run();
}

}  // namespace ringward::replay
