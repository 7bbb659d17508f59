// Temporary file, fsync, rename: with every return code checked.
// Plain POSIX, since streams neither sync nor say why they failed.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"

namespace ridgeline {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
      throw Error(path, "no such directory", "create it first");
    case ENOTDIR:
      throw Error(path, "a part of this path is not a directory");
    case EISDIR:
      throw Error(path, "is a directory", "name a file in it");
    case EACCES:
    case EPERM:
      throw Error(path, "cannot be written, permission denied");
    case EROFS:
      throw Error(path, "cannot be written, the file system is read-only");
    case ENOSPC:
    case EDQUOT:
      throw Error(path, "cannot be written, the disk is full");
    default:
      throw Error(path, "cannot be written, " + std::generic_category().message(error_number));
  }
}

// Returns 0 or an error number.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(descriptor, content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

void write_directly(const std::string& path, std::string_view content) {
  // Appending keeps what a redirected standard output already holds.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) fail_to_write(path, errno);
  const int error_number = write_all(descriptor, content);
  ::close(descriptor);
  if (error_number != 0) fail_to_write(path, error_number);
}

// In a folder where anybody may leave names, such as /tmp, a link of another user is a trap. Linux
// refuses to follow it too (fs.protected_symlinks), but not where that is switched off.
void refuse_foreign_link(const std::string& path, const fs::path& link) {
  const fs::path folder = link.has_parent_path() ? link.parent_path() : fs::path(".");
  struct stat of_folder {
  }, of_link{};
  if (::stat(folder.c_str(), &of_folder) != 0 || ::lstat(link.c_str(), &of_link) != 0) return;
  const bool shared = (of_folder.st_mode & S_ISVTX) != 0 && (of_folder.st_mode & S_IWOTH) != 0;
  if (!shared || of_link.st_uid == ::geteuid() || of_link.st_uid == of_folder.st_uid) return;
  throw Error(path,
              link == fs::path(path)
                  ? "is another user's symbolic link in a shared folder"
                  : "leads through another user's symbolic link in a shared folder",
              "choose another name, or remove the link");
}

// The same for the folders that lead to the file: one of them may be such a link.
void refuse_foreign_folder_links(const std::string& path, const fs::path& target) {
  fs::path folder;
  for (const fs::path& part : target.parent_path()) {
    folder /= part;
    std::error_code code;
    if (fs::is_symlink(fs::symlink_status(folder, code))) refuse_foreign_link(path, folder);
  }
}

// Where the chain of symbolic links ends; the last name need not exist.
fs::path link_target(const std::string& path) {
  fs::path target = path;
  std::error_code code;
  refuse_foreign_folder_links(path, target);
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, code)); ++links) {
    if (links == 40) fail_to_write(path, ELOOP);
    refuse_foreign_link(path, target);
    const fs::path next = fs::read_symlink(target, code);
    if (code) fail_to_write(path, code.value());
    target = target.parent_path() / next;  // an absolute `next` replaces the parent
    refuse_foreign_folder_links(path, target);
  }
  return target;
}

// A new file in `directory`, with the permissions that the user's umask gives.
int open_temporary(const fs::path& directory, fs::path& name) {
  static std::atomic<unsigned> counter{0};
  while (true) {
    name = directory / fmt::format(".ridgeline-{}-{}.tmp", ::getpid(), counter++);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  if (path.empty() || path.find('\0') != std::string::npos)
    throw Error("", "not a file name", "give a path to write to");
  struct stat existing {};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) fail_to_write(path, EISDIR);
  const fs::path target = link_target(path);
  // /dev/stdout may lead to a regular file, which the shell holds open: a rename would lose it.
  const bool is_device_path =
      path.starts_with("/proc/") || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/"));
  if (exists && (is_device_path || !S_ISREG(existing.st_mode)))
    return write_directly(path, content);
  // A rename would replace a read-only file without asking.
  if (exists && ::access(path.c_str(), W_OK) != 0) fail_to_write(path, errno);

  if (target.filename().empty())
    fail_to_write(path, ENOENT);  // "new/": a directory that is not there
  fs::path temporary;
  const int descriptor = open_temporary(target.parent_path(), temporary);
  if (descriptor < 0) fail_to_write(path, errno);

  int error_number = write_all(descriptor, content);
  if (error_number == 0 && exists && ::fchmod(descriptor, existing.st_mode & 07777) != 0)
    error_number = errno;
  if (error_number == 0 && ::fsync(descriptor) != 0) error_number = errno;
  if (::close(descriptor) != 0 && error_number == 0) error_number = errno;
  if (error_number == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error_number = errno;
  if (error_number != 0) {
    ::unlink(temporary.c_str());
    fail_to_write(path, error_number);
  }
}

void check_file_can_be_written(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code fault;
  if (fs::is_directory(path, fault)) throw Error(path, "is a directory");
  link_target(path);  // throws where it may not be followed
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, fault))
    throw Error(path, "folder '" + folder.string() + "' does not exist");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(path,
                "folder '" + folder.string() + "' cannot be written: " + std::strerror(errno));
}

}  // namespace ridgeline
