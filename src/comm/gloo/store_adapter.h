#pragma once

#include <gloo/rendezvous/store.h>

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "comm/store_client.h"

namespace ringward::comm {

/// Carries an Error through Gloo's frames, which know exceptions only.
class StoreFailure final : public std::exception {
 public:
  explicit StoreFailure(Error error) : error_(std::move(error)) {}
  const char* what() const noexcept override { return error_.what().c_str(); }
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// The key under which the first failure of a generation stands in the store.
inline constexpr const char* kFailureKey = "failure";
std::string EncodeFailure(int rank, const Error& error);
/// The failure as a peer reports it; kCorrupt if `text` is none.
Error DecodeFailure(const std::string& text);

/// The job's store in Gloo's terms. Every wait ends at the one deadline of the rendezvous, or when
/// a peer has failed. Throws StoreFailure.
class StoreAdapter final : public ::gloo::rendezvous::Store {
 public:
  /// `ranks` share the store, which is asked the less often the more they are.
  StoreAdapter(StoreClient& client, Deadline deadline, int ranks);
  void set(const std::string& key, const std::vector<char>& data) override;
  std::vector<char> get(const std::string& key) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override {
    wait(keys);
  }

 private:
  std::string Await(const std::string& key);

  StoreClient& client_;
  const Deadline deadline_;
  const std::chrono::milliseconds look_up_;
};

}  // namespace ringward::comm
