// mountinfo gives type and device of a mount, sysfs what kind of device that is. Layers that have
// no device of their own (overlays, mapped and RAID devices) are followed down to what they lie on.
#include "devices/machine/storage.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace ridgeline {
namespace {

namespace fs = std::filesystem;

constexpr int most_layers = 8;  // of overlays and mapped devices; a loop would be a damaged system

struct Mount {
  std::string device;  // "259:2"
  std::string point, type, source, options;
};

// The kernel writes blanks, tabs, newlines and backslashes of a path as \040 and so on.
std::string unescaped(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      const int code = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      result += static_cast<char>(code);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw": any number of fields may stand
// before the dash.
std::optional<Mount> read_mount(const std::string& line) {
  std::istringstream fields(line);
  std::string skipped;
  Mount mount;
  fields >> skipped >> skipped >> mount.device >> skipped >> mount.point;
  while (fields >> skipped && skipped != "-") {
  }
  if (!(fields >> mount.type >> mount.source)) return std::nullopt;
  fields >> mount.options;
  mount.point = unescaped(mount.point);
  mount.source = unescaped(mount.source);
  mount.options = unescaped(mount.options);
  return mount;
}

bool lies_in(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || path.starts_with(folder + "/");
}

// The innermost mount that holds the path; of two at the same place the later one covers the other.
std::optional<Mount> mount_of(const std::string& path, const SystemRoot& root) {
  std::optional<Mount> best;
  std::ifstream file(root.at("proc/self/mountinfo"));
  for (std::string line; std::getline(file, line);) {
    auto mount = read_mount(line);
    if (!mount || !lies_in(path, mount->point)) continue;
    if (!best || mount->point.size() >= best->point.size()) best = std::move(mount);
  }
  return best;
}

// The value of one word of mount options: "upperdir=/var/upper".
std::optional<std::string> option(const std::string& options, std::string_view name) {
  for (const std::string_view word : split(options, ','))
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=')
      return std::string(word.substr(name.size() + 1));
  return std::nullopt;
}

struct Medium {
  std::string name, note;
};

// `device` is a folder of sysfs, relative to the root.
Medium medium_of_device(const std::string& device, const SystemRoot& root, int layers) {
  std::error_code fault;
  fs::path folder = fs::canonical(root.at(device), fault);
  if (fault || layers == 0) return {};
  if (!fs::exists(folder / "queue", fault)) folder = folder.parent_path();  // of a partition
  const std::string name = folder.filename();
  const SystemRoot here{folder.string() + "/"};

  const auto parts = names_in(here, "slaves");
  if (!parts.empty()) {
    const Medium first = medium_of_device("slaves/" + parts.front(), here, layers - 1);
    for (const std::string& part : parts)
      if (medium_of_device("slaves/" + part, here, layers - 1).name != first.name)
        return {"", name + " lies on unlike devices"};
    return first;
  }
  if (name.starts_with("nvme")) return {"nvme", ""};
  if (name.starts_with("zram") || name.starts_with("ram")) return {"ram", "a disk in memory"};
  if (name.starts_with("vd") || name.starts_with("xvd"))
    return {"", "a virtual disk: what lies below it, and what the host caches, is not visible"};
  if (name.starts_with("loop")) return {"", "a file as a disk (" + name + ")"};
  if (name.starts_with("mmcblk")) {
    const std::string type = first_line(here, "device/type").value_or("");
    if (type == "SD") return {"sd", ""};
    if (type == "MMC") return {"emmc", ""};
    return {};
  }
  const auto rotational = number(here, "queue/rotational");
  if (!rotational) return {};
  if (*rotational == 0) return {"ssd", ""};
  const bool usb = folder.string().find("/usb") != std::string::npos;
  return {"hdd", usb ? "behind USB, where solid-state disks are often called spinning ones" : ""};
}

FileSystem describe(const std::string& path, const SystemRoot& root, int layers) {
  const auto mount = layers > 0 ? mount_of(path, root) : std::nullopt;
  if (!mount) return {};
  const auto is_one_of = [&](const auto& types) {
    return std::ranges::find(types, mount->type) != std::end(types);
  };
  constexpr std::array<std::string_view, 2> in_memory = {"tmpfs", "ramfs"};
  constexpr std::array<std::string_view, 6> remote = {"nfs",  "nfs4", "cifs",
                                                      "smb3", "ceph", "lustre"};
  constexpr std::array<std::string_view, 3> shared = {"9p", "virtiofs", "vboxsf"};
  if (is_one_of(in_memory)) return {mount->type, "ram", "files that live in memory"};
  if (is_one_of(remote))
    return {mount->type, "network", "what the server caches is not visible from here"};
  if (is_one_of(shared))
    return {mount->type, "", "a folder of the host: what lies below it is not visible from here"};
  if (mount->type == "overlay") {
    const auto upper = option(mount->options, "upperdir");
    const FileSystem below =
        upper && exists(root, upper->substr(1)) ? describe(*upper, root, layers - 1) : FileSystem{};
    if (below.type.empty())
      return {"overlay", "", "an overlay: what lies below it is not visible from here"};
    return {"overlay", below.medium,
            "an overlay on " + below.type + (below.note.empty() ? "" : "; " + below.note)};
  }
  // File systems that span devices have a number of their own; their source names a device.
  Medium medium;
  if (!mount->device.starts_with("0:"))
    medium = medium_of_device("sys/dev/block/" + mount->device, root, most_layers);
  else if (mount->source.starts_with("/dev/"))
    medium = medium_of_device("sys/class/block/" + mount->source.substr(5), root, most_layers);
  if (mount->type == "zfs") medium.note = "ZFS keeps a cache of its own, which cannot be emptied";
  return {mount->type, medium.name, medium.note};
}

}  // namespace

FileSystem file_system_of(const std::string& path, const SystemRoot& root) {
  return describe(path, root, most_layers);
}

}  // namespace ridgeline
