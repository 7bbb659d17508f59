# JPEG decoding of `measure --only decode`: RIDGELINE_JPEG=AUTO takes libjpeg where it is found;
# without it everything else builds and works.
set(RIDGELINE_JPEG AUTO CACHE STRING "JPEG decoding by libjpeg: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_JPEG PROPERTY STRINGS AUTO ON OFF)

if(RIDGELINE_JPEG STREQUAL "AUTO")
  find_package(JPEG QUIET)
elseif(RIDGELINE_JPEG)
  find_package(JPEG REQUIRED)
endif()

if(RIDGELINE_JPEG AND JPEG_FOUND)
  target_sources(ridgeline_lib PRIVATE kernels/input/jpeg/libjpeg.cpp)
  target_link_libraries(ridgeline_lib PUBLIC JPEG::JPEG)
else()
  message(STATUS "JPEG: not built (libjpeg missing or RIDGELINE_JPEG=OFF)")
  target_sources(ridgeline_lib PRIVATE kernels/input/jpeg/none.cpp)
endif()
