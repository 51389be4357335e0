// What must survive: a killed writer, a full disk.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "recording/test_full_disk.h"
#include "recording/test_recording.h"
#include "recording/test_same.h"

namespace ringward::recording {
namespace {

/// Reads all of `path`, which must be what TestRun(world) tells, and returns how many events.
std::uint64_t ExpectBeginning(const std::string& path, std::size_t world) {
  auto reader = Reader::Open(path);
  if (!reader) {
    ADD_FAILURE() << reader.error().what();
    return 0;
  }
  TestRun run(world);
  std::vector<signal::Event> wanted;
  std::size_t at = 0;
  while (true) {
    const auto event = reader->NextEvent();
    if (!event) ADD_FAILURE() << event.error().what();
    if (!event || !*event) return run.number();
    if (at == wanted.size()) {
      wanted = run.Second();
      at = 0;
    }
    if (!Same(**event, wanted[at++])) ADD_FAILURE() << "event " << (**event).number;
  }
}

/// Writes until it is killed; a byte into `told` for each batch that Append said Ok to.
[[noreturn]] void WriteForEver(const std::string& path, std::size_t world, int told) {
  TestRun run(world);
  auto writer = Writer::Open(path, {.full = std::chrono::hours(10'000)});
  while (writer && WriteSeconds(*writer, run, 1)) {
    if (write(told, "x", 1) != 1) break;
  }
  _exit(1);
}

TEST(CrashTest, WhatWasCommittedSurvivesAKill) {
  constexpr std::size_t kWorld = 50;
  Rng rng(4);
  for (int round = 0; round < 8; ++round) {
    const TestFile file;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) WriteForEver(file.path(), kWorld, ends[1]);
    close(ends[1]);
    char byte = 0;
    std::uint64_t batches = 0;
    const std::uint64_t until = rng.Below(300);
    while (batches <= until && read(ends[0], &byte, 1) == 1) ++batches;
    std::this_thread::sleep_for(std::chrono::microseconds(rng.Below(3000)));
    kill(child, SIGKILL);
    while (read(ends[0], &byte, 1) == 1) ++batches;
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_GE(ExpectBeginning(file.path(), kWorld), batches * (kWorld + 1) + 1);
    auto again = Writer::Open(file.path());
    ASSERT_TRUE(again) << again.error().what();
    EXPECT_GE(again->next_event(), batches * (kWorld + 1) + 1);
    EXPECT_GE(again->next_call(), batches);
  }
}

TEST(CrashTest, AFullDiskStopsWritingWithOneErrorAndWhatWasThereStays) {
  constexpr std::size_t kWorld = 200;
  const TestFile file;
  TestRun run(kWorld);
  auto writer = *Writer::Open(file.path());
  std::uint64_t written = 0;
  std::vector<std::string> errors;
  {
    const FullDisk disk(2 << 20);
    for (int second = 0; second < 3000; ++second) {
      const Status status = WriteSeconds(writer, run, 1);
      if (!status) {
        EXPECT_EQ(status.error().code(), Code::kResource);
        errors.push_back(status.error().what());
      }
      if (errors.empty()) written = run.number();
    }
  }
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(errors[0].starts_with(file.path() + ": ")) << errors[0];
  EXPECT_NE(errors[0].find("nothing more is recorded"), std::string::npos) << errors[0];
  EXPECT_TRUE(writer.stopped());
  EXPECT_EQ(writer.dropped().events, run.number() - written);
  EXPECT_EQ(writer.dropped().calls, writer.dropped().events / (kWorld + 1));
  EXPECT_EQ(ExpectBeginning(file.path(), kWorld), written);
  EXPECT_TRUE(writer.Close());
  EXPECT_EQ(ExpectBeginning(file.path(), kWorld), written);
  // Where there is room again, another writer goes on.
  auto again = Writer::Open(file.path());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->next_event(), written);
}

}  // namespace
}  // namespace ringward::recording
