#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "comm/store_client.h"
#include "comm/store_server.h"

namespace ringward::comm {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kPatient{30'000};
const char* const kJob = "job-1";

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = StoreServer::Start({.job = kJob, .max_bytes = 4096});
    ASSERT_TRUE(server) << server.error().what();
    server_ = *std::move(server);
  }
  Result<StoreClient> Join(std::uint64_t generation = 0, const std::string& job = kJob) {
    return StoreClient::Connect(server_->address(), server_->port(), job, generation,
                                After(kPatient));
  }
  std::unique_ptr<StoreServer> server_;
};

TEST_F(StoreTest, WhatOneSetsAnotherGets) {
  auto a = Join();
  auto b = Join();
  ASSERT_TRUE(a && b);
  const std::string bytes("\0\n\xFF", 3);
  EXPECT_TRUE(a->Set("k", bytes, After(kPatient)));
  EXPECT_EQ(*b->Get("k", After(kPatient)), bytes);
  EXPECT_TRUE(a->Set("k", "", After(kPatient)));
  EXPECT_EQ(*b->Get("k", After(kPatient)), "");
}

TEST_F(StoreTest, GetWaitsForTheKey) {
  auto a = Join();
  auto b = Join();
  ASSERT_TRUE(a && b);
  std::jthread setter([&] {
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_TRUE(b->Set("late", "v", After(kPatient)));
  });
  EXPECT_EQ(*a->Get("late", After(kPatient)), "v");
}

TEST_F(StoreTest, GetEndsAtItsDeadlineAndTheConnectionGoesOn) {
  auto a = Join();
  ASSERT_TRUE(a);
  const auto missing = a->Get("never", After(milliseconds(20)));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::kTimeout);
  EXPECT_FALSE((*a->TryGet("never", milliseconds(0))).has_value());
  EXPECT_TRUE(a->Set("k", "v", After(kPatient)));
  EXPECT_EQ(**a->TryGet("k", milliseconds(0)), "v");
}

TEST_F(StoreTest, TheFirstOfSeveralStands) {
  auto a = Join();
  auto b = Join();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a->SetIfAbsent("who", "a", After(kPatient)), "a");
  EXPECT_EQ(*b->SetIfAbsent("who", "b", After(kPatient)), "a");
}

TEST_F(StoreTest, GenerationsAreKeptApart) {
  auto first = Join(1);
  auto second = Join(2);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->Set("k", "old", After(kPatient)));
  EXPECT_FALSE((*second->TryGet("k", milliseconds(0))).has_value());
}

TEST_F(StoreTest, AnotherJobIsRefused) {
  const auto other = Join(0, "job-2");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::kInvalidInput);
  EXPECT_NE(other.error().what().find("another job"), std::string::npos);
}

TEST_F(StoreTest, AFullStoreRefusesAndKeepsWhatItHas) {
  auto a = Join();
  auto b = Join();
  ASSERT_TRUE(a && b);
  EXPECT_TRUE(a->Set("k", std::string(3000, 'x'), After(kPatient)));
  EXPECT_TRUE(a->Set("k", std::string(3500, 'y'), After(kPatient))) << "replacing counts once";
  const Status full = a->Set("more", std::string(3000, 'x'), After(kPatient));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::kResource);
  EXPECT_EQ(*b->Get("k", After(kPatient)), std::string(3500, 'y'));
}

TEST_F(StoreTest, BoundsAreCheckedOnTheClientToo) {
  auto a = Join();
  ASSERT_TRUE(a);
  EXPECT_EQ(a->Set("", "v", After(kPatient)).error().code(), Code::kInvalidInput);
  EXPECT_EQ(a->Set(std::string(401, 'k'), "v", After(kPatient)).error().code(),
            Code::kInvalidInput);
  EXPECT_TRUE(a->Set("k", "v", After(kPatient))) << "nothing was sent, nothing is broken";
}

TEST_F(StoreTest, ADeadServerIsUnavailable) {
  auto a = Join();
  ASSERT_TRUE(a);
  const std::string address = server_->address();
  const std::uint16_t port = server_->port();
  server_.reset();
  EXPECT_EQ(a->Get("k", After(kPatient)).error().code(), Code::kUnavailable);
  EXPECT_EQ(a->Get("k", After(kPatient)).error().code(), Code::kUnavailable);
  const auto again = StoreClient::Connect(address, port, kJob, 0, After(kPatient));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::kUnavailable);
}

TEST_F(StoreTest, AServerThatNeverAnswersIsATimeout) {
  auto listener = ListenOn("127.0.0.1", 0);  // accepts in the kernel, and that is all
  ASSERT_TRUE(listener);
  const auto client =
      StoreClient::Connect("127.0.0.1", *PortOf(*listener), kJob, 0, After(milliseconds(50)));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code(), Code::kTimeout);
}

TEST_F(StoreTest, ManyClientsMeet) {
  constexpr int kClients = 32;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&, i] {
      auto client = Join();
      ASSERT_TRUE(client) << client.error().what();
      ASSERT_TRUE(client->Set("rank/" + std::to_string(i), std::to_string(i), After(kPatient)));
      for (int j = 0; j < kClients; ++j) {
        auto value = client->Get("rank/" + std::to_string(j), After(kPatient));
        ASSERT_TRUE(value) << value.error().what();
        EXPECT_EQ(*value, std::to_string(j));
      }
    });
  }
}

std::string LittleEndian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

struct Hostile {
  const char* what;
  std::string bytes;
};

std::vector<Hostile> HostileBytes() {
  const std::string hello = store::EncodeHello(kJob);
  const std::string set = "\x01";
  return {
      {"a web browser", "GET / HTTP/1.1\r\n\r\n"},
      {"another version", "RWST\x09" + LittleEndian(0, 2)},
      {"a long job", std::string("RWST\x01") + LittleEndian(60'000, 2)},
      {"unknown request", hello + "\x63" + std::string(10, '\0')},
      {"no key", hello + set + LittleEndian(0, 2) + LittleEndian(1, 4) + LittleEndian(0, 4)},
      {"a long key", hello + set + LittleEndian(9999, 2) + LittleEndian(1, 4) + LittleEndian(0, 4)},
      {"a huge value",
       hello + set + LittleEndian(1, 2) + LittleEndian(0xFFFFFFFF, 4) + LittleEndian(0, 4)},
  };
}

TEST_F(StoreTest, HostileBytesAreRefusedWithAReasonAndHurtNobody) {
  auto good = Join();
  ASSERT_TRUE(good);
  std::uint64_t refused = 0;
  for (const Hostile& hostile : HostileBytes()) {
    SCOPED_TRACE(hostile.what);
    auto fd = ConnectTo(server_->address(), server_->port(), After(kPatient));
    ASSERT_TRUE(fd);
    ASSERT_TRUE(SendAll(*fd, hostile.bytes, After(kPatient)));
    // Perhaps an answer to the hello, then the refusal, then the end.
    std::string answers;
    char byte = 0;
    while (ReceiveAll(*fd, {&byte, 1}, After(kPatient))) answers.push_back(byte);
    ASSERT_GE(answers.size(), store::kReplyHead);
    const std::size_t at = hostile.bytes.starts_with(store::EncodeHello(kJob)) ? 5 : 0;
    EXPECT_EQ(answers[at], static_cast<char>(store::Answer::kRefused));
    EXPECT_EQ(server_->clients_refused(), ++refused);
  }
  EXPECT_TRUE(good->Set("k", "v", After(kPatient)));
}

TEST_F(StoreTest, RandomBytesHurtNobody) {
  Rng rng(20'260'102);
  for (int round = 0; round < 200; ++round) {
    auto fd = ConnectTo(server_->address(), server_->port(), After(kPatient));
    ASSERT_TRUE(fd);
    std::string bytes = rng.Below(4) == 0 ? "" : store::EncodeHello(kJob);
    const auto length = rng.Below(400);
    for (std::uint64_t i = 0; i < length; ++i) {
      // Small numbers make lengths and requests that are nearly right.
      bytes.push_back(static_cast<char>(rng.Below(2) == 0 ? rng.Below(4) : rng.Below(256)));
    }
    (void)SendAll(*fd, bytes, After(kPatient));
  }
  auto good = Join(77);
  ASSERT_TRUE(good) << good.error().what();
  EXPECT_TRUE(good->Set("k", "v", After(kPatient)));
  EXPECT_EQ(*good->Get("k", After(kPatient)), "v");
}

TEST(StoreServerTest, BadAddressesAreRefused) {
  const auto server = StoreServer::Start({.job = "j", .address = "not-an-address"});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code(), Code::kInvalidInput);
}

}  // namespace
}  // namespace ringward::comm
