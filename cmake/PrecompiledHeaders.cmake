# Headers that most files of a target include, parsed once and not once per file: a quarter of the
# time of the sanitized library and of the tests. Only where both copies of the library are built:
# the plain one does without, as do the tests elsewhere, so that a missing include is noticed.
# <nlohmann/json.hpp> is not worth it: files that do without it would take longer.

# ridgeline_precompile(TARGET HEADER...)
function(ridgeline_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # What ccache needs to cache such files.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()
