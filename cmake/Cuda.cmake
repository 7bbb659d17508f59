# The CUDA backend: RIDGELINE_CUDA=AUTO takes it where nvcc is found; without it everything else
# builds and works. Device code is C++17 in kernels/cuda/device/, one code group per file; a group
# is built only for the architectures that have all of its instructions.
set(RIDGELINE_CUDA AUTO CACHE STRING "The CUDA backend: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RIDGELINE_CUDART static CACHE STRING "The CUDA runtime library: static or shared")
set_property(CACHE RIDGELINE_CUDART PROPERTY STRINGS static shared)
set(RIDGELINE_CUDA_ARCHITECTURES AUTO CACHE STRING
    "GPU architectures such as 75;87, or AUTO: all that nvcc has in a Release build, else two")

# Device code can neither be sanitized nor fuzzed; AUTO leaves it out there, and where nvcc does not
# work, as with a host compiler that is too new for it. Its host side is in the library either way.
set(RIDGELINE_HAS_CUDA OFF)
set(reason "RIDGELINE_CUDA=OFF")
if(RIDGELINE_CUDA STREQUAL "AUTO")
  # Where NVIDIA's packages put it; no PATH has it.
  find_program(RIDGELINE_NVCC nvcc PATHS /usr/local/cuda/bin)
  mark_as_advanced(RIDGELINE_NVCC)
  if(RIDGELINE_SANITIZE OR RIDGELINE_FUZZ)
    set(reason "a sanitizer build")
  elseif(NOT RIDGELINE_NVCC AND NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(reason "nvcc is not installed")
  else()
    # A compiler that did not work the last time may do so now.
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)
      if(NOT DEFINED ENV{CUDACXX})
        set(ENV{CUDACXX} ${RIDGELINE_NVCC})
      endif()
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      set(RIDGELINE_HAS_CUDA ON)
    else()
      set(reason "nvcc does not work with this host compiler; CMakeFiles/CMakeError.log says why")
    endif()
  endif()
elseif(RIDGELINE_CUDA)
  set(RIDGELINE_HAS_CUDA ON)
endif()

if(RIDGELINE_HAS_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES OFF)  # each target names its own
  enable_language(CUDA)
  set(version ${CMAKE_CUDA_COMPILER_VERSION})
  find_package(CUDAToolkit)
  if(version VERSION_LESS 11.4)
    set(RIDGELINE_HAS_CUDA OFF)
    set(reason "CUDA ${version} is too old, 11.4 is the first that is supported")
  elseif(NOT TARGET CUDA::cudart_static AND NOT TARGET CUDA::cudart)
    set(RIDGELINE_HAS_CUDA OFF)
    set(reason "the CUDA runtime library is not installed")
  endif()
  if(NOT RIDGELINE_HAS_CUDA AND NOT RIDGELINE_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "CUDA: ${reason}. Set RIDGELINE_CUDA=OFF to build without")
  endif()
endif()

if(NOT RIDGELINE_HAS_CUDA)
  message(STATUS "CUDA: not built (${reason})")
  target_sources(ridgeline_lib PRIVATE kernels/cuda/runtime/none.cpp)
  return()
endif()

# What nvcc accepts, from sm_72 on: the release notes of the toolkits. `./run prove` compares it
# with nvcc's own word.
set(architectures 75 80 86 87)
if(version VERSION_LESS 13)
  list(PREPEND architectures 72)
endif()
if(version VERSION_GREATER_EQUAL 11.8)
  list(APPEND architectures 89)
endif()
# CUDA 11.8 has sm_90 too, but other instructions take up to 3.5 % of its loops of loads, and the
# proof allows 3 %. Such a GPU takes the PTX.
if(version VERSION_GREATER_EQUAL 12)
  list(APPEND architectures 90)
endif()
if(version VERSION_GREATER_EQUAL 12.8)
  list(APPEND architectures 100 120)
endif()
if(version VERSION_GREATER_EQUAL 12.9)
  list(APPEND architectures 103 121)
endif()
if(version VERSION_GREATER_EQUAL 13)
  list(APPEND architectures 88 110)
endif()
list(SORT architectures COMPARE NATURAL)
set(RIDGELINE_CUDA_KNOWN ${architectures})
list(REMOVE_ITEM architectures 103 121)  # they run the code of 100 and 120

if(RIDGELINE_CUDA_ARCHITECTURES STREQUAL "AUTO")
  # Elsewhere compile time counts: the boards that most users have, and the newest that is not one.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    set(newest 86)
    foreach(candidate 90 120)
      if(candidate IN_LIST architectures)
        set(newest ${candidate})
      endif()
    endforeach()
    set(architectures 87 ${newest})
  endif()
else()
  set(architectures ${RIDGELINE_CUDA_ARCHITECTURES})
endif()
list(REMOVE_DUPLICATES architectures)
list(SORT architectures COMPARE NATURAL)

if(RIDGELINE_CUDART STREQUAL "shared")
  target_link_libraries(ridgeline_lib PUBLIC CUDA::cudart)
else()
  target_link_libraries(ridgeline_lib PUBLIC CUDA::cudart_static)
endif()

# ridgeline_cuda_objects(TARGET SOURCE CODE): CODE as in CUDA_ARCHITECTURES.
function(ridgeline_cuda_objects target source code)
  add_library(${target} OBJECT ${source})
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${code}"
                        CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  # Code that is not compressed is what the tests read and prove.
  target_compile_options(${target} PRIVATE -O3 --no-compress -Xcompiler=-Wall
                         $<$<BOOL:${RIDGELINE_WERROR}>:-Werror=all-warnings>)
endfunction()

set(RIDGELINE_CUDA_CODE ${architectures})
set(RIDGELINE_CODE_GROUPS "")
set(RIDGELINE_CODE_LISTS "")

# ridgeline_code_group(NAME RANGE...): a range is FIRST-LAST; nothing is built where the list of
# architectures has none of them. The first and the last one are embedded as PTX too: a GPU that is
# newer than this build takes that. A range FIRST-LAST-a is built with the instructions that only
# these architectures have (sm_90a), FIRST-LAST-f with those of their families (sm_100f runs on
# sm_103 too); both have no PTX: no other GPU could run it.
function(ridgeline_code_group name)
  set(suffix "")
  set(real "")
  foreach(architecture ${architectures})
    foreach(range ${ARGN})
      string(REPLACE "-" ";" ends ${range})
      list(GET ends 0 first)
      list(GET ends 1 last)
      list(LENGTH ends parts)
      if(parts EQUAL 3)
        list(GET ends 2 suffix)
      endif()
      if(architecture GREATER_EQUAL first AND architecture LESS_EQUAL last)
        list(APPEND real ${architecture})
      endif()
    endforeach()
  endforeach()
  if(NOT real)
    return()
  endif()
  list(GET real 0 lowest)
  list(GET real -1 newest)
  set(ptx ${lowest} ${newest})
  list(REMOVE_DUPLICATES ptx)
  set(code ${real})
  list(TRANSFORM code APPEND "${suffix}-real")
  if(suffix)
    set(ptx "")
  endif()
  foreach(architecture ${ptx})
    list(APPEND code ${architecture}-virtual)
  endforeach()

  ridgeline_cuda_objects(ridgeline_cuda_${name}
                         ${PROJECT_SOURCE_DIR}/kernels/cuda/device/${name}.cu "${code}")
  target_sources(ridgeline_lib PRIVATE $<TARGET_OBJECTS:ridgeline_cuda_${name}>)

  list(JOIN real ", " real)
  list(JOIN ptx ", " ptx)
  if(NOT ptx)
    set(ptx 9999)  # no architecture has that PTX
  endif()
  set(RIDGELINE_CODE_GROUPS "${RIDGELINE_CODE_GROUPS} group(${name})" PARENT_SCOPE)
  set(RIDGELINE_CODE_LISTS "${RIDGELINE_CODE_LISTS}inline constexpr int ${name}_code[] = {${real}};
inline constexpr int ${name}_ptx[] = {${ptx}};
" PARENT_SCOPE)
endfunction()

ridgeline_code_group(core 0-999)
ridgeline_code_group(tensor_sm72 72-74)
ridgeline_code_group(tensor_sm75 75-79)
ridgeline_code_group(tensor_sm80 80-999)
ridgeline_code_group(tensor_int4 80-89)
if(version VERSION_GREATER_EQUAL 12)
  ridgeline_code_group(tensor_sm90 90-90-a)
endif()
if(version VERSION_GREATER_EQUAL 12.4)
  ridgeline_code_group(tensor_fp8 89-89 120-999)
endif()
if(version VERSION_GREATER_EQUAL 13)
  ridgeline_code_group(tensor_sm100 100-119-f)
  ridgeline_code_group(tensor_sm100_int8 100-102-a 104-119-a)
  ridgeline_code_group(tensor_sm120 120-121-f)
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/cuda_code.h.in
               ${RIDGELINE_GENERATED_DIR}/kernels/cuda/code.h @ONLY)
target_sources(ridgeline_lib PRIVATE kernels/cuda/runtime/cudart.cpp)
list(JOIN architectures ", sm_" text)
message(STATUS "CUDA: ${version}, ${RIDGELINE_CUDART} runtime library, sm_${text}")
