# Sequential MUMPS in double precision: MUMPS_FOUND and the target MUMPS::MUMPS. Used by the build and, installed beside the package
# file, by its consumers.
include(FindPackageHandleStandardArgs)
find_path(MUMPS_INCLUDE_DIR dmumps_c.h PATH_SUFFIXES mumps_seq)
find_library(MUMPS_LIBRARY dmumps_seq)
mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_LIBRARY)
find_package_handle_standard_args(MUMPS REQUIRED_VARS MUMPS_LIBRARY MUMPS_INCLUDE_DIR)
if(MUMPS_FOUND AND NOT TARGET MUMPS::MUMPS)
  add_library(MUMPS::MUMPS UNKNOWN IMPORTED)
  set_target_properties(MUMPS::MUMPS PROPERTIES IMPORTED_LOCATION "${MUMPS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${MUMPS_INCLUDE_DIR}")
endif()
