// A progress line with the time left, on a terminal only.
// Pipes, files and --quiet never see it.
#pragma once

#include "cli/console.h"

namespace ridgeline::cli {

class ProgressLine {
 public:
  ProgressLine(const Console& console, const char* what) : console_(console), what_(what) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(double done, double left_s);  // fraction done, seconds left
  void clear();

 private:
  const Console& console_;
  const char* what_;
  bool shown_ = false;
};

}  // namespace ridgeline::cli
