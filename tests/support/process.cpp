// Spawns with posix_spawn and collects output in temporary files, which cannot fill up and block.
// The child inherits only PATH and what the sanitizers need.
#include "tests/support/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

// A weak reference: defined by the sanitizer's library if the program links it.
extern "C" void __asan_init() __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)

namespace ridgeline::testing {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File temporary_file() {
  File file(std::tmpfile());
  if (!file) throw std::runtime_error("cannot make a temporary file");
  return file;
}

std::string contents(std::FILE* file) {
  std::string text;
  char buffer[4096];
  std::rewind(file);
  for (std::size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
    text.append(buffer, got);
  return text;
}

std::string inherited(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> environment(const ProcessSettings& settings,
                                               const std::string& home) {
  std::map<std::string, std::string> variables = {
      {"PATH", inherited("PATH")},
      {"HOME", home},
      {"XDG_DATA_HOME", home},
      {"TERM", "dumb"},
      {"NO_COLOR", "1"},
      {"COLUMNS", "80"},
      {"LC_ALL", "C.UTF-8"},
      {"TZ", "UTC"},
      {"ASAN_OPTIONS", inherited("ASAN_OPTIONS")},
      {"LANG", "C.UTF-8"},
      {"TMPDIR", "/tmp"},
  };
  for (const auto& [name, value] : settings.environment) variables[name] = value;
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

std::string tested_program() {
  const std::string named = inherited("RIDGELINE_TESTED");
  return named.empty() ? built_program() : named;
}

bool is_sanitized() { return __asan_init != nullptr; }

ProcessResult run_process(const std::vector<std::string>& command,
                          const ProcessSettings& settings) {
  const TemporaryDirectory home;
  const File out = temporary_file();
  const File err = temporary_file();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (settings.stdout_path.empty())
    posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, settings.stdout_path.c_str(),
                                     O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), STDERR_FILENO);
  if (!settings.working_directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, settings.working_directory.c_str());

  std::vector<std::string> words = command;
  std::vector<std::string> assignments;
  for (const auto& [name, value] : environment(settings, home.path()))
    assignments.push_back(name + '=' + value);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, words.front().c_str(), &actions, nullptr,
                                 pointers(words).data(), pointers(assignments).data());
  posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) throw std::runtime_error("cannot start " + command.front());

  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  ProcessResult result;
  result.max_resident_kib = usage.ru_maxrss;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = contents(out.get());
  result.err = contents(err.get());
  return result;
}

ProcessResult run_ridgeline(const std::vector<std::string>& arguments,
                            const ProcessSettings& settings) {
  std::vector<std::string> command = {tested_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_process(command, settings);
}

ProcessResult run_shell(const std::string& script, const ProcessSettings& settings) {
  ProcessSettings with_path = settings;
  const std::string folder = std::filesystem::path(tested_program()).parent_path().string();
  with_path.environment["PATH"] = folder + ':' + inherited("PATH");
  return run_process({"bash", "-c", script}, with_path);
}

}  // namespace ridgeline::testing
