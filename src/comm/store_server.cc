#include "comm/store_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <list>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "comm/socket.h"
#include "comm/store_protocol.h"

namespace ringward::comm {
namespace {

constexpr std::chrono::seconds kPatience{10};  // for a hello, and for reading a refusal
constexpr std::chrono::milliseconds kNoDescriptorPause{20};
constexpr std::size_t kReadBytes = 65'536;

}  // namespace

class StoreServer::Loop {
 public:
  Loop(StoreServerOptions options, Fd listener, Fd waker, std::uint16_t port)
      : options_(std::move(options)),
        port_(port),
        listener_(std::move(listener)),
        waker_(std::move(waker)),
        thread_([this] { Run(); }) {}
  ~Loop() {
    stop_ = true;
    const std::uint64_t one = 1;
    (void)!write(waker_.get(), &one, sizeof(one));
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  const StoreServerOptions& options() const { return options_; }
  std::uint16_t port() const { return port_; }
  std::uint64_t refused() const { return refused_; }

 private:
  /// A Get that waits for its key.
  struct Parked {
    std::string key;
    Deadline until;
  };

  struct Client {
    Fd fd;
    Deadline drop_at;  // if not greeted by then, or closing
    bool greeted = false;
    bool closing = false;  // refused: input is thrown away until the client closes or drop_at
    bool gone = false;
    std::string input{};
    std::string output{};
    std::optional<Parked> parked{};

    /// Whether the next request may be read: one at a time, so buffers stay bounded.
    bool reads() const { return !gone && !closing && output.empty() && !parked; }
    bool droppable() const { return !greeted || closing; }
  };

  void Run() {
    while (!stop_) {
      std::vector<pollfd> polled = {{waker_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const Client& client : clients_) {
        const int events =
            (client.reads() || client.closing ? POLLIN : 0) | (client.output.empty() ? 0 : POLLOUT);
        polled.push_back({client.fd.get(), static_cast<short>(events | POLLRDHUP), 0});
      }
      if (poll(polled.data(), polled.size(), PollTimeout()) < 0) continue;  // EINTR
      auto entry = polled.begin() + 2;
      for (Client& client : clients_) Serve(client, *entry++);
      if ((polled[1].revents & POLLIN) != 0) Accept();
      const Deadline now = std::chrono::steady_clock::now();
      for (Client& client : clients_) Expire(client, now);
      for (Client& client : clients_) Progress(client);
      clients_.remove_if([](const Client& client) { return client.gone; });
    }
  }

  /// Until the first thing that is due, in milliseconds; -1 = nothing is.
  int PollTimeout() const {
    std::optional<Deadline> first;
    const auto due = [&](Deadline at) { first = first ? std::min(*first, at) : at; };
    for (const Client& client : clients_) {
      if (client.droppable()) due(client.drop_at);
      if (client.parked) due(client.parked->until);
    }
    return first ? static_cast<int>(std::min<std::int64_t>(Left(*first).count(), INT_MAX)) : -1;
  }

  void Accept() {
    Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      // Without a descriptor the listener stays ready: pause rather than spin.
      if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(kNoDescriptorPause);
      return;
    }
    if (clients_.size() >= options_.max_clients) {
      ++refused_;
      return;
    }
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    clients_.push_back({std::move(fd), After(kPatience)});
  }

  void Serve(Client& client, const pollfd& polled) {
    if ((polled.revents & POLLOUT) != 0) Flush(client);
    if ((polled.revents & POLLIN) != 0) Read(client);
    if ((polled.revents & (POLLERR | POLLHUP | POLLRDHUP)) != 0) client.gone = true;
  }

  void Read(Client& client) {
    std::array<char, kReadBytes> bytes;
    const ssize_t got = recv(client.fd.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      client.gone = true;
      return;
    }
    if (client.closing) return;
    client.input.append(bytes.data(), static_cast<std::size_t>(got));
    Progress(client);
  }

  /// Handles what has arrived, as far as it is whole.
  void Progress(Client& client) {
    while (client.reads()) {
      const bool more = client.greeted ? HandleRequest(client) : HandleHello(client);
      if (!more) return;
      Flush(client);
    }
  }

  bool HandleHello(Client& client) {
    auto job = store::TakeHello(client.input);
    if (!job) return Refuse(client, job.error().what());
    if (!*job) return false;
    if (**job != options_.job) return Refuse(client, "this is the store of another job");
    client.greeted = true;
    client.output = store::EncodeReply(store::Answer::kDone, {});
    return true;
  }

  bool HandleRequest(Client& client) {
    auto request = store::TakeRequest(client.input);
    if (!request) return Refuse(client, request.error().what());
    if (!*request) return false;
    const store::Request& asked = **request;
    const auto found = values_.find(asked.key);
    if (asked.op == store::Op::kGet) {
      if (found != values_.end()) {
        client.output = store::EncodeReply(store::Answer::kDone, found->second);
      } else {
        client.parked = Parked{asked.key, After(std::chrono::milliseconds(asked.timeout_ms))};
      }
      return true;
    }
    if (asked.op == store::Op::kSetIfAbsent && found != values_.end()) {
      client.output = store::EncodeReply(store::Answer::kDone, found->second);
      return true;
    }
    return Put(client, asked);
  }

  bool Put(Client& client, const store::Request& asked) {
    const auto found = values_.find(asked.key);
    const std::size_t old = found == values_.end() ? 0 : found->first.size() + found->second.size();
    const std::size_t bytes = bytes_ - old + asked.key.size() + asked.value.size();
    if (bytes > options_.max_bytes) return Refuse(client, "the store is full");
    bytes_ = bytes;
    values_[asked.key] = asked.value;
    const bool echo = asked.op == store::Op::kSetIfAbsent;
    client.output = store::EncodeReply(store::Answer::kDone, echo ? asked.value : std::string());
    for (Client& other : clients_) {
      if (!other.parked || other.parked->key != asked.key) continue;
      other.parked.reset();
      other.output = store::EncodeReply(store::Answer::kDone, asked.value);
      Flush(other);
    }
    return true;
  }

  bool Refuse(Client& client, const std::string& why) {
    ++refused_;
    client.closing = true;
    client.drop_at = After(kPatience);
    client.input.clear();
    client.output = store::EncodeReply(store::Answer::kRefused, why);
    Flush(client);
    return false;
  }

  void Flush(Client& client) {
    while (!client.output.empty()) {
      const ssize_t sent =
          send(client.fd.get(), client.output.data(), client.output.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) {
        client.gone = true;
        return;
      }
      client.output.erase(0, static_cast<std::size_t>(sent));
    }
    // Closing with input unread would reset the connection under the client's eyes.
    if (client.closing) shutdown(client.fd.get(), SHUT_WR);
  }

  void Expire(Client& client, Deadline now) {
    if (client.droppable() && now >= client.drop_at) {
      if (!client.closing) Refuse(client, "no hello");
      client.gone = true;
    }
    if (client.parked && now >= client.parked->until) {
      client.parked.reset();
      client.output = store::EncodeReply(store::Answer::kMissing, {});
      Flush(client);
    }
  }

  const StoreServerOptions options_;
  const std::uint16_t port_;
  Fd listener_;
  Fd waker_;
  std::list<Client> clients_;
  std::map<std::string, std::string, std::less<>> values_;
  std::size_t bytes_ = 0;
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: everything above exists when it starts
};

Result<std::unique_ptr<StoreServer>> StoreServer::Start(const StoreServerOptions& options) {
  if (options.job.size() > store::kMaxJob) {
    return Error(Code::kInvalidInput,
                 "job name of " + std::to_string(options.job.size()) + " bytes");
  }
  RINGWARD_ASSIGN(Fd listener, ListenOn(options.address, options.port));
  RINGWARD_ASSIGN(const std::uint16_t port, PortOf(listener));
  Fd waker(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!waker) return Error(Code::kResource, "no descriptor is left for the store");
  return std::unique_ptr<StoreServer>(new StoreServer(
      std::make_unique<Loop>(options, std::move(listener), std::move(waker), port)));
}

StoreServer::StoreServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
StoreServer::~StoreServer() = default;
const std::string& StoreServer::address() const { return loop_->options().address; }
std::uint16_t StoreServer::port() const { return loop_->port(); }
std::uint64_t StoreServer::clients_refused() const { return loop_->refused(); }

}  // namespace ringward::comm
