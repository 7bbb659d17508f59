// Runs a command and turns what it throws into one line and an exit code.
// It does not know any command: that is dispatch.
#include "cli/program.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <ostream>
#include <string>

#include "base/error.h"
#include "cli/dispatch.h"

namespace ridgeline::cli {
namespace {

// One line always: messages of libraries may hold line breaks.
void print_error(std::ostream& err, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  err << "ridgeline: " << line << '\n';
}

// A full disk shows up only when the last buffer is written.
void flush(std::ostream& out) {
  errno = 0;
  out.flush();
  if (out) return;
  const std::string reason = errno != 0 ? std::strerror(errno) : "write failed";
  throw Error("standard output", reason);
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  ExitCode code = ExitCode::error;
  try {
    code = dispatch(arguments, out, err);
    flush(out);
  } catch (const Error& error) {
    print_error(err, error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    print_error(err, "out of memory");
    code = ExitCode::error;
  } catch (const std::exception& error) {
    print_error(err, std::string("internal error: ") + error.what());
    code = ExitCode::error;
  }
  return static_cast<int>(code);
}

}  // namespace ridgeline::cli
