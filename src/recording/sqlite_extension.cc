// What plain SQLite lacks to look into samples, as an extension that it can load:
//
//   ringward_values(data, count)   a column of samples as a JSON array, one element a rank: a
//   number,
//                                  null for a NaN, false where the rank has not reported
//
// docs/formats/recording.md shows its use. Infinities become 9e999, which SQLite reads as infinite.
#include <sqlite3ext.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "recording/pack.h"
#include "signal/metric.h"

SQLITE_EXTENSION_INIT1

namespace {

namespace recording = ringward::recording;

/// 2^20 ranks, as in schema.h, which needs the other of SQLite's two headers.
constexpr sqlite3_int64 kCountMax = 1 << 20;

void AppendValue(std::string& json, float value) {
  if (ringward::signal::IsMissing(value)) {
    json += "false";
  } else if (std::isnan(value)) {
    json += "null";
  } else if (std::isinf(value)) {
    json += value > 0 ? "9e999" : "-9e999";
  } else {
    char text[32];
    // Enough digits for any float32.
    const int size = std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    json.append(text, static_cast<std::size_t>(size));
  }
}

/// Empty: the blob does not hold `count` numbers.
std::string JsonOf(sqlite3_value* blob, sqlite3_int64 count) {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_value_blob(blob));
  const auto size = static_cast<std::size_t>(sqlite3_value_bytes(blob));
  std::vector<float> values(static_cast<std::size_t>(count));
  recording::Unpacker unpacker;
  if (!unpacker.Unpack({bytes, size}, values)) return {};
  std::string json = "[";
  for (const float value : values) {
    if (json.size() > 1) json += ',';
    AppendValue(json, value);
  }
  return json + "]";
}

void Values(sqlite3_context* context, int, sqlite3_value** arguments) {
  const sqlite3_int64 count = sqlite3_value_int64(arguments[1]);
  if (sqlite3_value_type(arguments[0]) != SQLITE_BLOB || count < 0 || count > kCountMax) {
    return sqlite3_result_error(context, "ringward_values: not a column of samples", -1);
  }
  try {
    const std::string json = JsonOf(arguments[0], count);
    if (json.empty()) {
      return sqlite3_result_error(context, "ringward_values: the column is damaged", -1);
    }
    sqlite3_result_text64(context, json.data(), json.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } catch (const std::exception&) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int sqlite3_extension_init(
    sqlite3* database, char** /*error*/, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api);
  return sqlite3_create_function_v2(database, "ringward_values", 2,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nullptr,
                                    &Values, nullptr, nullptr, nullptr);
}
