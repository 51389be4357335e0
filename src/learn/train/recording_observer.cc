#include "learn/train/recording_observer.h"

namespace ringward::learn {

std::int32_t RecordingObserver::NumberOf(const char* operation) {
  for (Known& known : known_) {
    if (known.name == operation) return known.number;
    if (known.name == nullptr) {
      known = {operation, recorder_.RegisterOperation(operation)};
      return known.number;
    }
  }
  return recorder_.RegisterOperation(operation);
}

void RecordingObserver::OnEnter(const char* operation, std::uint64_t sequence, std::size_t bytes) {
  recorder_.EnterCollective(NumberOf(operation), sequence, bytes, false);
  if (next_ != nullptr) next_->OnEnter(operation, sequence, bytes);
}

void RecordingObserver::OnExit(const char* operation, std::uint64_t sequence, bool ok) {
  recorder_.ExitCollective(sequence, ok);
  if (next_ != nullptr) next_->OnExit(operation, sequence, ok);
}

}  // namespace ringward::learn
