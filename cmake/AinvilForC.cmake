# Decides whether there are Ainvil::petsc and Ainvil::hypre, the adapters for libraries of C, and tells
# why not: sets AINVIL_HAVE_PETSC and AINVIL_HAVE_HYPRE.

# Whether Kokkos is static libraries, which find their way into a shared one whole.
function(ainvil_kokkos_is_static out)
  set(type)
  if(TARGET Kokkos::kokkoscore) # Debian's has another name, and is shared
    get_target_property(type Kokkos::kokkoscore TYPE)
  endif()
  if(type STREQUAL STATIC_LIBRARY)
    set(${out} ON PARENT_SCOPE)
  else()
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# An adapter must bring its Kokkos along, as position-independent code, or share that of Trilinos: another
# shared one would be mistaken for it where the application's own libraries use Kokkos, as those of
# Debian's PETSc do. Sets `out` to what is missing.
function(ainvil_for_c_check out)
  if(Kokkos_ENABLE_HIP)
    set(${out} "it is for hosts and CUDA, and this Kokkos has HIP" PARENT_SCOPE)
    return()
  endif()
  ainvil_kokkos_is_static(is_static)
  set(source ${PROJECT_BINARY_DIR}/CMakeFiles/ainvil_for_c_check.cpp)
  file(WRITE ${source} "namespace Kokkos { void finalize(); }\nvoid use() { Kokkos::finalize(); }\n")
  unset(AINVIL_FOR_C_LINKS CACHE) # of another Kokkos
  try_compile(AINVIL_FOR_C_LINKS ${PROJECT_BINARY_DIR}/CMakeFiles/ainvil_for_c_check SOURCES ${source}
              COMPILE_DEFINITIONS -fPIC LINK_OPTIONS -shared LINK_LIBRARIES Ainvil::KokkosKernels)
  if(NOT AINVIL_FOR_C_LINKS OR NOT (AINVIL_ENABLE_TPETRA OR is_static))
    set(${out} "it needs a Kokkos of static libraries, compiled with CMAKE_POSITION_INDEPENDENT_CODE=ON \
(scripts/setup.sh builds one), or that of Trilinos" PARENT_SCOPE)
    return()
  endif()
  set(${out} "" PARENT_SCOPE)
endfunction()

function(ainvil_petsc_check out)
  include(AinvilPetscLibrary)
  if(NOT TARGET Ainvil::PetscLibrary)
    set(${out} "pkg-config finds no PETSc from 3.18 on (Debian: petsc-dev), or CMake no MPI" PARENT_SCOPE)
    return()
  endif()
  if(NOT EXISTS ${AINVIL_PETSC_INCLUDEDIR}/petsc/private/pcimpl.h)
    set(${out} "PETSc in ${AINVIL_PETSC_INCLUDEDIR} lacks petsc/private/pcimpl.h" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${AINVIL_PETSC_INCLUDEDIR}/petscconf.h settings
       REGEX "define PETSC_USE_(64BIT_INDICES|COMPLEX|REAL_DOUBLE|REAL_SINGLE|REAL___FLOAT128)")
  if(settings MATCHES "64BIT_INDICES|COMPLEX|SINGLE|FLOAT128")
    set(${out} "the PETSc in ${AINVIL_PETSC_INCLUDEDIR} has 64-bit indices, or scalars that are not \
double; Ainvil takes one of 32-bit indices and real double precision" PARENT_SCOPE)
    return()
  endif()
  set(${out} "" PARENT_SCOPE)
endfunction()

function(ainvil_hypre_check out)
  if(Kokkos_ENABLE_CUDA)
    set(${out} "it takes matrices of hosts, and this Kokkos is one for GPUs" PARENT_SCOPE)
    return()
  endif()
  include(AinvilHypreLibrary)
  if(NOT TARGET Ainvil::HypreLibrary)
    set(${out} "CMake finds no hypre with _hypre_parcsr_ls.h (Debian: libhypre-dev), or no MPI" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${AINVIL_HYPRE_INCLUDE_DIR}/HYPRE_config.h settings REGEX
       "define HYPRE_(BIGINT|COMPLEX|SINGLE|LONG_DOUBLE|SEQUENTIAL|USING_GPU)")
  if(settings)
    set(${out} "the hypre in ${AINVIL_HYPRE_INCLUDE_DIR} has 64-bit integers, scalars that are not double, \
no MPI, or its arrays on a GPU; Ainvil takes one for hosts of 32-bit HYPRE_Int and real double precision" PARENT_SCOPE)
    return()
  endif()
  set(${out} "" PARENT_SCOPE)
endfunction()

# ainvil_decide_for_c(NAME): sets AINVIL_HAVE_NAME as AINVIL_ENABLE_NAME asks for and as it can be.
macro(ainvil_decide_for_c NAME)
  string(TOLOWER ${NAME} ainvil_for_c_name)
  set(AINVIL_HAVE_${NAME} OFF)
  if(AINVIL_ENABLE_${NAME} AND (AINVIL_TOP_LEVEL OR NOT AINVIL_ENABLE_${NAME} STREQUAL "AUTO"))
    ainvil_for_c_check(ainvil_for_c_lacks)
    if(ainvil_for_c_lacks)
      # nothing else has to be looked for
    elseif(ainvil_for_c_name STREQUAL petsc)
      ainvil_petsc_check(ainvil_for_c_lacks)
    else()
      ainvil_hypre_check(ainvil_for_c_lacks)
    endif()
    if(NOT ainvil_for_c_lacks)
      set(AINVIL_HAVE_${NAME} ON)
    elseif(AINVIL_ENABLE_${NAME} STREQUAL "AUTO")
      message(STATUS "No Ainvil::${ainvil_for_c_name}: ${ainvil_for_c_lacks}")
    else()
      message(FATAL_ERROR "AINVIL_ENABLE_${NAME} is ${AINVIL_ENABLE_${NAME}}, but ${ainvil_for_c_lacks}.")
    endif()
  endif()
endmacro()

ainvil_decide_for_c(PETSC)
ainvil_decide_for_c(HYPRE)
if(AINVIL_HAVE_PETSC)
  include(AinvilPetscLibrary)
  message(STATUS "Ainvil::petsc is for PETSc ${AINVIL_PETSC_VERSION} in ${AINVIL_PETSC_PREFIX}")
endif()
if(AINVIL_HAVE_HYPRE)
  include(AinvilHypreLibrary)
  message(STATUS "Ainvil::hypre is for ${AINVIL_HYPRE_LIBRARY}")
endif()
