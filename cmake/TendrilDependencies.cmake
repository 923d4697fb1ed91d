# What the rooms link. tendril-config.cmake.in asks a consumer for the same packages: change both together.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(HDF5C REQUIRED)

set(TENDRIL_IO_LIBRARIES fmt::fmt yaml-cpp nlohmann_json::nlohmann_json HDF5::C)
set(TENDRIL_SOLVER_LIBRARIES fmt::fmt)

set(TENDRIL_HAVE_KLU OFF)
if(TENDRIL_WITH_KLU)
  find_package(KLU QUIET)
  if(KLU_FOUND)
    set(TENDRIL_HAVE_KLU ON)
  endif()
endif()

set(TENDRIL_HAVE_MUMPS OFF)
if(TENDRIL_WITH_MUMPS)
  find_package(MUMPS QUIET)
  if(MUMPS_FOUND)
    set(TENDRIL_HAVE_MUMPS ON)
  endif()
endif()

message(STATUS "KLU sparse LU:                      ${TENDRIL_HAVE_KLU}")
message(STATUS "MUMPS symmetric indefinite, inertia: ${TENDRIL_HAVE_MUMPS}")
