#include "signal/topology.h"

#include <unordered_map>

namespace ringward::signal {
namespace {

template <typename Key, typename KeyOf>
Topology::Groups GroupBy(const std::vector<RankPlace>& places, KeyOf key_of) {
  Topology::Groups groups;
  std::unordered_map<Key, std::size_t> index;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const auto [at, fresh] = index.try_emplace(key_of(places[rank]), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(static_cast<std::int32_t>(rank));
  }
  return groups;
}

}  // namespace

Topology::Groups Topology::ByHost() const {
  return GroupBy<std::string>(places_, [](const RankPlace& place) { return place.host; });
}

Topology::Groups Topology::ByStage() const {
  return GroupBy<std::int32_t>(places_, [](const RankPlace& place) { return place.stage; });
}

}  // namespace ringward::signal
