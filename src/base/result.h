#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace ringward {

/// What the caller can do about a failure. The message says what happened.
enum class Code {
  kInvalidInput,  ///< the caller's argument or file is wrong; retrying cannot help
  kUnavailable,   ///< peer or service is away; retrying may help
  kTimeout,       ///< the deadline passed; state is unknown, rebuild the communicator
  kCorrupt,       ///< stored or received bytes fail their check
  kAborted,       ///< another rank failed first; its error is in the message
  kResource,      ///< disk full, out of memory, no permission: the machine said no
  kInterrupted,   ///< a signal asked us to stop
};

/// A failure and the chain of "while ..." steps that led to it, outermost last.
class [[nodiscard]] Error {
 public:
  Error(Code code, std::string what) : code_(code), what_(std::move(what)) {}

  /// Adds one step of the path, e.g. Error(...).While("reading model.toml").
  Error While(std::string_view doing) && {
    what_.append(" (while ").append(doing).append(")");
    return std::move(*this);
  }
  Code code() const { return code_; }
  /// One line, without a newline, so that it can be printed as it is.
  const std::string& what() const { return what_; }

 private:
  Code code_;
  std::string what_;
};

/// A T or an Error. Dereferencing a failed Result is a bug in the caller (checked).
template <typename T>
class [[nodiscard]] Result {
 public:
  // Both are implicit, so that a function may return either.
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}
  explicit operator bool() const { return v_.index() == 0; }
  T& operator*() & { return value(); }
  const T& operator*() const& { return const_cast<Result*>(this)->value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &const_cast<Result*>(this)->value(); }
  Error error() && { return std::move(std::get<1>(v_)); }
  const Error& error() const& { return std::get<1>(v_); }

 private:
  T& value() {
    RINGWARD_CHECK(v_.index() == 0);
    return std::get<0>(v_);
  }
  std::variant<T, Error> v_;
};

/// The Result of something done for its effect: `return Ok();`.
using Status = Result<std::monostate>;
inline Status Ok() { return std::monostate{}; }

}  // namespace ringward

#define RINGWARD_CONCAT_(a, b) a##b
#define RINGWARD_CONCAT(a, b) RINGWARD_CONCAT_(a, b)

/// Evaluates a Result and returns its error from the enclosing function, if it has one.
#define RINGWARD_TRY(expr)                         \
  do {                                             \
    if (auto try_result_ = (expr); !try_result_) { \
      return std::move(try_result_).error();       \
    }                                              \
  } while (false)

/// RINGWARD_ASSIGN(auto x, MakeX()); declares x as the value, or returns the error.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses.
#define RINGWARD_ASSIGN(decl, expr)                                      \
  auto RINGWARD_CONCAT(assign_result_, __LINE__) = (expr);               \
  if (!RINGWARD_CONCAT(assign_result_, __LINE__)) {                      \
    return std::move(RINGWARD_CONCAT(assign_result_, __LINE__)).error(); \
  }                                                                      \
  decl = *std::move(RINGWARD_CONCAT(assign_result_, __LINE__))
// NOLINTEND(bugprone-macro-parentheses): the macro is over.
