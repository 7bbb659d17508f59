# GPU counters by CUPTI: RIDGELINE_CUPTI=AUTO takes it where its headers are found; without it
# everything else builds and works. The library itself is loaded when it is needed, so that a
# program built with it starts on machines without.
set(RIDGELINE_CUPTI AUTO CACHE STRING "GPU counters by CUPTI: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_CUPTI PROPERTY STRINGS AUTO ON OFF)

set(RIDGELINE_HAS_CUPTI OFF)
if(NOT RIDGELINE_CUPTI STREQUAL "OFF" AND NOT RIDGELINE_FUZZ)
  # No nvcc is needed: the toolkit that nvcc is of, if there is one, and where NVIDIA's packages are.
  find_path(RIDGELINE_CUPTI_INCLUDE cupti_profiler_target.h
            HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include
            PATHS /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include)
  find_path(RIDGELINE_CUPTI_CUDA_INCLUDE cuda.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
            PATHS /usr/local/cuda/include)
  find_path(RIDGELINE_NVPERF_INCLUDE nvperf_cuda_host.h HINTS ${RIDGELINE_CUPTI_INCLUDE})
  mark_as_advanced(RIDGELINE_CUPTI_INCLUDE RIDGELINE_CUPTI_CUDA_INCLUDE RIDGELINE_NVPERF_INCLUDE)
  # Names of metrics were looked up in another way before.
  set(evaluator "")
  if(RIDGELINE_CUPTI_INCLUDE AND RIDGELINE_CUPTI_CUDA_INCLUDE AND RIDGELINE_NVPERF_INCLUDE)
    file(STRINGS ${RIDGELINE_NVPERF_INCLUDE}/nvperf_cuda_host.h evaluator
         REGEX "NVPW_CUDA_MetricsEvaluator_Initialize_Params;")
  endif()
  # Headers may be there and yet not whole: one package has some, another those that they include.
  if(evaluator)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${RIDGELINE_CUPTI_INCLUDE} ${RIDGELINE_CUPTI_CUDA_INCLUDE})
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_compiles("
      #include <cuda.h>
      #include <cupti.h>
      #include <cupti_profiler_target.h>
      #include <cupti_target.h>
      #include <nvperf_cuda_host.h>
      #include <nvperf_host.h>
      #include <nvperf_target.h>
      int main() {}" RIDGELINE_CUPTI_COMPILES)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(RIDGELINE_CUPTI_COMPILES)
    set(RIDGELINE_HAS_CUPTI ON)
  elseif(NOT RIDGELINE_CUPTI STREQUAL "AUTO")
    message(FATAL_ERROR "RIDGELINE_CUPTI=ON, but there is no cupti_profiler_target.h, cuda.h or "
                        "nvperf_cuda_host.h with NVPW_CUDA_MetricsEvaluator that compiles: install the cupti "
                        "package of a toolkit that has it, as 11.8 does")
  endif()
endif()

if(NOT RIDGELINE_HAS_CUPTI)
  message(STATUS "CUPTI: not built (headers missing or too old, or RIDGELINE_CUPTI=OFF)")
  target_sources(ridgeline_lib PRIVATE kernels/cuda/cupti/none.cpp)
  return()
endif()

# Its file name has the toolkit's version: 11.8 with CUDA 11.8, 12 and 13 since then.
file(STRINGS ${RIDGELINE_CUPTI_CUDA_INCLUDE}/cuda.h line REGEX "#define CUDA_VERSION [0-9]+")
string(REGEX REPLACE ".*CUDA_VERSION ([0-9]+).*" "\\1" number "${line}")
math(EXPR major "${number} / 1000")
math(EXPR minor "${number} % 1000 / 10")
set(soname libcupti.so.${major})
if(major EQUAL 11)
  string(APPEND soname .${minor})
endif()
find_library(RIDGELINE_CUPTI_FILE ${soname}
             HINTS ${CUDAToolkit_LIBRARY_DIR} ${RIDGELINE_CUPTI_INCLUDE}/../lib64
                   ${RIDGELINE_CUPTI_INCLUDE}/../lib
             PATHS /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64)
mark_as_advanced(RIDGELINE_CUPTI_FILE)
set(folder /usr/local/cuda/lib64)
if(RIDGELINE_CUPTI_FILE)
  get_filename_component(folder ${RIDGELINE_CUPTI_FILE} DIRECTORY)
endif()

add_library(ridgeline_cupti INTERFACE)
set(includes ${RIDGELINE_CUPTI_INCLUDE} ${RIDGELINE_CUPTI_CUDA_INCLUDE})
list(REMOVE_DUPLICATES includes)
list(REMOVE_ITEM includes ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
target_include_directories(ridgeline_cupti SYSTEM INTERFACE ${includes})
target_link_libraries(ridgeline_cupti INTERFACE ${CMAKE_DL_LIBS})
set(RIDGELINE_CUPTI_SOURCES call kernel_times library profiler range_profiler session_profiler)
list(TRANSFORM RIDGELINE_CUPTI_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/kernels/cuda/cupti/)
list(TRANSFORM RIDGELINE_CUPTI_SOURCES APPEND .cpp)
set_source_files_properties(${PROJECT_SOURCE_DIR}/kernels/cuda/cupti/library.cpp
                            PROPERTIES COMPILE_DEFINITIONS
                            "RIDGELINE_CUPTI_SONAME=\"${soname}\";RIDGELINE_CUPTI_FOLDER=\"${folder}\"")
target_sources(ridgeline_lib PRIVATE ${RIDGELINE_CUPTI_SOURCES})
target_link_libraries(ridgeline_lib PRIVATE ridgeline_cupti)

# What is put into other programs (CUDA_INJECTION64_PATH): the same code once more, by itself.
add_library(ridgeline_injection MODULE kernels/cuda/cupti/injection.cpp
            kernels/cuda/counter_table.cpp ${RIDGELINE_CUPTI_SOURCES})
target_include_directories(ridgeline_injection PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(ridgeline_injection PRIVATE ridgeline_options ridgeline_cupti
                      Threads::Threads)
set_target_properties(ridgeline_injection PROPERTIES CXX_VISIBILITY_PRESET hidden
                      VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
message(STATUS "CUPTI: ${soname}, headers of CUDA ${major}.${minor}")
