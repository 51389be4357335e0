#include "comm/gloo/store_adapter.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "comm/engine_base.h"

namespace ringward::comm {
namespace {

// How often a wait for a peer's address looks for word of a failure: every rank asks the one store.
constexpr std::chrono::milliseconds kLookUp{200};
constexpr int kRanksAtThatPace = 16;

}  // namespace

std::string EncodeFailure(int rank, const Error& error) {
  return std::to_string(rank) + " " + std::to_string(static_cast<int>(error.code())) + " " +
         error.what();
}

Error DecodeFailure(const std::string& text) {
  int rank = -1;
  int code = -1;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, rank);
  const auto second = first.ptr == end ? first : std::from_chars(first.ptr + 1, end, code);
  const bool good = first.ec == std::errc() && second.ec == std::errc() && second.ptr != end &&
                    rank >= 0 && code >= 0 && code <= static_cast<int>(Code::kInterrupted);
  if (!good) return {Code::kCorrupt, "the word of a failure in the store is damaged"};
  return AsSeenByPeer(rank, Error(static_cast<Code>(code), std::string(second.ptr + 1, end)));
}

StoreAdapter::StoreAdapter(StoreClient& client, Deadline deadline, int ranks)
    : client_(client),
      deadline_(deadline),
      look_up_(kLookUp * std::max(1, ranks / kRanksAtThatPace)) {}

void StoreAdapter::set(const std::string& key, const std::vector<char>& data) {
  const Status status = client_.Set("mesh/" + key, {data.data(), data.size()}, deadline_);
  if (!status) throw StoreFailure(status.error());
}

std::string StoreAdapter::Await(const std::string& key) {
  while (true) {
    const auto left = Left(deadline_);
    auto value = client_.TryGet("mesh/" + key, std::min(left, look_up_), deadline_);
    if (!value) throw StoreFailure(std::move(value).error());
    if (*value) return **value;
    auto failure = client_.TryGet(kFailureKey, std::chrono::milliseconds(0), deadline_);
    if (failure && *failure) throw StoreFailure(DecodeFailure(**failure));
    if (left.count() == 0) {
      throw StoreFailure(Error(Code::kTimeout, "rank " + key.substr(key.rfind('/') + 1) +
                                                   " has not joined the group in time"));
    }
  }
}

std::vector<char> StoreAdapter::get(const std::string& key) {
  const std::string value = Await(key);
  return {value.begin(), value.end()};
}

void StoreAdapter::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) Await(key);
}

}  // namespace ringward::comm
