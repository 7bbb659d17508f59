// refused_or: what all fuzz targets demand of a reader: it succeeds, or throws an Error of one
// line.
#pragma once

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace ridgeline::testing {

template <class Call>
void refused_or(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
}

}  // namespace ridgeline::testing
