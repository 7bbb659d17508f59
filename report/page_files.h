// The files of report/page (HTML, CSS, JavaScript) as text, compiled into the program by
// cmake/Page.cmake. What fills them is in page.h.
#pragma once

#include <span>
#include <string_view>

namespace ridgeline {

struct PageFile {
  std::string_view name;  // "plan.js"
  std::string_view text;
};

std::span<const PageFile> page_files();

}  // namespace ridgeline
