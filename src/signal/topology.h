#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ringward::signal {

/// Where a rank runs and what it does in the job.
struct RankPlace {
  std::string host;          ///< empty: not known
  std::int32_t stage = 0;    ///< pipeline stage, from 0; ranks of one stage do the same work
  std::int32_t replica = 0;  ///< which copy of the model it belongs to
};

/// The ranks of a job. Ranks are 0 <= rank < world().
class Topology {
 public:
  Topology() = default;
  /// A data-parallel job of which nothing else is known.
  explicit Topology(std::size_t world) : places_(world) {}
  explicit Topology(std::vector<RankPlace> places) : places_(std::move(places)) {}

  std::size_t world() const { return places_.size(); }
  const RankPlace& place(std::size_t rank) const { return places_[rank]; }

  /// Ranks that are alike in something: by host, or by stage. Groups in order of first rank.
  using Groups = std::vector<std::vector<std::int32_t>>;
  /// One group where no host is known.
  Groups ByHost() const;
  Groups ByStage() const;
  bool has_stages() const { return ByStage().size() > 1; }

 private:
  std::vector<RankPlace> places_;
};

}  // namespace ringward::signal
