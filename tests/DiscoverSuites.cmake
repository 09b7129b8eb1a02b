# ctest reads this file when it starts: adds one test a suite of GoogleTest's, which runs in a process of
# its own. Starting a process takes longer than most tests, under a sanitizer many times as long.
#
# executable   of GoogleTest
# left_out     pattern of tests that do not run, as behind the - of --gtest_filter; may be empty
# environment  variables of the tests
# timeout      of a suite, in seconds

if(NOT EXISTS ${executable})
  add_test(ainvil-tests-not-built ${executable})
  return()
endif()
execute_process(COMMAND ${executable} --gtest_list_tests --gtest_filter=*-${left_out}
                OUTPUT_VARIABLE list RESULT_VARIABLE result TIMEOUT 300)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${executable} does not list its tests: ${result}")
endif()
# "Suite." or "Instance/Suite/0.  # TypeParam = ...", and its tests indented behind it.
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\." suites "${list}")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n|\\.$" "" suite "${suite}")
  add_test(${suite} ${executable} --gtest_filter=${suite}.*-${left_out})
  set_tests_properties(${suite} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT ${timeout})
endforeach()
