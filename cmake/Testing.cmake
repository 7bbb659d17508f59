# Whether the tests are part of the build: AUTO takes them where GoogleTest is installed.
# What the tests are is in tests/CMakeLists.txt.
set(RIDGELINE_TESTS AUTO CACHE STRING "Build the tests: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_TESTS PROPERTY STRINGS AUTO ON OFF)

if(RIDGELINE_TESTS STREQUAL "AUTO")
  find_package(GTest QUIET)
elseif(RIDGELINE_TESTS)
  find_package(GTest REQUIRED)
endif()

if(RIDGELINE_TESTS AND GTest_FOUND)
  enable_testing()
  add_subdirectory(tests)
else()
  message(STATUS "tests: not built (GoogleTest missing or RIDGELINE_TESTS=OFF)")
endif()
