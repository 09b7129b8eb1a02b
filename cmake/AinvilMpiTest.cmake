# AINVIL_TEST_TIMEOUT: a test that runs so long hangs. Alone on two cores none takes a twentieth of it,
# but others may keep these busy.
set(AINVIL_TEST_TIMEOUT 1200 CACHE STRING "Seconds after which a test has failed")
set(AINVIL_LONG_TEST_TIMEOUT 7200 CACHE STRING "The same of tests that take minutes")

# ainvil_add_mpi_test(name ranks command...): a test that runs a command with that many ranks.
#
# AINVIL_MPI_ENVIRONMENT is what Open MPI needs to be told where ranks outnumber cores, the user is
# root, or a container forbids ranks to read each other's memory. Threads that wait sleep, too. With
# `pml` it does not look for networks first, a third of the time of a small job (0.57 s, then 0.40).
set(AINVIL_MPI_ENVIRONMENT
    OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_pml=ob1)

function(ainvil_add_mpi_test name ranks)
  add_test(NAME ${name}
           COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
                   ${ARGN} ${MPIEXEC_POSTFLAGS})
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ranks} TIMEOUT ${AINVIL_TEST_TIMEOUT}
                       ENVIRONMENT "${AINVIL_MPI_ENVIRONMENT}")
endfunction()
