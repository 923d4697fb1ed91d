# Build options. Everything optional says at configure time what it found.
option(TENDRIL_WITH_KLU     "Sparse LU of SuiteSparse (LGPL); without it Eigen's SparseLU serves" ON)
option(TENDRIL_WITH_MUMPS   "Sparse symmetric indefinite factorisation with inertia (CeCILL-C); without it Eigen serves" ON)
option(TENDRIL_WITH_IPOPT   "Ipopt (EPL) as a reference for nonlinear programs; without it nothing but comparisons is missing" ON)
option(TENDRIL_WITH_TINYXML2 "TinyXML-2, which reads URDF and MJCF; without it `tendril import` reads meshes and centrelines only" ON)
option(TENDRIL_WITH_MPI     "Studies on many machines (Open MPI or another); without it they use the cores of this one" ON)
option(TENDRIL_BUILD_TESTS  "Build the tests" ON)
option(TENDRIL_BUILD_VIEWER "Build the viewer into the program; needs Node.js 18 or newer with npm" ON)
option(TENDRIL_BUILD_BENCH  "Build the benchmarks" OFF)
option(TENDRIL_BUILD_PYTHON "The Python module, target tendril_python; needs nanobind (scripts/python-env.sh)" OFF)
option(TENDRIL_NAN_FILL     "Fill workspaces with NaN before use, so that reading an unset number shows" OFF)
option(TENDRIL_WERROR       "Warnings are errors" ON)
set(TENDRIL_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(TENDRIL_CCACHE ccache)
if(TENDRIL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TENDRIL_CCACHE})
endif()

# Flags of every target of this project (an interface target, never installed). GCC 12 reports -Wmaybe-uninitialized and -Wrestrict
# falsely: inside Eigen's products, and on every sum of std::string.
add_library(tendril_flags INTERFACE)
target_compile_options(tendril_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wno-maybe-uninitialized -Wno-missing-field-initializers -Wno-restrict
                       $<$<BOOL:${TENDRIL_WERROR}>:-Werror>)
target_compile_definitions(tendril_flags INTERFACE $<$<BOOL:${TENDRIL_NAN_FILL}>:TENDRIL_NAN_FILL>)
if(TENDRIL_SANITIZE) # null and misaligned accesses end in AddressSanitizer and Eigen's assertions: a check at each one doubles the time to build
  target_compile_options(tendril_flags INTERFACE -fsanitize=${TENDRIL_SANITIZE} -fno-sanitize=null,alignment,vptr -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(tendril_flags INTERFACE -fsanitize=${TENDRIL_SANITIZE})
endif()
