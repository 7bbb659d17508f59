# A second copy of the library and the program that the sanitizers watch, for the same test objects:
# the tests are compiled once and run against both, which is half the price of a sanitizer build.
#
# What it does not see: mistakes in the tests themselves, and inline functions of headers where the
# linker took the tests' copy. The library's objects stand first, so that theirs are taken wherever
# both have one. The `asan` preset instruments everything, and its reports have line numbers.
option(RIDGELINE_SANITIZED_TESTS "Run the tests with a sanitized copy of the library too" OFF)
if(NOT RIDGELINE_SANITIZED_TESTS)
  return()
endif()
if(RIDGELINE_SANITIZE)
  message(FATAL_ERROR "RIDGELINE_SANITIZED_TESTS: this build is sanitized already")
endif()

set(sanitizers address,undefined)
set(RIDGELINE_SANITIZED_DIR ${PROJECT_BINARY_DIR}/sanitized)
write_build_info(${RIDGELINE_SANITIZED_DIR}/generated ${sanitizers})

# Without optimisation there is a third less to compile, and tests run it once. Without warnings:
# the other copy has them.
get_target_property(libraries ridgeline_lib LINK_LIBRARIES)
add_library(ridgeline_sanitized_options INTERFACE)
target_include_directories(ridgeline_sanitized_options INTERFACE
                           ${RIDGELINE_SANITIZED_DIR}/generated ${PROJECT_SOURCE_DIR}
                           ${RIDGELINE_GENERATED_DIR})
target_include_directories(ridgeline_sanitized_options SYSTEM INTERFACE
                           ${RIDGELINE_PROTOZERO_INCLUDE})
target_compile_options(ridgeline_sanitized_options INTERFACE -O0 -UNDEBUG -w
                       -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(ridgeline_sanitized_options INTERFACE -fsanitize=${sanitizers})
target_link_libraries(ridgeline_sanitized_options INTERFACE ${libraries})

# Objects and not an archive, since only objects can stand before those of the tests.
get_target_property(sources ridgeline_lib SOURCES)
set(foreign_objects ${sources})
list(FILTER foreign_objects INCLUDE REGEX "TARGET_OBJECTS")
list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
add_library(ridgeline_sanitized_objects OBJECT ${sources})
target_link_libraries(ridgeline_sanitized_objects PRIVATE ridgeline_sanitized_options)
ridgeline_unity(ridgeline_sanitized_objects ${RIDGELINE_SOURCES})
ridgeline_precompile(ridgeline_sanitized_objects ${RIDGELINE_COMMON_HEADERS})
set(RIDGELINE_SANITIZED_OBJECTS $<TARGET_OBJECTS:ridgeline_sanitized_objects> ${foreign_objects})

add_executable(ridgeline_sanitized ${RIDGELINE_SANITIZED_OBJECTS} cli/main.cpp)
target_link_libraries(ridgeline_sanitized PRIVATE ridgeline_sanitized_options)
set_target_properties(ridgeline_sanitized PROPERTIES OUTPUT_NAME ridgeline
                      RUNTIME_OUTPUT_DIRECTORY ${RIDGELINE_SANITIZED_DIR})
