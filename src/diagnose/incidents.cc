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
  incidents_.back().cause.id = ++last_id_;
  return incidents_.back();
}

/// What is over and has been said again since goes first: it takes nothing from the verdict.
void Incidents::Shorten(Incident& incident) {
  std::vector<Finding>& findings = incident.findings;
  if (findings.size() <= kFindingsMost) return;
  const auto said_again = [&](const Finding& finding) {
    return finding.over && std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
             return other.id > finding.id && other.kind == finding.kind &&
                    other.ranks == finding.ranks && other.host == finding.host;
           });
  };
  const auto second = findings.begin() + 1;  // the first tells since when
  auto gone = std::find_if(second, findings.end(), said_again);
  if (gone == findings.end()) {
    gone = std::find_if(second, findings.end(), [](const Finding& each) { return each.over; });
  }
  if (gone != findings.end()) findings.erase(gone);
}

void Incidents::ForgetOld() {
  const auto is_over = [](const Incident& incident) { return incident.cause.over; };
  auto over =
      static_cast<std::size_t>(std::count_if(incidents_.begin(), incidents_.end(), is_over));
  std::erase_if(incidents_, [&](const Incident& incident) {
    return over > kOverMost && is_over(incident) && over-- > 0;
  });
}

std::vector<Cause> Incidents::Fold(std::span<const Finding> findings, double step_seconds) {
  std::vector<std::uint64_t> changed;
  for (const Finding& finding : findings) {
    Incident& home = HomeOf(finding);
    const auto known = std::find_if(home.findings.begin(), home.findings.end(),
                                    [&](const Finding& member) { return member.id == finding.id; });
    if (known == home.findings.end()) {
      home.findings.push_back(finding);
      Shorten(home);
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
  for (const std::uint64_t id : changed) {
    const auto incident =
        std::lower_bound(incidents_.begin(), incidents_.end(), id,
                         [](const Incident& each, std::uint64_t at) { return each.cause.id < at; });
    causes.push_back(incident->cause);
  }
  ForgetOld();
  return causes;
}

std::vector<Cause> Incidents::All() const {
  std::vector<Cause> causes;
  for (const Incident& incident : incidents_) causes.push_back(incident.cause);
  return causes;
}

}  // namespace ringward::diagnose
