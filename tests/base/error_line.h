// The message of the Error that a call throws, as the command line shows it.
// For tests of bad input.
#pragma once

#include <string>

#include "base/error.h"

namespace ridgeline::testing {

template <class Call>
std::string error_line(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace ridgeline::testing
