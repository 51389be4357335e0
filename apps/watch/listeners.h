#pragma once

#include <vector>

#include "watch/watcher.h"

namespace ringward::watch {

/// Tells several listeners, in the order of adding. They outlive it.
class Listeners final : public Listener {
 public:
  void Add(Listener& listener) { all_.push_back(&listener); }
  void OnLook(const JobLook& look) override {
    for (Listener* const each : all_) each->OnLook(look);
  }
  void OnJob(const JobEvents& job) override {
    for (Listener* const each : all_) each->OnJob(job);
  }
  void OnIncident(const JobEvents& job, const Told& told) override {
    for (Listener* const each : all_) each->OnIncident(job, told);
  }
  void OnEnd(const JobWatch& job) override {
    for (Listener* const each : all_) each->OnEnd(job);
  }
  void OnSelf(const SelfNews& news) override {
    for (Listener* const each : all_) each->OnSelf(news);
  }
  void OnLooked(const Watcher& watcher, bool judged) override {
    for (Listener* const each : all_) each->OnLooked(watcher, judged);
  }

 private:
  std::vector<Listener*> all_;
};

}  // namespace ringward::watch
