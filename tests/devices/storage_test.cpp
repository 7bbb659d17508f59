// Storage devices under folders, read from made-up mounts and block devices.
#include "devices/machine/storage.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/fake_system.h"

namespace ridgeline {
namespace {

class FileSystemOf : public ::testing::Test {
 protected:
  testing::FakeSystem system;

  void mounts(const std::string& lines) {
    system.write("proc/self/mountinfo", "1 0 0:2 / / rw - rootfs none rw\n" + lines);
  }
  // A disk in sysfs: a folder, and links to it by number and by name.
  void disk(const std::string& number, const std::string& folder, const std::string& rotational) {
    system.write("sys/devices/" + folder + "/queue/rotational", rotational + "\n");
    link(number, folder);
  }
  void link(const std::string& number, const std::string& folder) {
    link_at("sys/dev/block/" + number, folder);
    link_at("sys/class/block/" + std::filesystem::path(folder).filename().string(), folder);
  }
  void link_at(const std::string& path, const std::string& folder) {
    system.write("sys/devices/" + folder + "/size", "1\n");
    const std::filesystem::path place = system.root().at(path);
    std::filesystem::create_directories(place.parent_path());
    std::filesystem::create_symlink(system.root().at("sys/devices/" + folder), place);
  }
  FileSystem of(const std::string& path) { return file_system_of(path, system.root()); }
};

TEST_F(FileSystemOf, DisksAreToldByNameAndRotation) {
  mounts(
      "2 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "3 2 8:16 / /fast rw - xfs /dev/sdb rw\n"
      "4 2 259:2 / /nvme rw - ext4 /dev/nvme0n1p2 rw\n"
      "5 2 179:1 / /card rw - ext4 /dev/mmcblk0p1 rw\n"
      "6 2 179:33 / /built\\040in rw - ext4 /dev/mmcblk1p1 rw\n"
      "7 2 254:0 / /guest rw - ext4 /dev/vda rw\n");
  disk("8:0", "ata1/sda", "1");
  link("8:1", "ata1/sda/sda1");
  disk("8:16", "ata2/sdb", "0");
  disk("259:0", "pci0/nvme0n1", "0");
  link("259:2", "pci0/nvme0n1/nvme0n1p2");
  disk("179:0", "mmc0/mmcblk0", "0");
  link("179:1", "mmc0/mmcblk0/mmcblk0p1");
  system.write("sys/devices/mmc0/mmcblk0/device/type", "SD\n");
  disk("179:32", "mmc1/mmcblk1", "0");
  link("179:33", "mmc1/mmcblk1/mmcblk1p1");
  system.write("sys/devices/mmc1/mmcblk1/device/type", "MMC\n");
  disk("254:0", "virtio1/vda", "1");
  EXPECT_EQ(of("/home/me").medium, "hdd");
  EXPECT_EQ(of("/home/me").type, "ext4");
  EXPECT_EQ(of("/home/me").note, "");
  EXPECT_EQ(of("/fast").medium, "ssd");
  EXPECT_EQ(of("/fast").type, "xfs");
  EXPECT_EQ(of("/faster").medium, "hdd") << "a name that only begins like a mount point";
  EXPECT_EQ(of("/nvme/data").medium, "nvme");
  EXPECT_EQ(of("/card").medium, "sd");
  EXPECT_EQ(of("/built in/data").medium, "emmc");
  EXPECT_EQ(of("/guest").medium, "") << "a hypervisor calls everything a spinning disk";
  EXPECT_NE(of("/guest").note.find("virtual disk"), std::string::npos);
}

TEST_F(FileSystemOf, LayersAreFollowedDown) {
  mounts(
      "2 1 253:0 / / rw - ext4 /dev/mapper/root rw\n"
      "3 2 0:30 / /pool rw - btrfs /dev/sdb rw\n"
      "4 2 0:31 / /box rw - overlay overlay rw,lowerdir=/a,upperdir=/pool/upper,workdir=/w\n"
      "5 2 0:32 / /far rw - overlay overlay rw,lowerdir=/a,upperdir=/not/here,workdir=/w\n"
      "6 2 9:0 / /raid rw - xfs /dev/md0 rw\n");
  disk("8:0", "usb1/sda", "1");
  disk("8:16", "ata2/sdb", "0");
  disk("253:0", "virtual/dm-0", "0");
  link_at("sys/devices/virtual/dm-0/slaves/sda", "usb1/sda");
  disk("9:0", "virtual/md0", "0");
  link_at("sys/devices/virtual/md0/slaves/sda", "usb1/sda");
  link_at("sys/devices/virtual/md0/slaves/sdb", "ata2/sdb");
  system.write("pool/upper/file", "");
  EXPECT_EQ(of("/").medium, "hdd");
  EXPECT_NE(of("/").note.find("USB"), std::string::npos);
  EXPECT_EQ(of("/pool").medium, "ssd");
  EXPECT_EQ(of("/box/data").medium, "ssd");
  EXPECT_EQ(of("/box/data").type, "overlay");
  EXPECT_NE(of("/box/data").note.find("btrfs"), std::string::npos);
  EXPECT_EQ(of("/far").medium, "");
  EXPECT_NE(of("/far").note.find("not visible"), std::string::npos);
  EXPECT_EQ(of("/raid").medium, "");
  EXPECT_NE(of("/raid").note.find("unlike"), std::string::npos);
}

TEST_F(FileSystemOf, MemoryAndNetworkAreNoDisks) {
  mounts(
      "2 1 0:25 / /dev/shm rw - tmpfs tmpfs rw\n"
      "3 1 0:26 / /net rw - nfs4 server:/export rw\n"
      "4 3 0:27 / /net rw - tmpfs covered rw\n"
      "5 1 0:28 / /net/inner rw - nfs4 server:/export rw\n"
      "damaged line\n");
  EXPECT_EQ(of("/dev/shm/x").medium, "ram");
  EXPECT_EQ(of("/dev/shm/x").type, "tmpfs");
  EXPECT_EQ(of("/net").medium, "ram") << "the later mount covers the earlier one";
  EXPECT_EQ(of("/net/inner").medium, "network");
  EXPECT_EQ(of("/elsewhere").medium, "");
  EXPECT_EQ(file_system_of("/x", SystemRoot{"/no/such/root/"}).type, "");
}

}  // namespace
}  // namespace ridgeline
