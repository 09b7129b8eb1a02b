# Finds METIS 5, whose packages have no CMake files: METIS::METIS, METIS_FOUND, METIS_VERSION.
# Honours METIS_ROOT. Used by Ainvil's own build and by its installed package.

find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)

set(METIS_VERSION)
if(METIS_INCLUDE_DIR)
  file(STRINGS ${METIS_INCLUDE_DIR}/metis.h _metis_lines REGEX "define METIS_VER_")
  string(REGEX REPLACE "[^0-9]+" "." METIS_VERSION "${_metis_lines}")
  string(REGEX MATCH "[0-9].*[0-9]" METIS_VERSION "${METIS_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR
                                  VERSION_VAR METIS_VERSION)

if(METIS_FOUND AND NOT TARGET METIS::METIS)
  add_library(METIS::METIS UNKNOWN IMPORTED)
  set_target_properties(METIS::METIS PROPERTIES
    IMPORTED_LOCATION ${METIS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${METIS_INCLUDE_DIR})
endif()
