# What is installed, by components: Ainvil_core, Ainvil_tpetra, Ainvil_petsc, Ainvil_hypre.
set(AINVIL_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/Ainvil)

# The fallback is part of a clone, which may go once Ainvil is installed; the user's Kokkos stays.
set(AINVIL_KOKKOS_HINT ${AINVIL_KOKKOSKERNELS_DIR})
set(ainvil_brings_kokkos OFF)
string(FIND "${AINVIL_KOKKOSKERNELS_DIR}" "${AINVIL_KOKKOS_FALLBACK}/" position)
if(AINVIL_INSTALL_KOKKOS AND AINVIL_KOKKOS_FALLBACK AND position EQUAL 0)
  set(ainvil_brings_kokkos ON)
  message(STATUS "Ainvil installs that Kokkos along with itself (AINVIL_INSTALL_KOKKOS)")
  file(RELATIVE_PATH AINVIL_KOKKOS_HINT ${AINVIL_KOKKOS_FALLBACK} ${AINVIL_KOKKOSKERNELS_DIR})
  configure_file(cmake/InstallKokkos.cmake.in ${PROJECT_BINARY_DIR}/InstallKokkos.cmake @ONLY)
  install(SCRIPT ${PROJECT_BINARY_DIR}/InstallKokkos.cmake COMPONENT Ainvil_core)
endif()

# What users include: the tops of these folders, and few headers of rooms. Headers of kernels are in none
# of them.
set(ainvil_public_headers
  core/*.hpp partition/*.hpp precond/*.hpp recommend/*.hpp solvers/*.hpp
  core/gallery/Ainvil_CavityNewton.hpp core/gallery/Ainvil_Gallery.hpp
  core/io/Ainvil_MatrixMarket.hpp core/io/Ainvil_VectorFiles.hpp
  precond/kokkoskernels/*.hpp precond/polynomial/Ainvil_Polynomial.hpp)

# ainvil_install_headers(component headers installed): with what the headers include, without what those
# include that another component installs.
function(ainvil_install_headers component headers installed)
  install(CODE "set(ainvil_source [==[${PROJECT_SOURCE_DIR}]==])
set(ainvil_headers [==[${headers}]==])
set(ainvil_installed [==[${installed}]==])
set(ainvil_destination \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/ainvil\")
include([==[${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake]==])" COMPONENT ${component})
endfunction()

install(TARGETS ainvil ainvil_gallery EXPORT AinvilTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_core
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_core)
if(AINVIL_HAVE_IO)
  install(TARGETS ainvil_io EXPORT AinvilIoTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_core
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_core)
  install(EXPORT AinvilIoTargets NAMESPACE Ainvil:: DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
          COMPONENT Ainvil_core)
endif()
install(FILES ${PROJECT_BINARY_DIR}/include/Ainvil.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ainvil COMPONENT Ainvil_core)
ainvil_install_headers(Ainvil_core "${ainvil_public_headers}" "")
install(EXPORT AinvilTargets NAMESPACE Ainvil:: DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
        COMPONENT Ainvil_core)

configure_package_config_file(cmake/AinvilConfig.cmake.in ${PROJECT_BINARY_DIR}/AinvilConfig.cmake
                              INSTALL_DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
                              PATH_VARS AINVIL_KOKKOS_HINT)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/AinvilConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/AinvilConfig.cmake
              ${PROJECT_BINARY_DIR}/AinvilConfigVersion.cmake
              cmake/AinvilKokkos.cmake
              cmake/FindMETIS.cmake
        DESTINATION ${AINVIL_INSTALL_CMAKEDIR} COMPONENT Ainvil_core)

if(AINVIL_ENABLE_TPETRA)
  install(TARGETS ainvil_tpetra EXPORT AinvilTpetraTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_tpetra
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_tpetra)
  set(patterns core/tpetra/Ainvil_Tpetra*.hpp precond/tpetra/Ainvil_Tpetra*.hpp
               solvers/tpetra/Ainvil_Tpetra*.hpp)
  if(AINVIL_HAVE_STRATIMIKOS)
    list(APPEND patterns precond/tpetra/Ainvil_Stratimikos*.hpp solvers/tpetra/Ainvil_Stratimikos*.hpp)
  endif()
  ainvil_install_headers(Ainvil_tpetra "${patterns}" "${ainvil_public_headers}")
  install(EXPORT AinvilTpetraTargets NAMESPACE Ainvil:: DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
          COMPONENT Ainvil_tpetra)
  install(FILES cmake/AinvilTrilinos.cmake DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
          COMPONENT Ainvil_tpetra)
endif()

# ainvil_install_for_c(name file header)
function(ainvil_install_for_c name file header)
  install(TARGETS ainvil_${name} EXPORT Ainvil${file}Targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Ainvil_${name})
  install(FILES precond/${name}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ainvil
          COMPONENT Ainvil_${name})
  install(EXPORT Ainvil${file}Targets NAMESPACE Ainvil:: DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
          COMPONENT Ainvil_${name})
  install(FILES cmake/Ainvil${file}Library.cmake DESTINATION ${AINVIL_INSTALL_CMAKEDIR}
          COMPONENT Ainvil_${name})
endfunction()

if(AINVIL_HAVE_PETSC)
  ainvil_install_for_c(petsc Petsc Ainvil_Petsc.hpp)
endif()
if(AINVIL_HAVE_HYPRE)
  ainvil_install_for_c(hypre Hypre Ainvil_Hypre.h)
endif()
