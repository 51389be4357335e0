#pragma once

#include <gloo/context.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/gloo/gloo_communicator.h"
#include "comm/socket.h"
#include "comm/store_client.h"

namespace ringward::comm {

class StoreAdapter;

/// One rank's side of a Gloo group: its connections, and the word it leaves and finds in the store.
/// Thread-safe, except that collectives on context() run one at a time.
class Mesh {
 public:
  /// Meets the peers; see MakeGloo for errors.
  static Result<std::unique_ptr<Mesh>> Connect(const GlooOptions& options);
  /// Leaves word that this rank has gone, without a failure, and closes the connections.
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  const std::shared_ptr<::gloo::Context>& context() const { return context_; }

  /// Tells the peers of this rank's failure through the store (only the group's first is kept),
  /// then cuts all connections, which wakes whoever waits on them: here and on the peers.
  void Fail(const Error& error);
  /// What befell a call that ended with the exception `text`: the failure a peer has told of, or
  /// the loss of a peer, or the deadline; with the suspect where the board shows one.
  Error Diagnose(std::string_view text);

 private:
  Mesh(const GlooOptions& options, StoreClient store)
      : options_(options), store_(std::move(store)) {}
  Status Join();
  /// This rank's ends of the connections by peer, as text; its own entry is empty.
  std::vector<std::string> OwnEnds() const;
  /// Learns the peers' ends of the connections, which also proves that all peers have connected.
  Status ExchangeEnds(StoreAdapter& store);
  /// Duplicates the descriptors of the connections, so that Fail() can cut them under Gloo's feet.
  void HoldSockets(const std::vector<std::string>& own_ends);
  std::string Suspects();

  const GlooOptions options_;
  std::mutex store_mutex_;
  StoreClient store_;
  std::shared_ptr<::gloo::Context> context_;
  std::vector<std::string> peer_ends_;  // by rank; set once, before others see this object
  std::mutex sockets_mutex_;
  std::vector<Fd> sockets_;
  bool failed_ = false;  // guarded by store_mutex_
};

/// The first line of a library's message, without a source position in front.
std::string OneLine(std::string_view text);

}  // namespace ringward::comm
