# One call per folder of src/:
#
#   ringward_module(learn_data SOURCES csv_reader.cc DEPS base io LIBS zlib.h LINK ZLIB::ZLIB TESTS csv_reader_test.cc)
#
# NAME    the folder below src/ with '/' written as '_' (src/comm/gloo is comm_gloo)
# DEPS    the only modules whose headers this one may include (a leaf adds its parent)
# LIBS    the only third-party headers it may include: names or prefixes ending in '/'
# LINK    the CMake targets behind LIBS
# TESTS   gtest sources; they may include test_support headers of their own folder and of DEPS
# TEST_LABELS  further ctest labels (every test carries its module's name)
#
# Test sources share one precompiled gtest header and are not optimised: compiling them is most of a build, running them is
# not, and what they test is the library.
# `ctest -L layers` (tools/check_layers.py) reads these calls and refuses any other include.
if(BUILD_TESTING)
  set(RINGWARD_TEST_OPTIONS -O0)
  add_library(ringward_test_headers OBJECT ${CMAKE_CURRENT_LIST_DIR}/test_headers.cc)
  target_compile_features(ringward_test_headers PRIVATE cxx_std_20)
  # A precompiled header fits programs only when it is compiled as for a program.
  set_target_properties(ringward_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(ringward_test_headers PRIVATE -fPIE ${RINGWARD_TEST_OPTIONS})
  target_link_libraries(ringward_test_headers PRIVATE GTest::gmock ringward_warnings)
  target_precompile_headers(ringward_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endif()

# TARGET, a program or an object library, holds test sources.
function(ringward_compile_as_test target)
  target_link_libraries(${target} PRIVATE ringward_warnings GTest::gmock)
  target_compile_options(${target} PRIVATE -fPIE ${RINGWARD_TEST_OPTIONS})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_precompile_headers(${target} REUSE_FROM ringward_test_headers)
endfunction()

# The thread sanitizer can find nothing where nothing is shared: its build leaves out the tests of modules whose files name
# neither thread, atomic nor lock. What was left out stands in left_out_modules.txt of the build folder.
option(RINGWARD_ONLY_THREADED_TESTS "Build only the tests of modules with threads, atomics or locks" OFF)
set_property(GLOBAL PROPERTY RINGWARD_LEFT_OUT "")

# Sets RESULT to whether the module in the current folder shares anything between threads.
function(ringward_has_threads result)
  set(${result} OFF PARENT_SCOPE)
  file(GLOB files CONFIGURE_DEPENDS *.cc *.h)
  foreach(file IN LISTS files)
    file(STRINGS ${file} hits REGEX "std::(jthread|thread|atomic|mutex|condition_variable|async)|pthread_create" LIMIT_COUNT 1)
    if(hits)
      set(${result} ON PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(ringward_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;LIBS;LINK;TESTS;TEST_LABELS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ringward_module(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_SOURCES)
    add_library(ringward_${name} STATIC ${arg_SOURCES})
    target_link_libraries(ringward_${name} PRIVATE ringward_warnings)
    set(scope PUBLIC)
  else()
    add_library(ringward_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(ringward::${name} ALIAS ringward_${name})
  target_compile_features(ringward_${name} ${scope} cxx_std_20)
  target_include_directories(ringward_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  list(TRANSFORM arg_DEPS PREPEND ringward::)
  target_link_libraries(ringward_${name} ${scope} ${arg_DEPS} ${arg_LINK})
  if(RINGWARD_ONLY_THREADED_TESTS AND arg_TESTS)
    ringward_has_threads(threaded)
    if(NOT threaded)
      set_property(GLOBAL APPEND PROPERTY RINGWARD_LEFT_OUT ${name})
      set(arg_TESTS)
    endif()
  endif()
  if(arg_TESTS AND BUILD_TESTING)
    add_executable(${name}_test ${arg_TESTS})
    target_link_libraries(${name}_test PRIVATE ringward::${name} GTest::gtest_main)
    ringward_compile_as_test(${name}_test)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 120
                         PROPERTIES LABELS "${name};${arg_TEST_LABELS}" TIMEOUT 300)
  endif()
endfunction()
