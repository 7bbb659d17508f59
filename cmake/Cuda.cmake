# The CUDA backend: RIDGELINE_CUDA=AUTO takes it where nvcc is found; without it everything else
# builds and works. Device code is C++17 in kernels/cuda/device/, one code group per file; a group
# is built only for the architectures that have all of its instructions.
set(RIDGELINE_CUDA AUTO CACHE STRING "The CUDA backend: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(RIDGELINE_CUDART static CACHE STRING "The CUDA runtime library: static or shared")
set_property(CACHE RIDGELINE_CUDART PROPERTY STRINGS static shared)
set(RIDGELINE_CUDA_ARCHITECTURES AUTO CACHE STRING
    "GPU architectures such as 75;87, or AUTO: all that nvcc has in a Release build, else two")

# Device code can neither be sanitized nor fuzzed; AUTO leaves it out there. Its host side is in the
# library either way.
set(RIDGELINE_HAS_CUDA OFF)
if(RIDGELINE_CUDA STREQUAL "AUTO")
  if(NOT RIDGELINE_SANITIZE AND NOT RIDGELINE_FUZZ)
    # Where NVIDIA's packages put it; no PATH has it.
    find_program(RIDGELINE_NVCC nvcc PATHS /usr/local/cuda/bin)
    mark_as_advanced(RIDGELINE_NVCC)
    if(RIDGELINE_NVCC AND NOT DEFINED CMAKE_CUDA_COMPILER)
      set(CMAKE_CUDA_COMPILER ${RIDGELINE_NVCC})
    endif()
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      set(RIDGELINE_HAS_CUDA ON)
    endif()
  endif()
elseif(RIDGELINE_CUDA)
  set(RIDGELINE_HAS_CUDA ON)
endif()

if(NOT RIDGELINE_HAS_CUDA)
  message(STATUS "CUDA: not built (nvcc missing, sanitizer build or RIDGELINE_CUDA=OFF)")
  target_sources(ridgeline_lib PRIVATE kernels/cuda/runtime/none.cpp)
  return()
endif()

set(CMAKE_CUDA_ARCHITECTURES OFF)  # each target names its own
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(version ${CMAKE_CUDA_COMPILER_VERSION})
if(version VERSION_LESS 11.4)
  message(FATAL_ERROR "CUDA ${version} is too old: 11.4 is the first that is supported. "
                      "Set RIDGELINE_CUDA=OFF to build without")
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

if(RIDGELINE_CUDA_ARCHITECTURES STREQUAL "AUTO")
  # Elsewhere, and where tests are asked for, compile time counts: the boards that most users have,
  # and the newest that is not one.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR RIDGELINE_TESTS STREQUAL "ON")
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
# newer than this build takes that.
function(ridgeline_code_group name)
  set(real "")
  foreach(architecture ${architectures})
    foreach(range ${ARGN})
      string(REPLACE "-" ";" ends ${range})
      list(GET ends 0 first)
      list(GET ends 1 last)
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
  list(TRANSFORM code APPEND "-real")
  foreach(architecture ${ptx})
    list(APPEND code ${architecture}-virtual)
  endforeach()

  ridgeline_cuda_objects(ridgeline_cuda_${name}
                         ${PROJECT_SOURCE_DIR}/kernels/cuda/device/${name}.cu "${code}")
  target_sources(ridgeline_lib PRIVATE $<TARGET_OBJECTS:ridgeline_cuda_${name}>)

  list(JOIN real ", " real)
  list(JOIN ptx ", " ptx)
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
if(version VERSION_GREATER_EQUAL 12.4)
  ridgeline_code_group(tensor_fp8 89-89 120-999)
endif()

configure_file(${CMAKE_CURRENT_LIST_DIR}/cuda_code.h.in
               ${RIDGELINE_GENERATED_DIR}/kernels/cuda/code.h @ONLY)
target_sources(ridgeline_lib PRIVATE kernels/cuda/runtime/cudart.cpp)
list(JOIN architectures ", sm_" text)
message(STATUS "CUDA: ${version}, ${RIDGELINE_CUDART} runtime library, sm_${text}")
