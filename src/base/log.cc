#include "base/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/terminal.h"
#include "base/text_value.h"

namespace ringward {
namespace {

constexpr std::size_t kLongestMessage = 4096;

/// Hands finished lines to the owner of standard error, so that they do not tear the progress bar.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (!color_) return WriteStderrLine(text);
    WriteStderrLine(Colored(text, message));
  }
  void flush_() override {}

  static std::string Colored(std::string_view text, const spdlog::details::log_msg& message) {
    const char* color = "\x1b[2m";
    if (message.level == spdlog::level::info) color = "\x1b[32m";
    if (message.level == spdlog::level::warn) color = "\x1b[33m";
    if (message.level == spdlog::level::err) color = "\x1b[31m";
    const std::size_t begin = text.find(' ') + 1;
    const std::size_t end = text.find(' ', begin);
    return fmt::format("{}{}{}\x1b[0m{}", text.substr(0, begin), color,
                       text.substr(begin, end - begin), text.substr(end));
  }

  bool color_ = WantsColor(STDERR_FILENO);
};

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

/// Says once, on standard error alone, that the log file does not take everything.
void WarnOfLostLines(spdlog::logger& logger) {
  const auto rest = std::make_shared<spdlog::logger>("ringward", logger.sinks().front());
  const auto said = std::make_shared<std::atomic<bool>>(false);
  logger.set_error_handler([rest, said](const std::string& problem) {
    if (said->exchange(true)) return;
    rest->warn("the log file is incomplete: {}", Printable(problem, kLongestMessage));
  });
}

std::shared_ptr<spdlog::logger> MakeLogger(const LogOptions& options) {
  std::vector<spdlog::sink_ptr> sinks{std::make_shared<StderrSink>()};
  if (!options.file.empty()) {
    sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file));
  }
  auto logger = std::make_shared<spdlog::logger>("ringward", sinks.begin(), sinks.end());
  const std::string rank = options.rank ? fmt::format(" rank={}", *options.rank) : "";
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l" + rank + " %v", spdlog::pattern_time_type::utc);
  logger->set_level(ToSpdlog(options.level));
  WarnOfLostLines(*logger);
  logger->flush_on(spdlog::level::debug);  // a rank that dies must leave its last line behind
  return logger;
}

struct State {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger = MakeLogger({});  // shared with lines being written
};

/// Leaked on purpose: threads may log while static objects are destroyed.
State& Current() {
  static auto* const state = new State;
  return *state;
}

std::shared_ptr<spdlog::logger> Logger() {
  State& state = Current();
  const std::scoped_lock lock(state.mutex);
  return state.logger;
}

std::string FieldText(const LogField& field) {
  const bool plain =
      !field.value.empty() && field.value.find_first_of(" \"=\\\n\r\t") == std::string::npos;
  std::string value = Printable(field.value, kLongestMessage);
  if (plain) return fmt::format(" {}={}", field.key, value);
  std::string quoted;
  for (const char c : value) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return fmt::format(" {}=\"{}\"", field.key, quoted);
}

}  // namespace

Status ConfigureLog(const LogOptions& options) {
  std::shared_ptr<spdlog::logger> logger;
  try {
    logger = MakeLogger(options);
  } catch (const spdlog::spdlog_ex& problem) {
    return Error(Code::kResource, Printable(problem.what(), 300)).While("opening the log file");
  }
  State& state = Current();
  const std::scoped_lock lock(state.mutex);
  state.logger = std::move(logger);
  return Ok();
}

bool LogsAt(LogLevel level) { return Logger()->should_log(ToSpdlog(level)); }

void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  const auto logger = Logger();
  if (!logger->should_log(ToSpdlog(level))) return;
  std::string line = Printable(message, kLongestMessage);
  for (const LogField& field : fields) line += FieldText(field);
  logger->log(ToSpdlog(level), spdlog::string_view_t(line));
}

}  // namespace ringward
