// Plain POSIX with every return code checked. A node is opened without O_CREAT: a path that does
// not exist is never made, and the folder of the journal is trusted only if no one else can write
// in it.
#include "devices/control/world.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "devices/machine/identification.h"
#include "devices/sensors/nvml.h"

namespace ridgeline::control {
namespace {

constexpr const char* state_folder = "var/lib/ridgeline";
constexpr double nvpmodel_limit_s = 60;
constexpr int busy_attempts = 20;  // EAGAIN, 10 ms apart

std::string absolute(const SystemRoot& root, const std::string& node) { return root.at(node); }

[[noreturn]] void fail_to_write_node(const std::string& where, int fault) {
  switch (fault) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      throw Error(where, "no such node on this system");
    case EACCES:
    case EPERM:
      throw Error(where, "may not be written", "run ridgeline with sudo");
    case EROFS:
      throw Error(where, "the file system is read-only",
                  "in a container: run ridgeline on the host, or mount /sys writable");
    case EINVAL:
    case ERANGE:
      throw Error(where, "the kernel refused the value");
    case EBUSY:
    case EAGAIN:
      throw Error(where, "the kernel is busy with it", "try again");
    default:
      throw Error(where, std::generic_category().message(fault));
  }
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Closes on the way out.
struct Descriptor {
  int number = -1;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

int write_text(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(descriptor, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

// The first lines of what a program printed, on one line.
std::string in_one_line(const std::string& text) {
  constexpr std::size_t most = 300;
  std::string line;
  for (const std::string_view part : split(text, '\n'))
    if (const std::string words = trimmed(std::string(part)); !words.empty())
      line += (line.empty() ? "" : " | ") + words;
  return line.size() > most ? line.substr(0, most) + " …" : line;
}

bool is_knob(std::string_view node) {
  constexpr auto folders = std::to_array<std::string_view>(
      {"sys/devices/system/cpu/", "sys/class/devfreq/", "sys/devices/", "sys/kernel/nvpmodel_",
       "sys/kernel/debug/bpmp/debug/clk/emc/", "sys/kernel/debug/clk/override.emc/"});
  constexpr auto files = std::to_array<std::string_view>(
      {"/online", "/scaling_min_freq", "/scaling_max_freq", "/min_freq", "/max_freq", "/rate",
       "/mrq_rate_locked", "/state", "/clk_update_rate", "/clk_state", "/emc", "/emc_iso_cap"});
  const auto starts = [&](std::string_view folder) { return node.starts_with(folder); };
  const auto ends = [&](std::string_view file) { return node.ends_with(file); };
  return std::any_of(folders.begin(), folders.end(), starts) &&
         std::any_of(files.begin(), files.end(), ends);
}

}  // namespace

std::string why_never_written(const std::string& node) {
  if (node == nvpmodel_mode || node == card_power_limit || node == card_gpu_clock) return {};
  if (node.find("pg_mask") != std::string::npos || node.find("power_gating") != std::string::npos)
    return "masks of the GPU are never written: they need a reboot";
  if (node.ends_with("/cpu0/online")) return "CPU 0 is never taken offline";
  if (node.find("..") != std::string::npos || !is_knob(node))
    return "is not a knob of a power mode";
  return {};
}

World::World(SystemRoot root, std::shared_ptr<Nvml> nvml)
    : root_(std::move(root)), nvml_(std::move(nvml)) {}

World::~World() {
  if (lock_ >= 0) ::close(lock_);
}

std::optional<std::string> World::read(const std::string& node) const {
  if (node == nvpmodel_mode) {
    const std::string status = first_line(root_, "var/lib/nvpmodel/status").value_or("");
    if (!status.starts_with("pmode:")) return std::nullopt;
    int mode = 0;
    const char* const begin = status.data() + std::string_view("pmode:").size();
    if (std::from_chars(begin, status.data() + status.size(), mode).ec != std::errc{})
      return std::nullopt;
    return std::to_string(mode);
  }
  if (node == card_power_limit) {
    if (!nvml_) return std::nullopt;
    const NvmlAnswer<double> limit = nvml_->power_limit_w();
    if (!limit.value) return std::nullopt;
    return fmt::format("{:.0f}", 1e3 * *limit.value);
  }
  // NVML has no function that reports locked clocks: what was not locked by us counts as free.
  if (node == card_gpu_clock) return nvml_ ? std::optional<std::string>("free") : std::nullopt;
  const auto line = first_line(root_, node);
  return line ? std::optional(trimmed(*line)) : std::nullopt;
}

void World::write(const std::string& node, const std::string& value) {
  if (const std::string why = why_never_written(node); !why.empty()) throw Error('/' + node, why);
  if (node == nvpmodel_mode) return write_nvpmodel(value);
  if (node.starts_with("nvml:")) return write_card(node, value);
  for (int attempt = 1;; ++attempt) {
    const int fault = write_file(node, value);
    if (fault == 0) return;
    if (fault != EAGAIN || attempt == busy_attempts)
      fail_to_write_node(absolute(root_, node), fault);
    wait(0.01);
  }
}

int World::write_file(const std::string& node, const std::string& value) {
  const Descriptor file{
      ::open(absolute(root_, node).c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)};
  if (file.number < 0) return errno;
  return write_text(file.number, value + '\n');
}

ChildResult World::set_nvpmodel(int mode) {
  // "no" is the answer to the question whether to reboot; there is never another one.
  return run_child({.command = {absolute(root_, "usr/sbin/nvpmodel"), "-m", std::to_string(mode)},
                    .is_captured = true,
                    .input = "no\n",
                    .limit_s = nvpmodel_limit_s});
}

void World::write_nvpmodel(const std::string& value) {
  const std::string where = "nvpmodel -m " + value;
  const auto mode = whole_number(value);
  if (!mode || *mode < 0) throw Error(where, "is not the number of a mode");
  ChildResult result;
  try {
    result = set_nvpmodel(*mode);
  } catch (const Error& error) {
    std::error_code fault;
    const bool is_there = std::filesystem::exists(absolute(root_, "usr/sbin/nvpmodel"), fault);
    throw Error(where, error.cause(), is_there ? error.fix() : "install nvidia-l4t-nvpmodel");
  }
  const auto says = [&](const char* words) {
    return result.output.find(words) != std::string::npos;
  };
  if (says("Reboot required") || says("REBOOT NOW"))
    throw Error(where, "this mode needs a reboot, which ridgeline never starts",
                "sudo nvpmodel -m " + value + " && sudo reboot", ExitCode::infeasible);
  if (result.timed_out) throw Error(where, "did not end within a minute and was stopped");
  if (result.exit_code != 0)
    throw Error(where, fmt::format("failed with exit code {}: {}", result.exit_code,
                                   in_one_line(result.output)));
}

void World::write_card(const std::string& node, const std::string& value) {
  if (!nvml_) throw Error(node, "no NVIDIA card to set");
  const auto number = whole_number(value);
  std::string why;
  if (node == card_power_limit && number)
    why = nvml_->set_power_limit_w(1e-3 * *number);
  else if (node == card_gpu_clock && value == "free")
    why = nvml_->free_gpu_clock();
  else if (node == card_gpu_clock && number)
    why = nvml_->lock_gpu_clock_hz(1e6 * *number);
  else
    why = "the value " + quote(value) + " is not one of its own";
  if (!why.empty())
    throw Error(node == card_power_limit ? "power limit of the card" : "clock of the card", why,
                why == "no permission" ? "run ridgeline with sudo" : "");
}

void World::check_writable(const std::string& node) const {
  if (const std::string why = why_never_written(node); !why.empty()) throw Error('/' + node, why);
  if (node == nvpmodel_mode) {
    if (!exists(root_, "usr/sbin/nvpmodel"))
      throw Error("/usr/sbin/nvpmodel", "is not installed", "sudo apt install nvidia-l4t-nvpmodel");
    if (::geteuid() != 0)
      throw Error("nvpmodel", "only root may set a mode", "run ridgeline with sudo");
    return;
  }
  if (node.starts_with("nvml:")) return;  // the driver decides
  if (::faccessat(AT_FDCWD, absolute(root_, node).c_str(), W_OK, AT_EACCESS) != 0)
    fail_to_write_node(absolute(root_, node), errno);
}

std::string World::boot_id() const {
  return first_line(root_, "proc/sys/kernel/random/boot_id").value_or("unknown");
}

int World::open_folder(bool create) const {
  const std::string path = root_.at(state_folder);
  if (create) {
    std::string part = root_.path;
    for (const std::string_view name : split(state_folder, '/')) {
      part += std::string(name) + '/';
      const bool is_last = part.size() > path.size();
      if (::mkdir(part.c_str(), is_last ? 0700 : 0755) != 0 && errno != EEXIST)
        fail_to_write_node(part, errno);
    }
  }
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  // Root's own folder hides its content from others, who restore nothing.
  if (folder < 0 && !create && (errno == ENOENT || errno == EACCES)) return -1;
  if (folder < 0)
    throw Error(path,
                errno == ELOOP || errno == ENOTDIR ? "is a link or a file in place of a folder"
                                                   : std::generic_category().message(errno),
                "remove it: ridgeline keeps what it must restore there");
  struct stat facts {};
  if (::fstat(folder, &facts) != 0 || facts.st_uid != ::geteuid() ||
      (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    ::close(folder);
    throw Error(path, "other users can write there, so it is not trusted",
                "remove it, or give it to the user who runs ridgeline with mode 0700");
  }
  return folder;
}

void World::lock() {
  if (lock_ >= 0) return;
  const Descriptor folder{open_folder(true)};
  const int file = ::openat(folder.number, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fail_to_write_node(root_.at(state_folder) + "/lock", errno);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 16> text{};
    const ssize_t size = ::pread(file, text.data(), text.size() - 1, 0);
    const std::string owner =
        size > 0 ? " (process " + trimmed(std::string(text.data())) + ")" : std::string();
    ::close(file);
    throw Error("power modes", "another ridgeline is changing them" + owner,
                "wait until it has finished");
  }
  const std::string own = std::to_string(::getpid()) + '\n';
  if (::ftruncate(file, 0) == 0) {
    [[maybe_unused]] const ssize_t wrote = ::pwrite(file, own.data(), own.size(), 0);
  }
  lock_ = file;
}

std::optional<std::string> World::load_journal(const std::string& name) const {
  const Descriptor folder{open_folder(false)};
  if (folder.number < 0) return std::nullopt;
  const std::string where = root_.at(state_folder) + '/' + name;
  const Descriptor file{
      ::openat(folder.number, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)};
  if (file.number < 0 && errno == ENOENT) return std::nullopt;
  if (file.number < 0)
    throw Error(where,
                errno == ELOOP ? "is a symbolic link, which is not obeyed"
                               : std::generic_category().message(errno),
                "look at it and remove it");
  struct stat facts {};
  if (::fstat(file.number, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid() ||
      facts.st_nlink != 1 || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw Error(where, "may have been written by another user and is not obeyed",
                "look at it and remove it");
  std::string text;
  std::array<char, 4096> block;
  while (true) {
    const ssize_t count = ::read(file.number, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(where, std::generic_category().message(errno));
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    constexpr std::size_t most = 1 << 20;
    if (text.size() > most) throw Error(where, "is too long for a journal", "remove it");
  }
}

void World::save_journal(const std::string& name, const std::string& text) {
  const Descriptor folder{open_folder(true)};
  const std::string where = root_.at(state_folder) + '/' + name;
  const std::string beside = name + ".new";
  ::unlinkat(folder.number, beside.c_str(), 0);  // of a process that was killed
  const auto fail = [&](int fault) {
    ::unlinkat(folder.number, beside.c_str(), 0);
    if (fault == ENOSPC || fault == EDQUOT)
      throw Error(where, "the disk is full, so what is to be restored cannot be written down",
                  "make room; nothing more was changed");
    fail_to_write_node(where, fault);
  };
  {
    const Descriptor file{::openat(folder.number, beside.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (file.number < 0) fail(errno);
    if (const int fault = write_text(file.number, text); fault != 0) fail(fault);
    if (::fsync(file.number) != 0) fail(errno);
  }
  if (::renameat(folder.number, beside.c_str(), folder.number, name.c_str()) != 0) fail(errno);
  if (::fsync(folder.number) != 0) fail(errno);
}

void World::remove_journal(const std::string& name) {
  const Descriptor folder{open_folder(false)};
  if (folder.number < 0) return;
  if (::unlinkat(folder.number, name.c_str(), 0) != 0 && errno != ENOENT)
    fail_to_write_node(root_.at(state_folder) + '/' + name, errno);
  ::fsync(folder.number);
}

void World::wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::shared_ptr<Nvml> settable_card(const SystemRoot& root) {
  if (is_jetson(root) || !exists(root, "proc/driver/nvidia/version")) return nullptr;
  std::string why;
  return Nvml::open({}, why);
}

}  // namespace ridgeline::control
