# Defines Ainvil::HypreLibrary, hypre with MPI; nothing where there is none. HYPRE_ROOT leads to one. Used
# by Ainvil's own build and by its installed package.

if(NOT TARGET Ainvil::HypreLibrary)
  find_package(MPI QUIET COMPONENTS CXX)
  find_path(AINVIL_HYPRE_INCLUDE_DIR _hypre_parcsr_ls.h HINTS ${HYPRE_ROOT} $ENV{HYPRE_ROOT}
            PATH_SUFFIXES include hypre DOC "The folder in which hypre's headers are")
  find_library(AINVIL_HYPRE_LIBRARY HYPRE HINTS ${HYPRE_ROOT} $ENV{HYPRE_ROOT} PATH_SUFFIXES lib
               DOC "hypre's library")
  mark_as_advanced(AINVIL_HYPRE_INCLUDE_DIR AINVIL_HYPRE_LIBRARY)
  if(AINVIL_HYPRE_INCLUDE_DIR AND AINVIL_HYPRE_LIBRARY AND MPI_CXX_FOUND)
    add_library(Ainvil::HypreLibrary INTERFACE IMPORTED)
    target_include_directories(Ainvil::HypreLibrary SYSTEM INTERFACE ${AINVIL_HYPRE_INCLUDE_DIR})
    target_link_libraries(Ainvil::HypreLibrary INTERFACE ${AINVIL_HYPRE_LIBRARY} MPI::MPI_CXX)
  endif()
endif()
