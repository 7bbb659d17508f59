// Output goes through a temporary file: an unread pipe would stop the program, and
// reading it would need a second thread beside the clock.
#include "base/child_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline {
namespace {

using TemporaryFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

volatile std::sig_atomic_t ending_signal = 0;
volatile pid_t running_child = 0;

extern "C" void pass_on_to_child(int number) {
  const int saved = errno;
  const bool again = ending_signal != 0;
  ending_signal = number;
  if (running_child > 0) ::kill(running_child, again ? SIGKILL : number);
  errno = saved;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> word_pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Starts with the text and is read from its beginning.
TemporaryFile temporary_file(const std::string& text) {
  TemporaryFile file(std::tmpfile(), std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0)
    throw Error("TMPDIR", std::strerror(errno),
                "free some space in the folder for temporary files");
  std::rewind(file.get());
  return file;
}

std::string tail(std::FILE* file) {
  constexpr long most = 1 << 20;
  std::fseek(file, 0, SEEK_END);
  std::fseek(file, std::max(0L, std::ftell(file) - most), SEEK_SET);
  std::string text(static_cast<std::size_t>(most), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return text;
}

// waitpid() has no time limit. The first looks are close together: most programs end soon.
int wait_for(pid_t child, const ChildRequest& request, bool& timed_out) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  auto pause = std::chrono::milliseconds(1);
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, request.limit_s && !timed_out ? WNOHANG : 0);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) throw Error(request.command[0], std::strerror(errno));
    if (ended != 0) continue;
    if (std::chrono::duration<double>(Clock::now() - start).count() > *request.limit_s) {
      timed_out = true;
      ::kill(child, SIGKILL);
      continue;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(20));
  }
}

}  // namespace

ChildResult run_child(const ChildRequest& request) {
  const TemporaryFile captured =
      request.is_captured ? temporary_file("") : TemporaryFile(nullptr, nullptr);
  const TemporaryFile input =
      request.is_captured ? temporary_file(request.input) : TemporaryFile(nullptr, nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (captured) {
    posix_spawn_file_actions_adddup2(&actions, fileno(input.get()), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(captured.get()), STDERR_FILENO);
  }
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  std::vector<std::string> words = request.command;
  std::vector<std::string> variables = environment_with(request.environment);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, words[0].c_str(), &actions, nullptr,
                                 word_pointers(words).data(), word_pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0)
    throw Error(request.command[0], std::string("cannot be started: ") + std::strerror(fault));

  running_child = child;
  if (ending_signal != 0) ::kill(child, ending_signal);  // it came before the child was known
  ChildResult result;
  const int status = wait_for(child, request, result.timed_out);
  running_child = 0;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (captured) result.output = tail(captured.get());
  return result;
}

EndsWithChild::EndsWithChild() {
  ending_signal = 0;
  struct sigaction action {};
  action.sa_handler = pass_on_to_child;
  for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &action, &before_[i]);
}

EndsWithChild::~EndsWithChild() {
  for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  const int number = ending_signal;
  ending_signal = 0;
  if (number != 0) ::raise(number);
}

std::optional<std::string> find_in_path(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  if (folders == nullptr) return std::nullopt;
  for (const std::string_view folder : split(folders, ':')) {
    const std::string path = (folder.empty() ? "." : std::string(folder)) + '/' + name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return std::nullopt;
}

}  // namespace ridgeline
