// The one error type: what is wrong, where, and what to do about it.
// Thrown where a fault is found and caught once, in cli/; never used for control flow.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace ridgeline {

// Exit codes of the program, documented in docs/exit-codes.md.
enum class ExitCode { ok = 0, error = 1, usage = 2, infeasible = 3, incomplete = 4 };

class Error : public std::runtime_error {
 public:
  // `where` names a file, a JSON path, a line or an option; it may be empty.
  // `fix` is a short imperative sentence without a full stop; it may be empty.
  Error(std::string where, std::string what, std::string fix = {}, ExitCode code = ExitCode::error)
      : std::runtime_error(line(where, what, fix)),
        where_(std::move(where)),
        what_(std::move(what)),
        fix_(std::move(fix)),
        code_(code) {}

  const std::string& where() const { return where_; }
  const std::string& cause() const { return what_; }
  const std::string& fix() const { return fix_; }
  ExitCode code() const { return code_; }

 private:
  static std::string line(const std::string& where, const std::string& what,
                          const std::string& fix) {
    std::string text = where.empty() ? what : where + ": " + what;
    return fix.empty() ? text : text + " (" + fix + ")";
  }

  std::string where_, what_, fix_;
  ExitCode code_;
};

inline Error usage_error(std::string where, std::string what, std::string fix = {}) {
  return {std::move(where), std::move(what), std::move(fix), ExitCode::usage};
}

}  // namespace ridgeline
