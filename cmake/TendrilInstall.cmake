# cmake --install: headers, libraries, the program, and the package files that serve find_package(tendril).
include(CMakePackageConfigHelpers)
set(TENDRIL_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tendril)

get_property(rooms GLOBAL PROPERTY TENDRIL_ROOMS)
list(TRANSFORM rooms PREPEND tendril_ OUTPUT_VARIABLE targets)
install(TARGETS tendril ${targets} EXPORT tendril-targets)
install(EXPORT tendril-targets NAMESPACE tendril:: DESTINATION ${TENDRIL_PACKAGE_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tendril DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET tendril_app)
  install(TARGETS tendril_app)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tendril FILES_MATCHING PATTERN "*.yaml")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/tendril-config.cmake.in tendril-config.cmake INSTALL_DESTINATION ${TENDRIL_PACKAGE_DIR})
write_basic_package_version_file(tendril-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tendril-config.cmake ${PROJECT_BINARY_DIR}/tendril-config-version.cmake
              cmake/FindHDF5C.cmake cmake/FindHTTPLIB.cmake cmake/FindIPOPT.cmake cmake/FindKLU.cmake cmake/FindMPIC.cmake cmake/FindMUMPS.cmake DESTINATION ${TENDRIL_PACKAGE_DIR})
