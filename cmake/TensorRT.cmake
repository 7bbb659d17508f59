# libnvinfer, which runs engine files and lists their layers on machines without trtexec:
# RIDGELINE_TENSORRT=AUTO takes it where its headers are found; without it everything else builds and
# works. The library itself is loaded when an engine is opened, and so is CUDA's driver, so that a
# program built with them starts on machines without.
set(RIDGELINE_TENSORRT AUTO CACHE STRING "Engine files by libnvinfer: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_TENSORRT PROPERTY STRINGS AUTO ON OFF)

set(RIDGELINE_HAS_TENSORRT OFF)
if(NOT RIDGELINE_TENSORRT STREQUAL "OFF" AND NOT RIDGELINE_FUZZ)
  # Debian packages put them into the folder of the architecture, which is searched anyway.
  find_path(RIDGELINE_TENSORRT_INCLUDE NvInferRuntime.h
            HINTS $ENV{TENSORRT_ROOT}/include
            PATHS /usr/local/tensorrt/include /usr/src/tensorrt/include /opt/tensorrt/include)
  find_path(RIDGELINE_TENSORRT_CUDA_INCLUDE cuda_runtime_api.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
            PATHS /usr/local/cuda/include)
  mark_as_advanced(RIDGELINE_TENSORRT_INCLUDE RIDGELINE_TENSORRT_CUDA_INCLUDE)
  # 10 and 11 were compiled; before 10 engines have other functions.
  set(major 0)
  if(RIDGELINE_TENSORRT_INCLUDE)
    file(STRINGS ${RIDGELINE_TENSORRT_INCLUDE}/NvInferVersion.h line
         REGEX "#define (NV_TENSORRT_MAJOR|TRT_MAJOR_ENTERPRISE) [0-9]+")
    string(REGEX REPLACE ".*MAJOR(_ENTERPRISE)? ([0-9]+).*" "\\2" major "${line}")
  endif()
  if(RIDGELINE_TENSORRT_CUDA_INCLUDE AND major GREATER_EQUAL 10)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES ${RIDGELINE_TENSORRT_INCLUDE} ${RIDGELINE_TENSORRT_CUDA_INCLUDE})
    set(CMAKE_REQUIRED_QUIET ON)
    check_cxx_source_compiles("
      #include <NvInferRuntime.h>
      int main() {}" RIDGELINE_TENSORRT_COMPILES)
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  if(RIDGELINE_TENSORRT_COMPILES)
    set(RIDGELINE_HAS_TENSORRT ON)
  elseif(NOT RIDGELINE_TENSORRT STREQUAL "AUTO")
    message(FATAL_ERROR "RIDGELINE_TENSORRT=ON, but there is no NvInferRuntime.h of TensorRT 10 or "
                        "newer, with cuda_runtime_api.h, that compiles: install libnvinfer-headers-dev, "
                        "or set RIDGELINE_TENSORRT_INCLUDE")
  endif()
endif()

if(NOT RIDGELINE_HAS_TENSORRT)
  message(STATUS "TensorRT: not built (headers missing or older than 10, or RIDGELINE_TENSORRT=OFF)")
  target_sources(ridgeline_lib PRIVATE analyzer/tensorrt/nvinfer/none.cpp
                 execution/tensorrt/none.cpp)
  return()
endif()

add_library(ridgeline_tensorrt INTERFACE)
set(includes ${RIDGELINE_TENSORRT_INCLUDE} ${RIDGELINE_TENSORRT_CUDA_INCLUDE})
list(REMOVE_DUPLICATES includes)
list(REMOVE_ITEM includes ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
target_include_directories(ridgeline_tensorrt SYSTEM INTERFACE ${includes})
target_link_libraries(ridgeline_tensorrt INTERFACE ${CMAKE_DL_LIBS})
target_sources(ridgeline_lib PRIVATE analyzer/tensorrt/nvinfer/inspector.cpp
               analyzer/tensorrt/nvinfer/library.cpp execution/tensorrt/driver.cpp
               execution/tensorrt/engine_executable.cpp)
target_link_libraries(ridgeline_lib PRIVATE ridgeline_tensorrt)
message(STATUS "TensorRT: libnvinfer.so.${major}")
