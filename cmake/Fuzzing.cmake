# The fuzz targets of the front ends (`./run fuzz`): they need clang, whose libFuzzer drives them.
# They have their own copy of what they test, with sanitizers and reports of the branches taken.
option(RIDGELINE_FUZZ "Build the fuzz targets" OFF)
if(NOT RIDGELINE_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "RIDGELINE_FUZZ needs clang: set CMAKE_CXX_COMPILER=clang++")
endif()

file(GLOB_RECURSE RIDGELINE_FUZZED CONFIGURE_DEPENDS base/*.cpp analyzer/*.cpp)
list(FILTER RIDGELINE_FUZZED EXCLUDE REGEX "/nvinfer/(inspector|library)\\.cpp$")
add_library(ridgeline_fuzzed STATIC ${RIDGELINE_FUZZED})
target_include_directories(ridgeline_fuzzed PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(ridgeline_fuzzed SYSTEM PUBLIC ${RIDGELINE_PROTOZERO_INCLUDE})
target_compile_options(ridgeline_fuzzed PUBLIC -fno-sanitize-recover=all -fno-omit-frame-pointer
                       -fsanitize=fuzzer-no-link,address,undefined)
target_link_options(ridgeline_fuzzed PUBLIC -fsanitize=address,undefined)
target_link_libraries(ridgeline_fuzzed PUBLIC ridgeline_options fmt::fmt
                      nlohmann_json::nlohmann_json PkgConfig::LIBZIP)

add_executable(ridgeline_onnx_fuzz tests/fuzz/onnx_fuzz_main.cpp tests/fuzz/message_mutator.cpp)
target_link_options(ridgeline_onnx_fuzz PRIVATE -fsanitize=fuzzer)
target_link_libraries(ridgeline_onnx_fuzz PRIVATE ridgeline_fuzzed)

add_executable(ridgeline_onnx_seeds tests/fuzz/onnx_seeds_main.cpp tests/support/sample_models.cpp
               tests/support/onnx_builder.cpp)
target_link_libraries(ridgeline_onnx_seeds PRIVATE ridgeline_fuzzed)

add_executable(ridgeline_torch_fuzz tests/fuzz/torch_fuzz_main.cpp tests/fuzz/json_mutator.cpp)
target_link_options(ridgeline_torch_fuzz PRIVATE -fsanitize=fuzzer)
target_link_libraries(ridgeline_torch_fuzz PRIVATE ridgeline_fuzzed)

add_executable(ridgeline_torch_seeds tests/fuzz/torch_seeds_main.cpp)
target_link_libraries(ridgeline_torch_seeds PRIVATE ridgeline_fuzzed)

add_executable(ridgeline_tensorrt_fuzz tests/fuzz/tensorrt_fuzz_main.cpp tests/fuzz/json_mutator.cpp
               tests/analyzer/tensorrt/toy_onnx.cpp tests/support/onnx_builder.cpp)
target_link_options(ridgeline_tensorrt_fuzz PRIVATE -fsanitize=fuzzer)
target_link_libraries(ridgeline_tensorrt_fuzz PRIVATE ridgeline_fuzzed)

# It loads libridgeline_torch.so from its folder (./run puts the one of the release build there):
# the headers of LibTorch 1.13 do not compile with clang in C++20.
add_executable(ridgeline_torchscript_fuzz tests/fuzz/torchscript_fuzz_main.cpp
               tests/fuzz/script_mutator.cpp)
target_link_options(ridgeline_torchscript_fuzz PRIVATE -fsanitize=fuzzer)
target_link_libraries(ridgeline_torchscript_fuzz PRIVATE ridgeline_fuzzed)
