# Defines Ainvil::Trilinos from the Trilinos packages that were found: imported targets where
# Trilinos has them (from 14.0), else its variables (Debian 12 has 13.2). MPI comes with Tpetra.

if(NOT TARGET Ainvil::Trilinos)
  add_library(Ainvil::Trilinos INTERFACE IMPORTED)
  foreach(_ainvil_package IN ITEMS Stratimikos ThyraTpetraAdapters Ifpack2 Belos Tpetra Teuchos)
    if(TARGET ${_ainvil_package}::all_libs)
      target_link_libraries(Ainvil::Trilinos INTERFACE ${_ainvil_package}::all_libs)
    elseif(${_ainvil_package}_LIBRARIES)
      target_include_directories(Ainvil::Trilinos INTERFACE ${${_ainvil_package}_INCLUDE_DIRS})
      target_link_libraries(Ainvil::Trilinos INTERFACE ${${_ainvil_package}_LIBRARIES})
    endif()
  endforeach()
  target_link_libraries(Ainvil::Trilinos INTERFACE MPI::MPI_CXX)
endif()
