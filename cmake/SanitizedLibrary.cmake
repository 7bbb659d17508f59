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

# Without warnings: the other copy has them. The optimisation is chosen per room below. Undefined
# behaviour ends the program without a message ("Illegal instruction"): the texts of the messages
# make a third of the compiler's time and two thirds of the code. The `asan` preset has them.
get_target_property(libraries ridgeline_lib LINK_LIBRARIES)
add_library(ridgeline_sanitized_options INTERFACE)
target_include_directories(ridgeline_sanitized_options INTERFACE
                           ${RIDGELINE_SANITIZED_DIR}/generated ${PROJECT_SOURCE_DIR}
                           ${RIDGELINE_GENERATED_DIR})
target_include_directories(ridgeline_sanitized_options SYSTEM INTERFACE
                           ${RIDGELINE_PROTOZERO_INCLUDE})
target_compile_options(ridgeline_sanitized_options INTERFACE -UNDEBUG -w
                       -fsanitize=${sanitizers} -fno-sanitize-recover=all
                       -fsanitize-undefined-trap-on-error -fno-omit-frame-pointer)
# At fixed addresses: moving a program of this size takes longer than most tests do.
target_link_options(ridgeline_sanitized_options INTERFACE -fsanitize=${sanitizers} -no-pie)
target_link_libraries(ridgeline_sanitized_options INTERFACE ${libraries})

# Objects and not an archive, since only objects can stand before those of the tests.
get_target_property(sources ridgeline_lib SOURCES)
set(foreign_objects ${sources})
list(FILTER foreign_objects INCLUDE REGEX "TARGET_OBJECTS")
list(FILTER sources EXCLUDE REGEX "TARGET_OBJECTS")
set(computing ${sources})
list(FILTER computing INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/(base|roofline|planner)/")
list(REMOVE_ITEM sources ${computing})

# add_sanitized_objects(TARGET OPTIMISATION FILE...)
function(add_sanitized_objects target optimisation)
  add_library(${target} OBJECT ${ARGN})
  target_compile_options(${target} PRIVATE ${optimisation})
  target_link_libraries(${target} PRIVATE ridgeline_sanitized_options)
  ridgeline_unity(${target} ${RIDGELINE_SOURCES})
  ridgeline_precompile(${target} ${RIDGELINE_COMMON_HEADERS})
endfunction()
# Most rooms run too briefly in the tests to win back what optimising them takes. The rooms that
# predict thousands of modes take several times as long without.
add_sanitized_objects(ridgeline_sanitized_objects -O0 ${sources})
add_sanitized_objects(ridgeline_sanitized_computing -O1 ${computing})
set(RIDGELINE_SANITIZED_OBJECTS $<TARGET_OBJECTS:ridgeline_sanitized_objects>
                                $<TARGET_OBJECTS:ridgeline_sanitized_computing> ${foreign_objects})

add_executable(ridgeline_sanitized ${RIDGELINE_SANITIZED_OBJECTS} cli/main.cpp)
target_link_libraries(ridgeline_sanitized PRIVATE ridgeline_sanitized_options)
set_target_properties(ridgeline_sanitized PROPERTIES OUTPUT_NAME ridgeline
                      RUNTIME_OUTPUT_DIRECTORY ${RIDGELINE_SANITIZED_DIR})
