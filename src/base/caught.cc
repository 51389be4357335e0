#include "base/caught.h"

#include <exception>
#include <new>
#include <system_error>

#include "base/text_value.h"

namespace ringward {

Error CaughtError() {
  constexpr std::size_t kLongest = 300;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Code::kResource, "out of memory"};
  } catch (const std::system_error& problem) {
    // Thrown by the constructor of std::thread, and by nothing else that we use.
    if (problem.code() == std::errc::resource_unavailable_try_again) {
      return {Code::kResource, std::string("cannot start a thread: ") + problem.what()};
    }
    return {Code::kResource, "unexpected failure: " + Printable(problem.what(), kLongest)};
  } catch (const std::exception& problem) {
    return {Code::kResource, "unexpected failure: " + Printable(problem.what(), kLongest)};
  } catch (...) {
    return {Code::kResource, "unexpected failure"};
  }
}

}  // namespace ringward
