# Ipopt: IPOPT_FOUND and the target IPOPT::IPOPT. Used by the build and, installed beside the package file, by its consumers.
include(FindPackageHandleStandardArgs)
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(PC_IPOPT QUIET ipopt)
endif()
find_path(IPOPT_INCLUDE_DIR IpTNLP.hpp HINTS ${PC_IPOPT_INCLUDE_DIRS} PATH_SUFFIXES coin coin-or)
find_library(IPOPT_LIBRARY ipopt HINTS ${PC_IPOPT_LIBRARY_DIRS})
mark_as_advanced(IPOPT_INCLUDE_DIR IPOPT_LIBRARY)
find_package_handle_standard_args(IPOPT REQUIRED_VARS IPOPT_LIBRARY IPOPT_INCLUDE_DIR)
if(IPOPT_FOUND AND NOT TARGET IPOPT::IPOPT)
  add_library(IPOPT::IPOPT UNKNOWN IMPORTED)
  # Headers before 3.13 look for this definition to find the standard library.
  set_target_properties(IPOPT::IPOPT PROPERTIES IMPORTED_LOCATION "${IPOPT_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${IPOPT_INCLUDE_DIR}"
                                                INTERFACE_COMPILE_DEFINITIONS HAVE_CSTDDEF)
endif()
