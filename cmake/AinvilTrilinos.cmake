# Defines Ainvil::Trilinos from the Trilinos packages that were found: imported targets where
# Trilinos has them (from 14.0), else its variables (Debian 12 has 13.2). MPI comes with Tpetra.

function(ainvil_trilinos_target name)
  if(TARGET ${name})
    return()
  endif()
  add_library(${name} INTERFACE IMPORTED)
  foreach(package IN LISTS ARGN)
    if(TARGET ${package}::all_libs)
      target_link_libraries(${name} INTERFACE ${package}::all_libs)
    elseif(${package}_LIBRARIES)
      target_include_directories(${name} INTERFACE ${${package}_INCLUDE_DIRS})
      target_link_libraries(${name} INTERFACE ${${package}_LIBRARIES})
    endif()
  endforeach()
endfunction()

ainvil_trilinos_target(Ainvil::Trilinos Stratimikos ThyraTpetraAdapters Ifpack2 Belos Tpetra Teuchos)
target_link_libraries(Ainvil::Trilinos INTERFACE MPI::MPI_CXX)
