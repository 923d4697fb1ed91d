# cpp-httplib as Debian builds it, header and library: HTTPLIB_FOUND and the target HTTPLIB::HTTPLIB. The definitions are those with which
# the library was built; they change the layout of its classes.
include(FindPackageHandleStandardArgs)
find_path(HTTPLIB_INCLUDE_DIR httplib.h)
find_library(HTTPLIB_LIBRARY cpp-httplib)
mark_as_advanced(HTTPLIB_INCLUDE_DIR HTTPLIB_LIBRARY)
find_package_handle_standard_args(HTTPLIB REQUIRED_VARS HTTPLIB_LIBRARY HTTPLIB_INCLUDE_DIR)
if(HTTPLIB_FOUND AND NOT TARGET HTTPLIB::HTTPLIB)
  add_library(HTTPLIB::HTTPLIB UNKNOWN IMPORTED)
  set_target_properties(HTTPLIB::HTTPLIB PROPERTIES
                        IMPORTED_LOCATION "${HTTPLIB_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${HTTPLIB_INCLUDE_DIR}"
                        INTERFACE_COMPILE_DEFINITIONS "CPPHTTPLIB_OPENSSL_SUPPORT;CPPHTTPLIB_ZLIB_SUPPORT;CPPHTTPLIB_BROTLI_SUPPORT")
endif()
