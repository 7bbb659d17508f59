# LibTorch, which executes networks: RIDGELINE_TORCH=AUTO takes it where its headers and libraries
# are found; without it everything else builds and works. It is either Debian's libtorch-dev or the
# copy inside PyPI's torch (`python3 -c 'import torch; print(torch.__path__[0])'`). Only torch_cpu
# and c10 are linked and TorchConfig.cmake is not read: it requires CUDA wherever the wheel has it.
#
# What includes LibTorch is a module of its own that is loaded when a network is run: linked to the
# program, its libraries would take half a second at every start.
set(RIDGELINE_TORCH AUTO CACHE STRING "Execution of networks by LibTorch: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_TORCH PROPERTY STRINGS AUTO ON OFF)
set(RIDGELINE_TORCH_ROOT "" CACHE PATH "Folder of PyPI's torch, with include/ and lib/; default: the system's")

set(RIDGELINE_HAS_TORCH OFF)
set(reason "RIDGELINE_TORCH=OFF")
if(NOT RIDGELINE_TORCH STREQUAL "OFF" AND (RIDGELINE_SANITIZE OR RIDGELINE_FUZZ))
  set(reason "a sanitizer build")
elseif(NOT RIDGELINE_TORCH STREQUAL "OFF")
  set(only "")
  if(RIDGELINE_TORCH_ROOT)
    set(only NO_DEFAULT_PATH)
  endif()
  find_path(RIDGELINE_TORCH_INCLUDE ATen/ATen.h PATHS ${RIDGELINE_TORCH_ROOT}/include ${only})
  find_library(RIDGELINE_TORCH_CPU torch_cpu PATHS ${RIDGELINE_TORCH_ROOT}/lib ${only})
  find_library(RIDGELINE_TORCH_C10 c10 PATHS ${RIDGELINE_TORCH_ROOT}/lib ${only})
  mark_as_advanced(RIDGELINE_TORCH_INCLUDE RIDGELINE_TORCH_CPU RIDGELINE_TORCH_C10)
  set(reason "libtorch-dev is not installed")
  if(RIDGELINE_TORCH_INCLUDE AND RIDGELINE_TORCH_CPU AND RIDGELINE_TORCH_C10)
    # Wheels before 2.6 have the old ABI of std::string: they compile and do not link.
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${RIDGELINE_TORCH_INCLUDE})
    set(CMAKE_REQUIRED_LIBRARIES ${RIDGELINE_TORCH_C10})
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_compiles("
      #include <c10/util/Exception.h>
      int main() { throw c10::Error(c10::SourceLocation{}, std::string()); }" RIDGELINE_TORCH_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    if(RIDGELINE_TORCH_LINKS)
      set(RIDGELINE_HAS_TORCH ON)
    else()
      set(reason "a program with ${RIDGELINE_TORCH_C10} does not link: it is older than 2.6, or "
                 "for another compiler")
    endif()
  endif()
  if(NOT RIDGELINE_HAS_TORCH AND NOT RIDGELINE_TORCH STREQUAL "AUTO")
    message(FATAL_ERROR "RIDGELINE_TORCH=ON: ${reason}. Install libtorch-dev, or set "
                        "RIDGELINE_TORCH_ROOT")
  endif()
endif()

if(NOT RIDGELINE_HAS_TORCH)
  message(STATUS "LibTorch: not built (" ${reason} ")")
  return()
endif()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/execution/torch/*.cpp)
# Beside it, what the module needs of the library: a module is linked by itself.
list(APPEND sources ${PROJECT_SOURCE_DIR}/execution/inferred_parameters.cpp)
add_library(ridgeline_torch MODULE ${sources})
target_include_directories(ridgeline_torch PRIVATE ${PROJECT_SOURCE_DIR})
if(NOT RIDGELINE_TORCH_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
  target_include_directories(ridgeline_torch SYSTEM PRIVATE ${RIDGELINE_TORCH_INCLUDE})
endif()
# The wheel brings the headers of another version of fmt, which come first: header-only, it needs no
# library of that version.
target_link_libraries(ridgeline_torch PRIVATE ridgeline_options fmt::fmt-header-only
                      ${RIDGELINE_TORCH_CPU} ${RIDGELINE_TORCH_C10} ${CMAKE_DL_LIBS})
# Most of the time of compiling it is LibTorch's headers, and optimising what they inline gains
# nothing: the work is done inside of LibTorch.
target_compile_options(ridgeline_torch PRIVATE -O1)
list(FILTER sources INCLUDE REGEX "/execution/torch/")
set(usual ${RIDGELINE_UNITY_SIZE})
set(RIDGELINE_UNITY_SIZE 4)
ridgeline_unity(ridgeline_torch ${sources})
set(RIDGELINE_UNITY_SIZE ${usual})
set_target_properties(ridgeline_torch PROPERTIES CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON)
set_target_properties(ridgeline_torch PROPERTIES BUILD_RPATH_USE_ORIGIN OFF
                      INSTALL_RPATH_USE_LINK_PATH ON)
message(STATUS "LibTorch: ${RIDGELINE_TORCH_CPU}")
