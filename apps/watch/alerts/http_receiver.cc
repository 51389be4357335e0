#include <httplib.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "watch/alerts/notice_json.h"
#include "watch/alerts/receiver.h"

namespace ringward::watch {
namespace {

constexpr std::array<const char*, 4> kKindNames = {"alertmanager", "webhook", "slack", "heartbeat"};

/// "https://host:port" and the path with its query.
struct Address {
  std::string origin;
  std::string path;
};

Result<Address> ParseAddress(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::string_view kind = std::string_view(url).substr(0, std::min(scheme, url.size()));
  const std::size_t host = scheme == std::string::npos ? url.size() : scheme + 3;
  const std::size_t path = std::min(url.find('/', host), url.size());
  if ((kind != "http" && kind != "https") || path == host) {
    return Error(Code::kInvalidInput, "'" + url + "' is no http:// or https:// address");
  }
  return Address{url.substr(0, path), path == url.size() ? "/" : url.substr(path)};
}

class HttpReceiver final : public Receiver {
 public:
  HttpReceiver(ReceiverKind kind, Address address)
      : kind_(kind),
        address_(std::move(address)),
        // Slack's path is its secret.
        name_(std::string(kKindNames[static_cast<std::size_t>(kind)]) + " " + address_.origin) {
    if (kind == ReceiverKind::kAlertmanager) {
      if (address_.path.ends_with('/')) address_.path.pop_back();
      address_.path += "/api/v2/alerts";
    }
  }

  const std::string& name() const override { return name_; }
  bool wants_reminders() const override {
    return kind_ == ReceiverKind::kAlertmanager || kind_ == ReceiverKind::kHeartbeat;
  }

  Status Send(const Notice& notice, Clock::Duration now) override {
    // A heartbeat says that the watcher lives, and no more.
    if (kind_ == ReceiverKind::kHeartbeat && !notice.reminder) return Ok();
    httplib::Client client(address_.origin);
    client.set_connection_timeout(5);
    client.set_read_timeout(10);
    client.set_write_timeout(10);
    const httplib::Result answer =
        kind_ == ReceiverKind::kHeartbeat
            ? client.Get(address_.path)
            : client.Post(address_.path, Body(notice, now), "application/json");
    if (!answer) return Error(Code::kUnavailable, httplib::to_string(answer.error()));
    if (answer->status / 100 == 2) return Ok();
    const bool again = answer->status / 100 == 5 || answer->status == 429;
    return Error(again ? Code::kUnavailable : Code::kInvalidInput,
                 "answered " + std::to_string(answer->status));
  }

 private:
  std::string Body(const Notice& notice, Clock::Duration now) const {
    if (kind_ == ReceiverKind::kAlertmanager)
      return cli::DumpJsonLine(AlertmanagerJson(notice, now));
    return cli::DumpJsonLine(kind_ == ReceiverKind::kSlack ? SlackJson(notice)
                                                           : WebhookJson(notice));
  }

  ReceiverKind kind_;
  Address address_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Receiver>> MakeHttpReceiver(ReceiverKind kind, const std::string& url) {
  RINGWARD_ASSIGN(Address address, ParseAddress(url));
  return std::unique_ptr<Receiver>(std::make_unique<HttpReceiver>(kind, std::move(address)));
}

}  // namespace ringward::watch
