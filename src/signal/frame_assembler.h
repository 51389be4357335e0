#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "signal/frame.h"
#include "signal/metric.h"

namespace ringward::signal {

/// How long a FrameAssembler waits, and how much it holds.
struct AssemblerLimits {
  /// Frames open at a time. A rank may run this many frames ahead of the others.
  std::size_t open_max = 64;
  /// A frame is also closed when every living rank has sent something of a step this many frames
  /// later: samples of one rank may come out of order by that much.
  std::size_t reorder = 2;
  /// A frame is closed this long after its first sample, whoever is missing.
  Time wait = std::chrono::seconds(5);
};

/// What became of the samples. A source that is well shows in `accepted` only, and in `late` and
/// `strays` where it fell behind.
struct AssemblerCounts {
  std::uint64_t accepted = 0;
  std::uint64_t duplicate = 0;   ///< a rank's metric of a step again: the first counts
  std::uint64_t late = 0;        ///< their frame has been closed
  std::uint64_t ahead = 0;       ///< beyond the frames that may be open
  std::uint64_t bad_rank = 0;    ///< not below the world
  std::uint64_t bad_metric = 0;  ///< not in the table
  std::uint64_t bad_step = 0;    ///< negative or absurd
  std::uint64_t bad_time = 0;    ///< received before the epoch or in the future
  std::uint64_t strays = 0;      ///< accepted, then dropped with a frame of a minority
};

/// A rank has sent all it has of a step.
struct StepEnd {
  std::int32_t rank = 0;
  std::int64_t step = 0;
  std::int32_t steps = 1;  ///< summed in its numbers, this being the last
  bool expected_slow = false;
};

/// The border of the watching path: makes frames, steps rising, of samples in whatever order peers
/// send them. Anything may be given; what fits nowhere is dropped and counted. A frame is closed
///   - when every living rank has ended its step (End),
///   - when every living rank has sent something of a step `reorder` frames later,
///   - when waiting for it was given up: after `wait`, or because open_max frames are open;
/// and it is dropped then unless more than half of the living ranks have a part in it. So a rank
/// that sends steps of the far future neither moves the others' frames nor holds them up.
/// A job that begins again at an earlier step needs a new assembler. Memory: open_max * metrics met
/// * world numbers at most. Not safe for concurrent use.
class FrameAssembler {
 public:
  /// `metrics` outlives it and may grow. REQUIRES: 0 < limits.reorder < limits.open_max.
  FrameAssembler(std::size_t world, const MetricTable& metrics, const AssemblerLimits& limits = {});

  /// The receiver's clock, before what was received by then is added; never goes back.
  void Advance(Time now);
  void Add(const Sample& sample);
  void End(const StepEnd& end);
  /// Nothing is waited for from a rank that is not alive (its process ended, its source is lost);
  /// what it still sends is taken. All are alive at first. No rank of the world: ignored.
  void SetAlive(std::int32_t rank, bool alive);

  /// The next closed frame. They wait here: take them after each handful of samples.
  std::optional<Frame> Next();
  const AssemblerCounts& counts() const { return counts_; }

 private:
  struct Open {
    std::int64_t step = 0;
    std::size_t opener = 0;  ///< rank
    std::int32_t steps = 1;
    bool expected_slow = false;
    Time opened{};
    std::size_t reporting = 0;  ///< ranks with a part in it
    std::size_t ended = 0;      ///< living ranks that have ended it
    std::size_t reached = 0;    ///< living ranks that have sent something of it or a later one
    std::uint64_t samples = 0;
    std::vector<std::uint8_t> marks{};          ///< [world]
    std::vector<std::vector<float>> columns{};  ///< [metric]; empty: not met
  };

  bool IsRank(std::int32_t rank);
  /// The frame of `step`, opened where there is room; null, and counted, where there is none.
  Open* Find(std::size_t rank, std::int64_t step);
  Open* OpenAt(std::vector<Open>::iterator at, std::size_t rank, std::int64_t step);
  bool MakeRoom(std::int64_t step);
  bool IsShared(const Open& frame) const { return frame.reporting * 2 > living_; }
  /// `rank` has a part in `frame`.
  void Join(Open& frame, std::size_t rank);
  bool OldestIsDone() const;
  void CloseDone();
  void CloseOldest();
  void Drop(std::vector<Open>::iterator frame);
  Frame Release(Open& frame);

  std::size_t world_;
  const MetricTable& metrics_;
  AssemblerLimits limits_;
  AssemblerCounts counts_;
  Time now_{};
  std::vector<std::uint8_t> alive_;   ///< [world]
  std::vector<std::int64_t> newest_;  ///< [world] highest step that a rank has sent; -1: none
  std::vector<std::size_t> opened_;   ///< [world] open frames that it was the first in
  std::size_t living_;
  std::int64_t closed_step_ = -1;  ///< of the newest frame that was closed
  std::vector<Open> open_;         ///< steps rising
  std::deque<Frame> closed_;
  std::size_t last_ = 0;  ///< index of the frame of the last sample
};

}  // namespace ringward::signal
