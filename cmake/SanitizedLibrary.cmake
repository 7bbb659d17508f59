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
list(REMOVE_ITEM sources ${RIDGELINE_SOURCES})  # kernel bodies and generated files are left, one by one
set(RIDGELINE_SANITIZED_OBJECTS "")

# add_sanitized_objects(NAME OPTIMISATION FILE...)
function(add_sanitized_objects name optimisation)
  set(target ridgeline_sanitized_${name})
  add_library(${target} OBJECT ${ARGN})
  target_compile_options(${target} PRIVATE ${optimisation})
  target_link_libraries(${target} PRIVATE ridgeline_sanitized_options)
  ridgeline_precompile(${target} ${RIDGELINE_COMMON_HEADERS} SHARED sanitized${optimisation})
  set(RIDGELINE_SANITIZED_OBJECTS ${RIDGELINE_SANITIZED_OBJECTS} $<TARGET_OBJECTS:${target}>
      PARENT_SCOPE)
endfunction()

# An edit does not wait for these units, so they are larger than those of the library: a fifth less
# time than groups of ten. The rooms that predict thousands of modes, play boards and
# lay out pictures take several times as long in the tests without optimisation; the others run too
# briefly to win back what it takes.
set(RIDGELINE_SANITIZED_UNIT 25)
foreach(room IN LISTS RIDGELINE_FOLDERS)
  set(files ${RIDGELINE_SOURCES})
  list(FILTER files INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${room}/")
  set(optimisation -O0)
  if(room MATCHES "^(base|kernels|roofline|planner|plots)$")
    set(optimisation -O1)
  endif()
  add_sanitized_objects(${room} ${optimisation} ${files})
  ridgeline_batches(ridgeline_sanitized_${room} ${RIDGELINE_SANITIZED_UNIT})
endforeach()
add_sanitized_objects(others -O0 ${sources})
list(APPEND RIDGELINE_SANITIZED_OBJECTS ${foreign_objects})

add_executable(ridgeline_sanitized ${RIDGELINE_SANITIZED_OBJECTS} cli/main.cpp)
target_link_libraries(ridgeline_sanitized PRIVATE ridgeline_sanitized_options)
set_target_properties(ridgeline_sanitized PROPERTIES OUTPUT_NAME ridgeline
                      RUNTIME_OUTPUT_DIRECTORY ${RIDGELINE_SANITIZED_DIR})
