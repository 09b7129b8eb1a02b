# Defines Ainvil::PetscLibrary, PETSc from 3.18 on with MPI, as pkg-config has it; nothing where it has
# none. Used by Ainvil's own build and by its installed package.

if(NOT TARGET Ainvil::PetscLibrary)
  find_package(PkgConfig QUIET)
  find_package(MPI QUIET COMPONENTS CXX)
  if(PkgConfig_FOUND AND MPI_CXX_FOUND)
    pkg_search_module(AINVIL_PETSC QUIET PETSc>=3.18 petsc>=3.18)
    if(AINVIL_PETSC_FOUND)
      add_library(Ainvil::PetscLibrary INTERFACE IMPORTED)
      target_include_directories(Ainvil::PetscLibrary INTERFACE ${AINVIL_PETSC_INCLUDE_DIRS})
      target_link_libraries(Ainvil::PetscLibrary INTERFACE ${AINVIL_PETSC_LINK_LIBRARIES} MPI::MPI_CXX)
    endif()
  endif()
endif()
