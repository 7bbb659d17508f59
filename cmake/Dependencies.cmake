# Libraries that the program needs; all are Debian and Ubuntu packages (packages.txt).
# Optional parts of the program have a module of their own instead.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt 8 REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
# Header-only, and without a CMake or pkg-config file in Debian.
find_path(RIDGELINE_PROTOZERO_INCLUDE protozero/varint.hpp REQUIRED)
mark_as_advanced(RIDGELINE_PROTOZERO_INCLUDE)
