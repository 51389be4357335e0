#include "comm/gloo/mesh.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/address.h>
#include <gloo/transport/tcp/device.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "comm/gloo/store_adapter.h"
#include "comm/suspect.h"

namespace ringward::comm {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kWordTimeout{1000};  // for leaving word in the store
constexpr milliseconds kWordWait{150};      // for word from a peer whose connection ended
constexpr milliseconds kGoodbyeTimeout{200};

std::string TextOf(const sockaddr_in& address) {
  return ::gloo::transport::tcp::Address(reinterpret_cast<const sockaddr*>(&address),
                                         sizeof(address))
      .str();
}

/// The local or remote end of a socket as text; empty if it has none.
std::string EndOf(int fd, decltype(getsockname)* name_of) {
  sockaddr_in name{};
  socklen_t size = sizeof(name);
  if (name_of(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) return {};
  return name.sin_family == AF_INET ? TextOf(name) : std::string();
}

/// Numbers of this process's open descriptors.
std::vector<int> OpenDescriptors() {
  std::vector<int> open;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return open;
  while (const dirent* entry = readdir(folder.get())) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) {
      open.push_back(std::atoi(entry->d_name));
    }
  }
  return open;
}

/// True if the text of one of Gloo's exceptions speaks of time.
bool SpeaksOfTime(std::string_view text) {
  return text.find("Timed out") != std::string_view::npos ||
         text.find("imeout") != std::string_view::npos;
}

std::chrono::milliseconds StartTimeout(const GlooOptions& options) {
  return options.start_timeout.count() > 0 ? options.start_timeout : options.timeout;
}

}  // namespace

std::string OneLine(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find("] ");
    if (end != std::string_view::npos) text.remove_prefix(end + 2);
  }
  return std::string(text.substr(0, text.find('\n')));
}

Result<std::unique_ptr<Mesh>> Mesh::Connect(const GlooOptions& options) {
  const Deadline deadline = After(StartTimeout(options));
  auto store = StoreClient::Connect(options.store_address, options.store_port, options.job,
                                    options.generation, deadline);
  if (!store) return std::move(store).error();
  std::unique_ptr<Mesh> mesh(new Mesh(options, *std::move(store)));
  Status joined = mesh->Join();
  if (!joined) {
    mesh->Fail(joined.error());
    return std::move(joined).error();
  }
  return mesh;
}

Status Mesh::Join() {
  const Deadline deadline = After(StartTimeout(options_));
  try {
    StoreAdapter store(store_, deadline, options_.size);
    auto context = std::make_shared<::gloo::rendezvous::Context>(options_.rank, options_.size);
    ::gloo::transport::tcp::attr where(options_.bind_address.c_str());
    std::shared_ptr<::gloo::transport::Device> device = ::gloo::transport::tcp::CreateDevice(where);
    // Gloo grants a first connection five times its timeout.
    context->setTimeout(std::max(milliseconds(1), Left(deadline) / 5));
    context->connectFullMesh(store, device);
    context_ = std::move(context);
    RINGWARD_TRY(ExchangeEnds(store));
    context_->setTimeout(options_.timeout);
    return Ok();
  } catch (const StoreFailure& failure) {
    return failure.error();
  } catch (const std::exception& failure) {
    return Diagnose(failure.what());
  }
}

std::vector<std::string> Mesh::OwnEnds() const {
  std::vector<std::string> ends(static_cast<std::size_t>(options_.size));
  for (int rank = 0; rank < options_.size; ++rank) {
    if (rank == options_.rank) continue;
    const auto bytes = context_->getPair(rank)->address().bytes();
    ends[static_cast<std::size_t>(rank)] = ::gloo::transport::tcp::Address(bytes).str();
  }
  return ends;
}

Status Mesh::ExchangeEnds(StoreAdapter& store) {
  const std::vector<std::string> own = OwnEnds();
  std::string joined;
  for (const std::string& end : own) joined += end + "\n";
  store.set("ends/" + std::to_string(options_.rank), {joined.begin(), joined.end()});
  for (int rank = 0; rank < options_.size; ++rank) {
    const std::vector<char> theirs = store.get("ends/" + std::to_string(rank));
    std::istringstream lines(std::string(theirs.begin(), theirs.end()));
    std::string end;
    for (int line = 0; line <= options_.rank; ++line) std::getline(lines, end);
    if (!lines) {
      return Error(Code::kCorrupt, "rank " + std::to_string(rank) + " tells no address");
    }
    peer_ends_.push_back(end);
  }
  HoldSockets(own);
  return Ok();
}

void Mesh::HoldSockets(const std::vector<std::string>& own_ends) {
  // Both ends must match: the system lets connections to different places share a local port.
  std::set<std::pair<std::string, std::string>> wanted;
  for (std::size_t rank = 0; rank < own_ends.size(); ++rank) {
    if (!own_ends[rank].empty()) wanted.emplace(own_ends[rank], peer_ends_[rank]);
  }
  const std::lock_guard lock(sockets_mutex_);
  for (const int fd : OpenDescriptors()) {
    if (!wanted.contains({EndOf(fd, getsockname), EndOf(fd, getpeername)})) continue;
    if (Fd copy(fcntl(fd, F_DUPFD_CLOEXEC, 0)); copy) sockets_.push_back(std::move(copy));
  }
}

Mesh::~Mesh() {
  {
    const std::lock_guard lock(store_mutex_);
    if (!failed_) {
      (void)store_.Set("left/" + std::to_string(options_.rank), "", After(kGoodbyeTimeout));
    }
  }
  context_.reset();
}

void Mesh::Fail(const Error& error) {
  {
    const std::lock_guard lock(store_mutex_);
    failed_ = true;
    (void)store_.SetIfAbsent(kFailureKey, EncodeFailure(options_.rank, error), After(kWordTimeout));
  }
  const std::lock_guard lock(sockets_mutex_);
  for (const Fd& socket : sockets_) shutdown(socket.get(), SHUT_RDWR);
}

Error Mesh::Diagnose(std::string_view text) {
  const bool late = SpeaksOfTime(text);
  {
    const std::lock_guard lock(store_mutex_);
    auto word = store_.TryGet(kFailureKey, late ? milliseconds(0) : kWordWait);
    if (word && *word) return DecodeFailure(**word);
  }
  const Code code = late ? Code::kTimeout : Code::kUnavailable;
  std::string peer = "a peer";
  for (std::size_t rank = 0; rank < peer_ends_.size(); ++rank) {
    // Gloo names the other end of the connection last in its text.
    if (!peer_ends_[rank].empty() && OneLine(text).ends_with(peer_ends_[rank])) {
      peer = "rank " + std::to_string(rank);
    }
  }
  return {code, (late ? "no word from " : "lost ") + peer + ": " + OneLine(text) + Suspects()};
}

std::string Mesh::Suspects() {
  std::string left;
  {
    const std::lock_guard lock(store_mutex_);
    for (int rank = 0; rank < options_.size; ++rank) {
      const auto gone = store_.TryGet("left/" + std::to_string(rank), milliseconds(0));
      if (!gone) break;
      if (*gone) left += (left.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!left.empty()) return "; rank " + left + " has left the group";
  if (options_.board == nullptr) return {};
  const Suspicion suspicion = Suspect(*options_.board, SystemClock().Now());
  if (suspicion.rank < 0) return "; " + suspicion.why;
  return "; suspect: rank " + std::to_string(suspicion.rank) + ", " + suspicion.why;
}

}  // namespace ringward::comm
