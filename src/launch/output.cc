#include "launch/output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/system_error.h"
#include "launch/line_tail.h"
#include "launch/process.h"

namespace ringward::launch {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kIdle{200};             ///< then parts of lines are passed on
constexpr std::size_t kBlock = 64U << 10U;     ///< read at once, and longest line held back
constexpr std::size_t kWriteBlock = PIPE_BUF;  ///< poll() promises room for as much in a pipe

/// Writes to one of our own standard streams; gives up when that fails or, once asked to hurry,
/// when its reader does not read.
class Sink {
 public:
  Sink(const char* name, int fd, const std::atomic<std::int64_t>& give_up_at)
      : name_(name), fd_(fd), give_up_at_(give_up_at) {}

  void Write(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
      pollfd wait{fd_, POLLOUT, 0};
      const int ready = poll(&wait, 1, 100);
      if (ready == 0 && Time::now().time_since_epoch().count() > give_up_at_) return;
      if (ready <= 0) continue;
      const ssize_t wrote = write(fd_, bytes.data(), std::min(bytes.size(), kWriteBlock));
      if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
      if (wrote < 0 && errno != EINTR && errno != EAGAIN) error_ = errno;
    }
  }

  const char* name() const { return name_; }
  /// errno of the first write that failed; 0 = none. Thread-safe.
  int error() const { return error_; }

 private:
  const char* name_;
  int fd_;
  const std::atomic<std::int64_t>& give_up_at_;
  std::atomic<int> error_{0};
};

std::string LogPath(const std::string& folder, int rank) {
  return folder + "/rank-" + std::to_string(rank) + ".log";
}

/// One output stream of one rank.
struct Stream {
  Fd fd;
  int rank = 0;
  Sink* sink = nullptr;  ///< null: only kept
  std::string held;      ///< an unfinished line
  bool in_line = false;  ///< what was passed on last does not end a line
  LineTail tail{Output::kTailLines, Output::kTailLineBytes};
};

/// Copies our standard input to rank 0, which may start later and end earlier.
class Input {
 public:
  Input(int from, std::string pipe) : from_(from), pipe_(std::move(pipe)) {}

  /// What to wait for now; fd -1 = nothing.
  pollfd Wanted() {
    if (done_) return {-1, 0, 0};
    if (!to_) {  // fails until rank 0 has opened its end
      to_ = Fd(open(pipe_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      if (!to_) return {-1, 0, 0};
    }
    if (pending_.empty()) return {from_, POLLIN, 0};
    return {to_.get(), POLLOUT, 0};
  }

  bool Waiting() const { return !done_ && !to_; }

  void Move() {
    if (!pending_.empty()) {
      const ssize_t wrote = write(to_.get(), pending_.data(), pending_.size());
      if (wrote > 0) pending_.erase(0, static_cast<std::size_t>(wrote));
      if (wrote < 0 && errno != EINTR && errno != EAGAIN) Finish();  // rank 0 stopped reading
      return;
    }
    std::array<char, kBlock> block{};
    const ssize_t got = read(from_, block.data(), block.size());
    if (got > 0) pending_.assign(block.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) Finish();
  }

 private:
  void Finish() {
    done_ = true;
    to_.reset();
  }
  int from_;
  std::string pipe_;
  Fd to_;
  std::string pending_;
  bool done_ = false;
};

class PipeOutput final : public Output {
 public:
  explicit PipeOutput(const OutputOptions& options)
      : options_(options),
        out_("standard output", options.out, give_up_at_),
        err_("standard error", options.err, give_up_at_) {}
  ~PipeOutput() override { Stop(milliseconds(0)); }

  Status Open();
  void StartThread() {
    thread_ = std::thread([this] { Run(); });
  }
  int engine_fd() const override { return engine_write_.get(); }
  void Stop(milliseconds patience) override;
  std::vector<std::string> Tail(int rank) const override;
  Status status() const override;
  bool reader_left() const override { return out_.error() == EPIPE || err_.error() == EPIPE; }

 private:
  Status AddRank(int rank);
  Status AddPipe(const std::string& path, int rank, Sink* sink);
  Status OpenLogs();
  void AddToLog(int rank, std::string_view bytes);
  void Run();
  bool Read(Stream& stream);
  void Pass(Stream& stream, std::string_view bytes);
  void FlushParts();

  OutputOptions options_;
  std::atomic<std::int64_t> give_up_at_{INT64_MAX};
  Sink out_;
  Sink err_;
  std::vector<Stream> streams_;
  std::vector<Fd> logs_;  ///< by rank; empty without log_dir, closed after a failed write
  bool log_failed_ = false;
  Fd engine_write_;
  Fd wake_;
  std::unique_ptr<Input> input_;
  std::thread thread_;
};

Status PipeOutput::AddPipe(const std::string& path, int rank, Sink* sink) {
  if (mkfifo(path.c_str(), 0600) != 0) return SystemError("cannot create " + path, errno);
  // Open for writing too: then the pipe never reports its end, whichever ranks come and go.
  Fd fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return SystemError("cannot open " + path, errno);
  streams_.push_back({std::move(fd), rank, sink, {}});
  return Ok();
}

Status PipeOutput::OpenLogs() {
  if (options_.log_dir.empty()) return Ok();
  std::error_code error;
  std::filesystem::create_directories(options_.log_dir, error);
  if (error) return SystemError("cannot create " + options_.log_dir, error.value());
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const std::string path = LogPath(options_.log_dir, rank);
    logs_.emplace_back(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!logs_.back()) return SystemError("cannot create " + path, errno);
  }
  return Ok();
}

Status PipeOutput::Open() {
  RINGWARD_TRY(OpenLogs());
  for (int rank = 0; rank < options_.ranks; ++rank) {
    RINGWARD_TRY(AddPipe(OutPipe(options_.folder, rank), rank, &out_));
    RINGWARD_TRY(AddPipe(ErrPipe(options_.folder, rank), rank, &err_));
  }
  if (options_.in >= 0) {
    const std::string path = InPipe(options_.folder);
    if (mkfifo(path.c_str(), 0600) != 0) return SystemError("cannot create " + path, errno);
    input_ = std::make_unique<Input>(options_.in, path);
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return SystemError("cannot make a pipe", errno);
  streams_.push_back({Fd(ends[0]), kEngine, nullptr, {}});
  engine_write_ = Fd(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  wake_ = Fd(eventfd(0, EFD_CLOEXEC));
  if (!wake_) return SystemError("cannot make an eventfd", errno);
  return Ok();
}

/// `bytes` with the rank before each line; a carriage return begins one, as a progress bar means
/// it.
std::string Tagged(int rank, std::string_view bytes, bool& in_line) {
  const std::string tag = "[" + std::to_string(rank) + "] ";
  std::string tagged;
  for (const char c : bytes) {
    const bool ends = c == '\n' || c == '\r';
    // "\r\n" is one end, and an empty line has its tag too.
    if (!in_line && c != '\r') tagged += tag;
    in_line = !ends;
    tagged += c;
  }
  return tagged;
}

void PipeOutput::Pass(Stream& stream, std::string_view bytes) {
  if (stream.sink == nullptr) return;
  if (options_.tags) {
    stream.sink->Write(Tagged(stream.rank, bytes, stream.in_line));
  } else {
    stream.sink->Write(bytes);
  }
}

Status PipeOutput::status() const {
  for (const Sink* const sink : {&out_, &err_}) {
    if (const int error = sink->error(); error != 0) return SystemError(sink->name(), error);
  }
  return Ok();
}

/// A log on a full disk must not end the job: it ends where the disk did, and we say so once.
void PipeOutput::AddToLog(int rank, std::string_view bytes) {
  Fd& log = logs_[static_cast<std::size_t>(rank)];
  while (log && !bytes.empty()) {
    const ssize_t wrote = write(log.get(), bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno != EINTR) {
      const std::string why = SystemMessage(errno);
      if (!std::exchange(log_failed_, true)) {
        LogWarning("logs of ranks are incomplete: " + LogPath(options_.log_dir, rank) + ": " + why);
      }
      log.reset();
    }
  }
}

/// Takes what is there; false if there was nothing.
bool PipeOutput::Read(Stream& stream) {
  std::array<char, kBlock> block{};
  const ssize_t got = read(stream.fd.get(), block.data(), block.size());
  if (got <= 0) return false;
  const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
  stream.tail.Add(bytes);
  if (stream.rank >= 0 && !logs_.empty()) AddToLog(stream.rank, bytes);
  stream.held.append(bytes);
  // A progress bar's line ends in a carriage return.
  const std::size_t end = stream.held.find_last_of("\r\n");
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  const std::size_t pass = stream.held.size() - whole >= kBlock ? stream.held.size() : whole;
  Pass(stream, std::string_view(stream.held).substr(0, pass));
  stream.held.erase(0, pass);
  return true;
}

void PipeOutput::FlushParts() {
  for (Stream& stream : streams_) {
    Pass(stream, stream.held);
    stream.held.clear();
  }
}

void PipeOutput::Run() {
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);  // a lost reader is an error code here
  std::vector<pollfd> wanted;
  while (true) {
    wanted.clear();
    for (const Stream& stream : streams_) wanted.push_back({stream.fd.get(), POLLIN, 0});
    wanted.push_back({wake_.get(), POLLIN, 0});
    wanted.push_back(input_ ? input_->Wanted() : pollfd{-1, 0, 0});
    const bool rank0_due = input_ && input_->Waiting();
    const int ready =
        poll(wanted.data(), wanted.size(), rank0_due ? 10 : static_cast<int>(kIdle.count()));
    if (ready < 0) continue;
    if (ready == 0) FlushParts();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (wanted[i].revents != 0) Read(streams_[i]);
    }
    if (wanted.back().revents != 0) input_->Move();
    if (wanted[streams_.size()].revents != 0) break;
  }
  for (Stream& stream : streams_) {
    while (Read(stream)) {
    }
  }
  FlushParts();
}

void PipeOutput::Stop(milliseconds patience) {
  if (!thread_.joinable()) return;
  give_up_at_ = (Time::now() + patience).time_since_epoch().count();
  const std::uint64_t one = 1;
  static_cast<void>(!write(wake_.get(), &one, sizeof(one)));  // an eventfd takes it always
  thread_.join();
}

std::vector<std::string> PipeOutput::Tail(int rank) const {
  std::vector<std::string> lines;
  for (const Stream& stream : streams_) {
    if (stream.rank != rank) continue;
    const auto more = stream.tail.Lines();
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (lines.size() > kTailLines) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kTailLines));
  }
  return lines;
}

}  // namespace

Result<std::unique_ptr<Output>> Output::Start(const OutputOptions& options) {
  auto output = std::make_unique<PipeOutput>(options);
  RINGWARD_TRY(output->Open());
  output->StartThread();
  return std::unique_ptr<Output>(std::move(output));
}

std::string OutPipe(const std::string& folder, int rank) {
  return folder + "/out." + std::to_string(rank);
}
std::string ErrPipe(const std::string& folder, int rank) {
  return folder + "/err." + std::to_string(rank);
}
std::string InPipe(const std::string& folder) { return folder + "/in.0"; }

}  // namespace ringward::launch
