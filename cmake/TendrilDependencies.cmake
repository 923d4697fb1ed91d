# What the rooms link. tendril-config.cmake.in asks a consumer for the same packages: change both together.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(HDF5C REQUIRED)
find_package(ZLIB REQUIRED)
find_package(HTTPLIB REQUIRED)

set(TENDRIL_IO_LIBRARIES fmt::fmt yaml-cpp nlohmann_json::nlohmann_json HDF5::C)
set(TENDRIL_VIEW_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB HTTPLIB::HTTPLIB)
set(TENDRIL_SOLVER_LIBRARIES fmt::fmt)

# A room links its libraries privately, so the definition reaches the sources of the room and nobody else.
foreach(backend KLU MUMPS)
  set(TENDRIL_HAVE_${backend} OFF)
  if(TENDRIL_WITH_${backend})
    find_package(${backend} QUIET)
    if(${backend}_FOUND)
      set(TENDRIL_HAVE_${backend} ON)
      list(APPEND TENDRIL_SOLVER_LIBRARIES ${backend}::${backend})
      set_property(TARGET ${backend}::${backend} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS TENDRIL_HAVE_${backend})
    endif()
  endif()
endforeach()

message(STATUS "KLU sparse LU:                      ${TENDRIL_HAVE_KLU}")
message(STATUS "MUMPS symmetric indefinite, inertia: ${TENDRIL_HAVE_MUMPS}")
