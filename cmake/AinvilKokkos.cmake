# Defines Ainvil::KokkosKernels (Kokkos included) and AINVIL_KOKKOS_VERSION from the Kokkos Kernels
# that was found. Used by Ainvil's own build and by its installed package.
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
else()
  # Trilinos up to 13.4 tells its own version only; Kokkos writes 3.4.1 as 30401 in a header.
  set(_ainvil_header ${KokkosKernels_INCLUDE_DIRS}/KokkosCore_config.h)
  file(STRINGS ${_ainvil_header} _ainvil_line REGEX "define KOKKOS_VERSION +[0-9]+")
  string(REGEX MATCH "[0-9]+$" _ainvil_number "${_ainvil_line}")
  math(EXPR _ainvil_major "${_ainvil_number} / 10000")
  math(EXPR _ainvil_minor "${_ainvil_number} / 100 % 100")
  math(EXPR _ainvil_patch "${_ainvil_number} % 100")
  set(AINVIL_KOKKOS_VERSION ${_ainvil_major}.${_ainvil_minor}.${_ainvil_patch})
  file(STRINGS ${_ainvil_header} _ainvil_line REGEX "define KOKKOS_ENABLE_CUDA$")
  if(_ainvil_line)
    set(Kokkos_ENABLE_CUDA ON)
  endif()
endif()
