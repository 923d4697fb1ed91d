# What the rooms link. tendril-config.cmake.in asks a consumer for the same packages: change both together.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(HDF5C REQUIRED)
find_package(ZLIB REQUIRED)
find_package(HTTPLIB REQUIRED)

set(TENDRIL_DOCUMENT_LIBRARIES fmt::fmt yaml-cpp nlohmann_json::nlohmann_json)
set(TENDRIL_SCENE_LIBRARIES fmt::fmt)
set(TENDRIL_IO_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json HDF5::C)
set(TENDRIL_VIEW_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB HTTPLIB::HTTPLIB)
set(TENDRIL_SOLVER_LIBRARIES fmt::fmt)
set(TENDRIL_IMPORT_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json)
set(TENDRIL_STUDIES_LIBRARIES fmt::fmt nlohmann_json::nlohmann_json)

# tendril_optional(PACKAGE NAME LIBRARIES_OF_A_ROOM [definitions...]): a package that a build may do without, known as TENDRIL_HAVE_NAME.
# A room links its libraries privately, so the definition reaches the sources of the room and nobody else.
macro(tendril_optional package name libraries)
  set(TENDRIL_HAVE_${name} OFF)
  if(TENDRIL_WITH_${name})
    find_package(${package} QUIET)
    if(${package}_FOUND)
      set(TENDRIL_HAVE_${name} ON)
      list(APPEND ${libraries} ${package}::${package})
      set_property(TARGET ${package}::${package} APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS TENDRIL_HAVE_${name} ${ARGN})
    endif()
  endif()
endmacro()

tendril_optional(KLU      KLU      TENDRIL_SOLVER_LIBRARIES)
tendril_optional(MUMPS    MUMPS    TENDRIL_SOLVER_LIBRARIES)
tendril_optional(IPOPT    IPOPT    TENDRIL_SOLVER_LIBRARIES)
tendril_optional(tinyxml2 TINYXML2 TENDRIL_IMPORT_LIBRARIES)
tendril_optional(MPIC     MPI      TENDRIL_STUDIES_LIBRARIES OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX) # none of the C++ bindings of old

message(STATUS "KLU sparse LU:                      ${TENDRIL_HAVE_KLU}")
message(STATUS "MUMPS symmetric indefinite, inertia: ${TENDRIL_HAVE_MUMPS}")
message(STATUS "Ipopt, for comparison:              ${TENDRIL_HAVE_IPOPT}")
message(STATUS "TinyXML-2, import of URDF and MJCF: ${TENDRIL_HAVE_TINYXML2}")
message(STATUS "MPI, for studies on many machines:  ${TENDRIL_HAVE_MPI}")
