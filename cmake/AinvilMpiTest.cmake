# ainvil_add_mpi_test(name ranks command...): a test that runs a command with that many ranks.
#
# AINVIL_MPI_ENVIRONMENT is what Open MPI needs to be told where ranks outnumber cores, the user is
# root, or a container forbids ranks to read each other's memory.
set(AINVIL_MPI_ENVIRONMENT
    OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none)

function(ainvil_add_mpi_test name ranks)
  add_test(NAME ${name}
           COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
                   ${ARGN} ${MPIEXEC_POSTFLAGS})
  set_tests_properties(${name} PROPERTIES PROCESSORS ${ranks} TIMEOUT 300
                       ENVIRONMENT "${AINVIL_MPI_ENVIRONMENT}")
endfunction()
