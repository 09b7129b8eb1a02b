# Installs what was built into a scratch prefix; an outside project then finds, links and runs it.
# All have the label installation: the preset asan leaves them out.

get_property(tests_before DIRECTORY PROPERTY TESTS)
set(prefix ${CMAKE_CURRENT_BINARY_DIR}/prefix)
set(outside_options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS}
                    -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
                    -DAinvil_DIR=${prefix}/${AINVIL_INSTALL_CMAKEDIR})
if(ainvil_brings_kokkos)
  list(APPEND outside_options -DNOT_FROM=${AINVIL_KOKKOS_FALLBACK})
  set(taken ${CMAKE_CURRENT_BINARY_DIR}/prefix-with-kokkos)
  file(WRITE ${taken}/lib/cmake/Kokkos/KokkosConfigCommon.cmake "# of another Kokkos\n")
  add_test(NAME install-beside-another-kokkos
           COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${taken}
                   --component Ainvil_core)
  set_tests_properties(install-beside-another-kokkos
                       PROPERTIES PASS_REGULAR_EXPRESSION "holds another Kokkos")
endif()
set(components core)
if(AINVIL_HAVE_PETSC)
  list(APPEND components petsc)
endif()
if(AINVIL_HAVE_HYPRE)
  list(APPEND components hypre)
endif()
if(AINVIL_ENABLE_TPETRA)
  list(APPEND components tpetra)
endif()
foreach(component IN LISTS components)
  add_test(NAME install-${component}
           COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix}
                   --component Ainvil_${component})
  set_tests_properties(install-${component} PROPERTIES FIXTURES_SETUP installed)
  add_test(NAME consumer-${component}
           COMMAND ${CMAKE_CTEST_COMMAND}
                   --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer
                                    ${CMAKE_CURRENT_BINARY_DIR}/consumer-${component}
                   --build-generator ${CMAKE_GENERATOR}
                   --build-options ${outside_options} -DCOMPONENT=${component})
  set_tests_properties(consumer-${component} PROPERTIES FIXTURES_REQUIRED installed
                                                        FIXTURES_SETUP consumer-${component})
  # nvcc takes no precompiled headers, and minutes without.
  if(NOT Kokkos_ENABLE_CUDA AND (AINVIL_ENABLE_CORE_TESTS OR NOT component STREQUAL core))
    add_test(NAME headers-${component}
             COMMAND ${CMAKE_CTEST_COMMAND}
                     --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/headers
                                      ${CMAKE_CURRENT_BINARY_DIR}/headers-${component}
                     --build-generator ${CMAKE_GENERATOR}
                     --build-options ${outside_options} -DCOMPONENT=${component})
    set_tests_properties(headers-${component} PROPERTIES FIXTURES_REQUIRED installed PROCESSORS 2
                                                         TIMEOUT ${AINVIL_LONG_TEST_TIMEOUT})
  endif()
endforeach()
if(Python3_FOUND)
  add_test(NAME installed-headers
           COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/installed_headers_test.py
                   ${PROJECT_SOURCE_DIR} ${prefix}/${CMAKE_INSTALL_INCLUDEDIR}/ainvil)
  set_tests_properties(installed-headers PROPERTIES FIXTURES_REQUIRED installed)
endif()
add_test(NAME consumer-io
         COMMAND ${CMAKE_CTEST_COMMAND}
                 --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer
                                  ${CMAKE_CURRENT_BINARY_DIR}/consumer-io
                 --build-generator ${CMAKE_GENERATOR}
                 --build-options ${outside_options} -DCOMPONENT=io
                 --test-command ${CMAKE_CURRENT_BINARY_DIR}/consumer-io/consumer)
set_tests_properties(consumer-io PROPERTIES FIXTURES_REQUIRED installed)
# What find_package refuses or warns of, and what it says then.
foreach(case IN ITEMS "unknown-version;-DVERSION=1.0;requested version \"1.0\""
                      "unknown-component;-DCOMPONENT=mpi;no component mpi. its components are"
                      "no-build-type;-DCMAKE_BUILD_TYPE=;CMAKE_BUILD_TYPE is empty")
  list(GET case 0 what)
  list(GET case 1 option)
  list(GET case 2 message)
  add_test(NAME consumer-of-${what}
           COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_SOURCE_DIR}/consumer
                   -B ${CMAKE_CURRENT_BINARY_DIR}/consumer-of-${what}
                   -G ${CMAKE_GENERATOR} ${outside_options} ${option})
  set_tests_properties(consumer-of-${what} PROPERTIES FIXTURES_REQUIRED installed
                                                      PASS_REGULAR_EXPRESSION "${message}")
endforeach()
# Configured without METIS, nothing looks for it.
if(AINVIL_ENABLE_CORE_TESTS)
  add_test(NAME configure-without-metis
           COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${CMAKE_CURRENT_BINARY_DIR}/without-metis
                   -G ${CMAKE_GENERATOR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
                   -DKokkosKernels_DIR=${AINVIL_KOKKOSKERNELS_DIR} -DAINVIL_ENABLE_METIS=OFF
                   -DAINVIL_ENABLE_TESTS=OFF -DAINVIL_ENABLE_PERF=OFF -DAINVIL_ENABLE_PETSC=OFF
                   -DAINVIL_ENABLE_HYPRE=OFF)
  set_tests_properties(configure-without-metis PROPERTIES FAIL_REGULAR_EXPRESSION METIS)
endif()
# Template arguments that the library is not compiled for end with a sentence, not in the linker.
foreach(case IN ITEMS "scalar;compiled for double and float, without const"
                      "device;of an execution space or a memory space take its device_type"
                      "layout;multivectors are column-major"
                      "layout_of_spmv;multivectors are column-major"
                      "layout_of_axpby;multivectors are column-major")
  list(GET case 0 what)
  list(GET case 1 message)
  add_test(NAME consumer-of-unsupported-${what}
           COMMAND ${CMAKE_CTEST_COMMAND}
                   --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/consumer
                                    ${CMAKE_CURRENT_BINARY_DIR}/consumer-of-unsupported-${what}
                   --build-generator ${CMAKE_GENERATOR}
                   --build-options ${outside_options} -DSOURCE=unsupported_${what}.cpp)
  set_tests_properties(consumer-of-unsupported-${what}
                       PROPERTIES FIXTURES_REQUIRED installed PASS_REGULAR_EXPRESSION "${message}")
endforeach()
# Ainvil as part of another project, which has stricter rules than ours. With Clang, where there is
# one, and the system's Kokkos, as for the fuzz targets: its own OpenMP may be missing. GCC compiles
# all of Ainvil by these rules in the preset asan.
if(AINVIL_ENABLE_CORE_TESTS AND NOT Kokkos_ENABLE_CUDA)
  find_program(AINVIL_CLANG clang++)
  mark_as_advanced(AINVIL_CLANG)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/consumer-subproject)
  if(AINVIL_CLANG)
    set(options -DCMAKE_CXX_COMPILER=${AINVIL_CLANG})
  else()
    set(options -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DKokkosKernels_DIR=${AINVIL_KOKKOSKERNELS_DIR})
  endif()
  add_test(NAME consumer-subproject
           COMMAND ${CMAKE_CTEST_COMMAND}
                   --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/subproject ${folder}
                   --build-generator ${CMAKE_GENERATOR} --build-options ${options}
                   --test-command ${folder}/consumer)
  set_tests_properties(consumer-subproject PROPERTIES PROCESSORS 2 TIMEOUT ${AINVIL_TEST_TIMEOUT})
  if(AINVIL_CLANG)
    set_tests_properties(consumer-subproject
                         PROPERTIES SKIP_REGULAR_EXPRESSION "Kokkos Kernels, but found none"
                         ENVIRONMENT "Kokkos_ROOT=;KokkosKernels_ROOT=;CMAKE_PREFIX_PATH=")
  endif()
endif()
add_test(NAME consumer-core-run COMMAND ${CMAKE_CURRENT_BINARY_DIR}/consumer-core/consumer)
set_tests_properties(consumer-core-run PROPERTIES FIXTURES_REQUIRED consumer-core)
foreach(name IN ITEMS petsc hypre)
  if(name IN_LIST components)
    ainvil_add_mpi_test(consumer-${name}-run 2 ${CMAKE_CURRENT_BINARY_DIR}/consumer-${name}/consumer)
    set_tests_properties(consumer-${name}-run PROPERTIES FIXTURES_REQUIRED consumer-${name})
  endif()
endforeach()
if(AINVIL_ENABLE_TPETRA)
  foreach(ranks IN ITEMS 1 2)
    set(name consumer-tpetra-run-${ranks})
    ainvil_add_mpi_test(${name} ${ranks} ${CMAKE_CURRENT_BINARY_DIR}/consumer-tpetra/consumer)
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED consumer-tpetra)
  endforeach()
endif()
get_property(installation_tests DIRECTORY PROPERTY TESTS)
list(REMOVE_ITEM installation_tests ${tests_before})
set_tests_properties(${installation_tests} PROPERTIES LABELS installation)
