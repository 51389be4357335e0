#include "ingest/rank_log/error_table.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace ringward::ingest {
namespace {

using signal::Category;

enum class Where : std::uint8_t { kAnywhere, kFront, kWhole };

/// Texts by which a line tells that a rank ends. The first row that fits counts.
struct ErrorRow {
  const char* text;
  Where where;
  Category category;
  bool follows = false;
  const char* rank_after = nullptr;  ///< the line names the rank behind this
  const char* also = nullptr;        ///< must be in the line, too
  bool nobody = false;               ///< whoever prints it need not be the one at fault
};

constexpr ErrorRow kRows[] = {
    // What the others do when one has ended.
    {"Horovod has been shut down", Where::kAnywhere, Category::kProcessCrash, true},
    {"Connection reset by peer", Where::kAnywhere, Category::kCommunication, true},
    {"Connection closed by peer", Where::kAnywhere, Category::kCommunication, true},
    {"remote process exited", Where::kAnywhere, Category::kCommunication, true},
    {"Terminated", Where::kWhole, Category::kProcessCrash, true},
    {"processes exited with non-zero status", Where::kAnywhere, Category::kProcessCrash, true},
    {"ChildFailedError", Where::kAnywhere, Category::kProcessCrash, true},
    {"gloo::IoException", Where::kAnywhere, Category::kCommunication, true},
    {"has been removed from elastic job", Where::kAnywhere, Category::kProcessCrash, true},
    // Memory.
    {"CUDA out of memory", Where::kAnywhere, Category::kMemory},
    {"CUDA error: out of memory", Where::kAnywhere, Category::kMemory},
    {"std::bad_alloc", Where::kAnywhere, Category::kMemory},
    // The group of processes.
    {"NCCL WARN", Where::kAnywhere, Category::kCommunication, false, nullptr, "failed"},
    {"NCCL WARN", Where::kAnywhere, Category::kCommunication, false, nullptr, "error"},
    {"Mismatched ", Where::kAnywhere, Category::kCommunication, false, nullptr, "One rank", true},
    {"mismatch between collectives", Where::kAnywhere, Category::kCommunication, false, nullptr,
     nullptr, true},
    {"MPI_ABORT was invoked on rank ", Where::kAnywhere, Category::kProcessCrash, false,
     "invoked on rank "},
    // Signals, as launchers, shells and the programs themselves tell them.
    {"mpirun noticed that process rank ", Where::kAnywhere, Category::kProcessCrash, false,
     "process rank ", "exited on signal"},
    {"Process ", Where::kFront, Category::kProcessCrash, true, nullptr, "status code 143"},
    {"Process ", Where::kFront, Category::kProcessCrash, false, "Process ", "status code 13"},
    {"srun: error: ", Where::kAnywhere, Category::kMemory, false, ": task ", "Out Of Memory"},
    {"srun: error: ", Where::kAnywhere, Category::kProcessCrash, false, ": task ", "Killed"},
    {"srun: error: ", Where::kAnywhere, Category::kProcessCrash, false, ": task ", "fault"},
    {"srun: error: ", Where::kAnywhere, Category::kProcessCrash, false, ": task ", "Aborted"},
    {"Killed", Where::kWhole, Category::kProcessCrash},
    {"Segmentation fault", Where::kFront, Category::kProcessCrash},
    {"Bus error", Where::kFront, Category::kProcessCrash},
    {"Aborted", Where::kFront, Category::kProcessCrash},
    {"*** Process received signal ***", Where::kAnywhere, Category::kProcessCrash},
    {"Fatal Python error:", Where::kAnywhere, Category::kProcessCrash},
    {"terminate called after throwing", Where::kFront, Category::kProcessCrash},
};

bool Fits(const ErrorRow& row, std::string_view text) {
  const std::string_view wanted = row.text;
  if (row.also != nullptr && text.find(row.also) == std::string_view::npos) return false;
  if (row.where == Where::kWhole) return text == wanted;
  if (row.where == Where::kFront) return text.starts_with(wanted);
  return text.find(wanted) != std::string_view::npos;
}

/// -1: no number follows `mark`.
std::int32_t RankAfter(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = text.substr(at + mark.size());
  std::int32_t rank = -1;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
  return read.ec == std::errc() && rank >= 0 ? rank : -1;
}

bool IsNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

}  // namespace

std::optional<ErrorWord> ErrorOfLine(std::string_view text) {
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const ErrorRow& each) { return Fits(each, text); });
  if (row == std::end(kRows)) return std::nullopt;
  ErrorWord word{.category = row->category, .follows = row->follows, .nobody = row->nobody};
  if (row->rank_after == nullptr) return word;
  word.rank = RankAfter(text, row->rank_after);
  if (word.rank < 0) return std::nullopt;
  return word;
}

std::optional<ErrorWord> ErrorOfTraceback(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsNameLetter);
  const auto name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  const bool is_error = !name.empty() && (end == text.end() || *end == ':');
  if (!is_error) return std::nullopt;
  if (const auto known = ErrorOfLine(text)) return known;
  // Someone asked it to stop, or it ends as it means to.
  for (const std::string_view each : {"KeyboardInterrupt", "SystemExit", "HorovodInternalError"}) {
    if (name.ends_with(each)) return ErrorWord{.follows = true};
  }
  if (name.ends_with("MemoryError")) return ErrorWord{.category = Category::kMemory};
  return ErrorWord{};
}

}  // namespace ringward::ingest
