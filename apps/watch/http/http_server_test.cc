// The server over real sockets: what it answers, whom it refuses, and what it survives.
#include "watch/http/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "base/rng.h"
#include "telemetry/test_folder.h"
#include "watch/http/test_client.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Router EchoRouter() {
  Router router;
  router.Add("/echo/{part}", [](const HttpRequest& request) {
    std::string body = request.parts[0];
    for (const auto& [name, value] : request.query) body += ";" + name + "=" + value;
    return HttpResponse{.content_type = "text/plain", .body = body};
  });
  router.Add(
      "/open", [](const HttpRequest&) { return HttpResponse{.body = "all"}; },
      Router::Access::kOpen);
  router.AddPost(
      "/change",
      [](const HttpRequest& request) {
        return HttpResponse{.status = 202, .content_type = "text/plain", .body = request.body};
      },
      "text/taken", 2000, Router::Access::kSecret);
  router.AddPost(
      "/take/{part}",
      [](const HttpRequest& request) {
        return HttpResponse{.body = request.parts[0] + "=" + request.body};
      },
      "text/taken", 2000);
  router.Add("/stream", [](const HttpRequest&) {
    return HttpResponse{.content_type = "text/event-stream", .stream = true};
  });
  return router;
}

class HttpServerTest : public testing::Test {
 protected:
  void Start(const HttpLimits& limits = {}, HttpExposure exposure = {}) {
    exposure.listen = "127.0.0.1:0";
    auto server = HttpServer::Start(
        {.exposure = exposure, .limits = limits, .counter = &counter_, .run = "run"}, EchoRouter());
    ASSERT_TRUE(server) << server.error().what();
    server_ = *std::move(server);
    port_ = PortOfUrl(server_->url());
  }
  /// What comes back for these bytes, once the server hangs up.
  std::string Ask(const std::string& bytes) const {
    TestClient client(port_);
    client.Send(bytes);
    client.CloseWriting();
    return client.ReadAll();
  }
  bool IsWell() const { return BodyOf(Get(port_, "/echo/well")) == "well"; }
  /// Looks at the counts until they are as wanted.
  testing::AssertionResult Becomes(const std::function<bool(const HttpCounts&)>& wanted) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (std::chrono::steady_clock::now() < end) {
      if (wanted(counter_.Get())) return testing::AssertionSuccess();
      std::this_thread::sleep_for(milliseconds(2));
    }
    return testing::AssertionFailure() << "not within ten seconds";
  }

  HttpCounter counter_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

struct Exchange {
  const char* name;
  std::string sent;
  std::vector<int> statuses;
  std::string told;  ///< is part of what comes back
};

const std::string kHost = "Host: localhost\r\n";
std::string Line(const std::string& line, const std::string& headers = kHost) {
  return line + " HTTP/1.1\r\n" + headers + "\r\n";
}

const std::string kTaken = kHost + "Content-Type: text/taken\r\n";
std::string Post(const std::string& body) {
  return Line("POST /take/x", kTaken + "Content-Length: " + std::to_string(body.size()) + "\r\n") +
         body;
}

std::vector<Exchange> Exchanges() {
  const std::string huge(100'000, 'x');
  return {
      {"a page", Line("GET /echo/a%2Fb?c=d%20e&f"), {200}, "a/b;c=d e;f="},
      {"with a port", Line("GET /echo/a", "Host: 127.0.0.1:9188\r\n"), {200}, "a"},
      {"by IPv6's name", Line("GET /echo/a", "Host: [::1]:9188\r\n"), {200}, "a"},
      {"HEAD", Line("HEAD /echo/abc"), {200}, "Content-Length: 3"},
      {"HTTP/1.0 without Host", "GET /echo/old HTTP/1.0\r\n\r\n", {}, "HTTP/1.0 200 OK"},
      {"pipelined",
       Line("GET /echo/a") + Line("GET /none") + Line("GET /echo/b"),
       {200, 404, 200},
       "b"},
      {"no such page", Line("GET /echo/a/b"), {404}, "no such page"},
      {"a broken escape", Line("GET /echo/%4"), {400}, "escape"},
      {"a broken query", Line("GET /echo/a?b=%zz"), {400}, "escape"},
      {"a proxy's target", Line("GET http://elsewhere/"), {400}, "a path begins with /"},
      {"POST", Line("POST /echo/a"), {405}, "Allow: GET, HEAD"},
      {"POST without a token", Line("POST /change"), {403}, "--token-file"},
      {"a body", Line("GET /echo/a", kHost + "Content-Length: 5\r\n") + "hello", {200}, "a"},
      {"a large body", Line("GET /echo/a", kHost + "Content-Length: 99999\r\n"), {413}, ""},
      {"an endless chunk",
       Line("GET /echo/a", kHost + "Transfer-Encoding: chunked\r\n") + "fffffff\r\n",
       {413},
       ""},
      {"a body that is taken", Post("ab"), {200}, "x=ab"},
      {"and another behind it", Post("ab") + Post(std::string(2000, 'y')), {200, 200}, "x=yyy"},
      {"a body of another type",
       Line("POST /take/x", kHost + "Content-Type: text/plain\r\nContent-Length: 2\r\n") + "ab",
       {415},
       ""},
      {"a body that is too long", Post(std::string(2001, 'y')), {413}, ""},
      {"a body without its length",
       Line("POST /take/x", kTaken + "Transfer-Encoding: chunked\r\n") + "2\r\nab\r\n0\r\n\r\n",
       {411},
       ""},
      {"half a body", Line("POST /take/x", kTaken + "Content-Length: 50\r\n") + "ab", {}, ""},
      {"a long body for nobody",
       Line("POST /echo/a", kTaken + "Content-Length: 1500\r\n") + std::string(1500, 'y'),
       {405},
       ""},
      {"GET where a body is taken", Line("GET /take/x"), {405}, "Allow: POST"},
      {"a strange method", Line("BREW /echo/a"), {405}, ""},
      {"no method", " /echo/a HTTP/1.1\r\n\r\n", {400}, ""},
      {"another version", "GET /echo/a HTTP/3.0\r\n\r\n", {400}, ""},
      {"no HTTP at all", "\x16\x03\x01\x02hello\r\n\r\n", {400}, ""},
      {"no Host", Line("GET /echo/a", ""), {400}, "Host"},
      {"two Hosts", Line("GET /echo/a", kHost + kHost), {400}, "Host"},
      {"somebody else's Host", Line("GET /echo/a", "Host: evil.example:9188\r\n"), {403}, "Host"},
      {"a Host like ours", Line("GET /echo/a", "Host: localhost.evil.example\r\n"), {403}, "Host"},
      {"an address like ours", Line("GET /echo/a", "Host: 10.0.0.1\r\n"), {403}, "Host"},
      {"a huge line", "GET /echo/" + huge + " HTTP/1.1\r\n\r\n", {431}, ""},
      {"a huge header", Line("GET /echo/a", "X: " + huge + "\r\n"), {431}, ""},
      {"a header without end", "GET /echo/a HTTP/1.1\r\nX: " + huge, {431}, ""},
      {"half a request", "GET /echo/a HTT", {}, ""},
      {"nothing", "", {}, ""},
  };
}

TEST_F(HttpServerTest, AnswersWhatItIsAskedAndRefusesTheRest) {
  Start();
  for (const Exchange& exchange : Exchanges()) {
    SCOPED_TRACE(exchange.name);
    const std::string answer = Ask(exchange.sent);
    EXPECT_EQ(StatusesIn(answer), exchange.statuses) << answer.substr(0, 500);
    EXPECT_THAT(answer, HasSubstr(exchange.told));
  }
  EXPECT_TRUE(IsWell());
  EXPECT_THAT(BodyOf(Ask(Line("HEAD /echo/abc"))), IsEmpty());
}

TEST_F(HttpServerTest, SurvivesAnyBytes) {
  Start();
  Rng rng(20261130);
  const std::string seed = Line("GET /echo/a?b=c", kHost + "Last-Event-ID: run-1\r\n");
  for (int round = 0; round < 300; ++round) {
    std::string bytes = seed + seed;
    for (int change = 0; change < 1 + round % 8; ++change)
      bytes[rng() % bytes.size()] = static_cast<char>(rng() & 0xffU);
    bytes.resize(rng() % (bytes.size() + 1));
    Ask(bytes);
  }
  EXPECT_TRUE(IsWell());
}

TEST_F(HttpServerTest, BodiesBeyondTheRoomForThemAreRefused) {
  Start({.bodies_bytes = 3000});
  TestClient slow(port_);
  const std::string request = Post(std::string(2000, 'y'));
  slow.Send(request.substr(0, request.size() - 1));
  const auto refused = [&] { return StatusesIn(Ask(request)) == std::vector<int>{503}; };
  EXPECT_TRUE(Becomes([&](const HttpCounts&) { return refused(); }));
  slow.Send("y");
  EXPECT_THAT(slow.ReadUntil("x=y"), HasSubstr("200 OK"));
  EXPECT_TRUE(Becomes([&](const HttpCounts&) { return !refused(); }));
}

TEST_F(HttpServerTest, ASlowRequestIsCut) {
  Start({.read = milliseconds(100)});
  TestClient slow(port_);
  slow.Send("GET /echo/a HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(slow.ReadAll(), "");
  TestClient silent(port_);
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_TRUE(IsWell());
}

TEST_F(HttpServerTest, ConnectionsBeyondTheLimitAreTold) {
  Start({.connections = 2});
  TestClient first(port_);
  first.Send(Line("GET /echo/1"));
  EXPECT_THAT(first.ReadUntil("\r\n\r\n1"), HasSubstr("200 OK"));
  TestClient second(port_);
  second.Send(Line("GET /echo/2"));
  EXPECT_THAT(second.ReadUntil("\r\n\r\n2"), HasSubstr("200 OK"));
  EXPECT_THAT(Get(port_, "/echo/3"), HasSubstr("503 Service Unavailable"));
  EXPECT_EQ(counter_.Get().refused, 1U);
  first.CloseWriting();
  EXPECT_EQ(first.ReadAll(), "");
  EXPECT_TRUE(Becomes([](const HttpCounts& counts) { return counts.connections < 2; }));
  EXPECT_TRUE(IsWell());
}

TEST_F(HttpServerTest, OnlyWhoHoldsTheTokenIsAnswered) {
  const telemetry::TestFolder folder;
  const std::string file = folder.path() + "/token";
  std::ofstream(file) << "correct-horse-battery\n";
  Start({}, {.token_file = file});
  struct Row {
    const char* target;
    const char* headers;
    const char* status;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"/echo/a", "", "401"},
           {"/echo/a", "Authorization: Bearer correct-horse-battery\r\n", "200"},
           {"/echo/a", "Authorization: bearer correct-horse-battery\r\n", "200"},
           {"/echo/a", "Authorization: Bearer correct-horse-batterz\r\n", "401"},
           {"/echo/a", "Authorization: Bearer correct-horse-battery2\r\n", "401"},
           {"/echo/a", "Authorization: Bearer \r\n", "401"},
           {"/echo/a", "Authorization: Basic correct-horse-battery\r\n", "401"},
           {"/stream", "", "401"},
           {"/open", "", "200"},
           {"/none", "", "404"}}) {
    SCOPED_TRACE(std::string(row.target) + " " + row.headers);
    EXPECT_THAT(Get(port_, row.target, row.headers), HasSubstr(std::string(" ") + row.status));
  }
  EXPECT_THAT(Get(port_, "/echo/a"), HasSubstr("WWW-Authenticate: Bearer"));
  const std::string body = kTaken + "Content-Length: 5\r\n";
  const std::string mine = "Authorization: Bearer correct-horse-battery\r\n";
  EXPECT_EQ(StatusesIn(Ask(Line("POST /change", body) + "worth")), std::vector<int>{401});
  const std::string changed = Ask(Line("POST /change", body + mine) + "worth");
  EXPECT_EQ(StatusesIn(changed), std::vector<int>{202});
  EXPECT_EQ(BodyOf(changed), "worth");
  EXPECT_EQ(StatusesIn(Ask(Line("POST /echo/a", body + mine) + "worth")), std::vector<int>{405});
}

TEST_F(HttpServerTest, AllClientsHearTheStream) {
  Start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<TestClient>(port_));
    clients.back()->Send(Line("GET /stream"));
    EXPECT_THAT(clients.back()->ReadUntil("retry: 2000\n\n"),
                HasSubstr("Content-Type: text/event-stream"));
  }
  EXPECT_EQ(counter_.Get().stream_clients, 5U);
  server_->Publish({"incident", R"({"id":1})", true});
  server_->Publish({"status", "{}", false});
  for (const auto& client : clients) {
    EXPECT_EQ(client->ReadUntil("data: {}\n\n"),
              "id: run-0\nevent: incident\ndata: {\"id\":1}\n\nevent: status\ndata: {}\n\n");
  }
  clients.clear();
  EXPECT_TRUE(Becomes([](const HttpCounts& counts) { return counts.stream_clients == 0; }));
}

TEST_F(HttpServerTest, WhoComesBackIsGivenWhatItMissed) {
  Start();
  TestClient first(port_);
  first.Send(Line("GET /stream"));
  first.ReadUntil("retry: 2000\n\n");
  server_->Publish({"incident", "1", true});
  server_->Publish({"status", "2", false});
  server_->Publish({"end", "3", true});
  first.ReadUntil("data: 3\n\n");
  TestClient again(port_);
  again.Send(Line("GET /stream", kHost + "Last-Event-ID: run-0\r\n"));
  EXPECT_THAT(again.ReadUntil("data: 3\n\n"),
              testing::EndsWith("retry: 2000\n\nid: run-1\nevent: end\ndata: 3\n\n"));
}

TEST_F(HttpServerTest, ASlowClientOfTheStreamIsDroppedAndTheOthersHearOn) {
  Start({.stream_queue = 8});
  TestClient slow(port_, 4096);
  slow.Send(Line("GET /stream"));
  slow.ReadUntil("retry: 2000\n\n");
  TestClient quick(port_);
  quick.Send(Line("GET /stream"));
  quick.ReadUntil("retry: 2000\n\n");
  const std::string large(32768, 'x');
  for (int i = 0; i < 64 && counter_.Get().stream_dropped == 0; ++i) {
    server_->Publish({"status", large + std::to_string(i), false});
    quick.ReadUntil(large + std::to_string(i) + "\n\n");
  }
  EXPECT_TRUE(Becomes([](const HttpCounts& counts) {
    return counts.stream_dropped == 1 && counts.stream_clients == 1;
  }));
  server_->Publish({"status", "still here", false});
  EXPECT_THAT(quick.ReadUntil("still here\n\n"), HasSubstr("still here"));
}

TEST_F(HttpServerTest, AClientOfTheStreamThatNeverReadsIsDroppedAndCounted) {
  Start({.write = milliseconds(100)});
  TestClient slow(port_, 4096);
  slow.Send(Line("GET /stream"));
  slow.ReadUntil("retry: 2000\n\n");
  server_->Publish({"status", std::string(1 << 20, 'x'), false});
  EXPECT_TRUE(Becomes([](const HttpCounts& counts) {
    return counts.stream_dropped == 1 && counts.stream_clients == 0;
  }));
}

TEST_F(HttpServerTest, ClientsOfTheStreamAreLimited) {
  Start({.stream_clients = 1});
  TestClient first(port_);
  first.Send(Line("GET /stream"));
  first.ReadUntil("retry: 2000\n\n");
  EXPECT_THAT(Get(port_, "/stream"), HasSubstr("503"));
  EXPECT_TRUE(IsWell());
}

TEST_F(HttpServerTest, TheLastWordsAreSentBeforeItEnds) {
  Start();
  TestClient client(port_);
  client.Send(Line("GET /stream"));
  client.ReadUntil("retry: 2000\n\n");
  TestClient idle(port_);
  server_->Publish({"end", "last", true});
  server_.reset();
  EXPECT_EQ(client.ReadAll(), "id: run-0\nevent: end\ndata: last\n\n");
  EXPECT_EQ(idle.ReadAll(), "");
}

TEST_F(HttpServerTest, APortThatIsTakenIsAnError) {
  Start();
  HttpCounter other;
  const auto second = HttpServer::Start(
      {.exposure = {.listen = "127.0.0.1:" + std::to_string(port_)}, .counter = &other, .run = "r"},
      EchoRouter());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Code::kResource);
  EXPECT_THAT(second.error().what(), HasSubstr("Address already in use"));
}

struct ExposureRow {
  HttpExposure exposure;
  const char* refused;  ///< part of the error; empty: it is well
};

TEST(ExposureTest, BeyondLoopbackATokenAndTlsAreNeeded) {
  for (const ExposureRow& row : std::initializer_list<ExposureRow>{
           {{}, ""},
           {{.listen = "127.0.0.1:9188"}, ""},
           {{.listen = "127.8.9.1:0"}, ""},
           {{.listen = "localhost:1"}, ""},
           {{.listen = "[::1]:1"}, ""},
           {{.listen = "0.0.0.0:1"}, "which needs --token-file"},
           {{.listen = "[::]:1"}, "which needs --token-file"},
           {{.listen = "0.0.0.0:1", .token_file = "t"}, "which needs --token-file"},
           {{.listen = "0.0.0.0:1", .tls_cert = "c", .tls_key = "k"}, "which needs --token-file"},
           {{.listen = "0.0.0.0:1", .token_file = "t", .tls_cert = "c", .tls_key = "k"}, ""},
           {{.listen = "127.0.0.1:1", .tls_cert = "c"}, "belong together"},
           {{.listen = "127.0.0.1:1", .tls_key = "k"}, "belong together"},
           {{.token_file = "t"}, "--token-file: means nothing without --listen"},
           {{.tls_key = "k"}, "--tls-key: means nothing without --listen"},
           {{.listen = "127.0.0.1"}, "expected an IP address and a port"},
           {{.listen = ":9188"}, "expected an IP address and a port"},
           {{.listen = "node7:9188"}, "expected an IP address and a port"},
           {{.listen = "127.0.0.1:65536"}, "expected an IP address and a port"},
           {{.listen = "::1:80"}, "expected an IP address and a port"},
           {{.listen = "[::1"}, "expected an IP address and a port"}}) {
    SCOPED_TRACE(row.exposure.listen + " " + row.exposure.token_file);
    const Status checked = CheckExposure(row.exposure);
    EXPECT_EQ(static_cast<bool>(checked), row.refused[0] == '\0');
    if (!checked) {
      EXPECT_THAT(checked.error().what(), HasSubstr(row.refused));
    }
  }
}

TEST(ExposureTest, ATokenIsOneLineOfEnoughCharacters) {
  const telemetry::TestFolder folder;
  const std::string file = folder.path() + "/token";
  struct Row {
    std::string text;
    bool good;
  };
  for (const Row& row : std::initializer_list<Row>{{"0123456789abcdef", true},
                                                   {"0123456789abcdef\r\n", true},
                                                   {"0123456789abcde\n", false},
                                                   {"0123456789 abcdef\n", false},
                                                   {"0123456789abcdef\nx\n", false},
                                                   {std::string(513, 'x'), false},
                                                   {"", false}}) {
    SCOPED_TRACE(row.text);
    std::ofstream(file, std::ios::trunc) << row.text;
    const auto token = ReadToken(file);
    EXPECT_EQ(static_cast<bool>(token), row.good);
    if (!token) {
      EXPECT_THAT(token.error().what(), Not(HasSubstr("0123456789")));
    }
  }
  EXPECT_FALSE(ReadToken(folder.path() + "/none"));
}

}  // namespace
}  // namespace ringward::watch
