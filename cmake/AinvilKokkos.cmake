# Defines Ainvil::KokkosKernels (Kokkos included), AINVIL_KOKKOS_VERSION and AINVIL_KOKKOS_BACKENDS
# from the Kokkos Kernels that was found. Used by Ainvil's own build and by its installed package.
#
# A stand-alone installation has the targets Kokkos::kokkoskernels and Kokkos::kokkos. Trilinos up to
# 13.4 (Debian 12 has 13.2) names its libraries otherwise, gives them no include directories, and its
# Kokkos::kokkos names a directory that does not exist; so its KokkosKernels_* variables are taken.

if(NOT TARGET Ainvil::KokkosKernels)
  add_library(Ainvil::KokkosKernels INTERFACE IMPORTED)
  if(TARGET Kokkos::kokkoskernels)
    target_link_libraries(Ainvil::KokkosKernels INTERFACE Kokkos::kokkoskernels Kokkos::kokkos)
  elseif(TARGET KokkosKernels::all_libs)
    target_link_libraries(Ainvil::KokkosKernels INTERFACE KokkosKernels::all_libs)
  elseif(KokkosKernels_LIBRARIES)
    target_include_directories(Ainvil::KokkosKernels INTERFACE ${KokkosKernels_INCLUDE_DIRS})
    target_link_libraries(Ainvil::KokkosKernels INTERFACE ${KokkosKernels_LIBRARIES})
    # Of the flags that Trilinos was compiled with, those of nvcc that Kokkos needs.
    separate_arguments(_ainvil_flags UNIX_COMMAND "${KokkosKernels_CXX_FLAGS}")
    list(FILTER _ainvil_flags INCLUDE REGEX "^-(arch=|expt-|Wext-)")
    target_compile_options(Ainvil::KokkosKernels INTERFACE ${_ainvil_flags})
  else()
    message(FATAL_ERROR "Ainvil knows no library target of the Kokkos Kernels in "
            "${KokkosKernels_DIR}; its versions 3.4 to 5 are supported.")
  endif()
endif()

if(Kokkos_VERSION)
  set(AINVIL_KOKKOS_VERSION ${Kokkos_VERSION})
  set(AINVIL_KOKKOS_BACKENDS ${Kokkos_DEVICES})
else()
  # Trilinos up to 13.4 tells its own version only; Kokkos writes 3.4.1 as 30401 in a header.
  set(_ainvil_header ${KokkosKernels_INCLUDE_DIRS}/KokkosCore_config.h)
  file(STRINGS ${_ainvil_header} _ainvil_line REGEX "define KOKKOS_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+$" _ainvil_number "${_ainvil_line}")
  math(EXPR _ainvil_major "${_ainvil_number} / 10000")
  math(EXPR _ainvil_minor "${_ainvil_number} / 100 % 100")
  math(EXPR _ainvil_patch "${_ainvil_number} % 100")
  set(AINVIL_KOKKOS_VERSION ${_ainvil_major}.${_ainvil_minor}.${_ainvil_patch})
  set(AINVIL_KOKKOS_BACKENDS)
  file(STRINGS ${_ainvil_header} _ainvil_lines
       REGEX "define KOKKOS_ENABLE_(CUDA|HIP|SYCL|OPENMP|THREADS|HPX|SERIAL)$")
  foreach(_ainvil_line IN LISTS _ainvil_lines)
    string(REGEX MATCH "[A-Z]+$" _ainvil_backend "${_ainvil_line}")
    list(APPEND AINVIL_KOKKOS_BACKENDS ${_ainvil_backend})
  endforeach()
  if(CUDA IN_LIST AINVIL_KOKKOS_BACKENDS)
    set(Kokkos_ENABLE_CUDA ON)
  endif()
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT CMAKE_CXX_FLAGS MATCHES "-O")
  message(WARNING "CMAKE_BUILD_TYPE is empty, so nothing is optimised, and what Kokkos and Ainvil have "
          "in headers runs many times slower: configure with -DCMAKE_BUILD_TYPE=Release.")
endif()
