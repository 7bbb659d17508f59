// What setting a mode may touch, and how: the nodes of sysfs and debugfs, nvpmodel's command, the
// limits of a card (NVML), and the journal's own folder. Every change of a machine's state goes
// through here, and this is where tests refuse, round or die.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/child_process.h"
#include "devices/machine/system_files.h"

namespace ridgeline {
class Nvml;
}

namespace ridgeline::control {

// Nodes are paths below the root ("sys/devices/system/cpu/cpu4/online"), or one of these, which
// have values like the others.
inline constexpr const char* nvpmodel_mode = "nvpmodel:mode";        // the number of a mode
inline constexpr const char* card_power_limit = "nvml:power_limit";  // milliwatt
inline constexpr const char* card_gpu_clock = "nvml:gpu_clock";      // MHz, or "free"

// Why a node may not be written at all, whoever asks; empty if it may. TPC and FBP masks, CPU 0 and
// over-current limits are never written, and neither is a file that is not a knob.
std::string why_never_written(const std::string& node);

class World {
 public:
  explicit World(SystemRoot root = {}, std::shared_ptr<Nvml> nvml = nullptr);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  virtual ~World();

  const SystemRoot& root() const { return root_; }
  bool has_card() const { return nvml_ != nullptr; }
  Nvml* card() const { return nvml_.get(); }

  // The present value; nothing if the node is missing or cannot be read.
  std::optional<std::string> read(const std::string& node) const;

  // An Error with the node, the cause and the remedy.
  void write(const std::string& node, const std::string& value);

  // The Error that writing would meet, as far as it can be foreseen; nothing is written.
  void check_writable(const std::string& node) const;

  std::string boot_id() const;

  // One process at a time changes modes: an Error if another one does. Held until the end.
  void lock();

  // The journal, by the name of its file. Loading throws if the file is a link or may have been
  // written by another user: it says what to write as root.
  std::optional<std::string> load_journal(const std::string& name) const;
  virtual void save_journal(const std::string& name, const std::string& text);
  virtual void remove_journal(const std::string& name);

  virtual void wait(double seconds);

 protected:
  virtual int write_file(const std::string& node, const std::string& value);  // 0 or errno
  virtual ChildResult set_nvpmodel(int mode);

 private:
  void write_nvpmodel(const std::string& value);
  void write_card(const std::string& node, const std::string& value);
  int open_folder(bool create) const;  // descriptor, or -1 if it does not exist

  SystemRoot root_;
  std::shared_ptr<Nvml> nvml_;
  int lock_ = -1;
};

// The card of this machine whose limits can be set through its driver; nothing on a Jetson, whose
// NVML sets nothing, and without a driver.
std::shared_ptr<Nvml> settable_card(const SystemRoot& root);

}  // namespace ridgeline::control
