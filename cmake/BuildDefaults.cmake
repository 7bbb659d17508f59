# Language standard, build type and compiler cache.
# Release stays portable: no -march=native, kernels are chosen at run time.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# The folder of kernel bodies for the processor that we build for.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(RIDGELINE_ARCH aarch64)
else()
  set(RIDGELINE_ARCH x86)
endif()

# The compiler cache. Paths are relative to the checkout, so that another checkout finds what this
# one compiled; the sloppiness is what precompiled headers need.
find_program(RIDGELINE_CCACHE ccache)
mark_as_advanced(RIDGELINE_CCACHE)
if(RIDGELINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  execute_process(COMMAND ${RIDGELINE_CCACHE} ${CMAKE_CXX_COMPILER} -E -x c++ /dev/null
                  RESULT_VARIABLE fault OUTPUT_QUIET ERROR_QUIET)
  if(fault)
    message(STATUS "compiler cache: not used, '${RIDGELINE_CCACHE}' does not work (${fault})")
  else()
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${RIDGELINE_CCACHE})
  endif()
endif()
