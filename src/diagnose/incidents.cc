#include "diagnose/incidents.h"

#include <algorithm>

#include "diagnose/folding.h"
#include "diagnose/verdict.h"

namespace ringward::diagnose {

using signal::Cause;
using signal::Finding;

Incidents::Incident& Incidents::HomeOf(const Finding& finding) {
  const auto same = [&](const Finding& member) { return member.id == finding.id; };
  for (Incident& incident : incidents_) {
    if (std::any_of(incident.findings.begin(), incident.findings.end(), same)) return incident;
  }
  // The latest first: two troubles of one kind are told apart by time.
  for (auto incident = incidents_.rbegin(); incident != incidents_.rend(); ++incident) {
    const bool together = std::any_of(
        incident->findings.begin(), incident->findings.end(),
        [&](const Finding& member) { return BelongTogether(member, finding, topology_); });
    if (together) return *incident;
  }
  incidents_.emplace_back();
  incidents_.back().cause.id = incidents_.size();
  return incidents_.back();
}

std::vector<Cause> Incidents::Fold(std::span<const Finding> findings, double step_seconds) {
  std::vector<std::uint64_t> changed;
  for (const Finding& finding : findings) {
    Incident& home = HomeOf(finding);
    const auto known = std::find_if(home.findings.begin(), home.findings.end(),
                                    [&](const Finding& member) { return member.id == finding.id; });
    if (known == home.findings.end()) {
      home.findings.push_back(finding);
    } else {
      // What a stretch is told as may change; when it was found does not.
      const signal::Time found = known->at;
      *known = finding;
      known->at = found;
    }
    const std::uint64_t id = home.cause.id;
    home.cause = Judge(home.findings, topology_, step_seconds);
    home.cause.id = id;
    if (std::find(changed.begin(), changed.end(), id) == changed.end()) changed.push_back(id);
  }
  std::vector<Cause> causes;
  causes.reserve(changed.size());
  for (const std::uint64_t id : changed) causes.push_back(incidents_[id - 1].cause);
  return causes;
}

std::vector<Cause> Incidents::All() const {
  std::vector<Cause> causes;
  for (const Incident& incident : incidents_) causes.push_back(incident.cause);
  return causes;
}

}  // namespace ringward::diagnose
