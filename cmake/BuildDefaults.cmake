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

find_program(RIDGELINE_CCACHE ccache)
mark_as_advanced(RIDGELINE_CCACHE)
if(RIDGELINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RIDGELINE_CCACHE})
endif()
