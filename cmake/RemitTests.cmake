# Unit tests (one gtest program per folder), fuzz targets, and the properties that all tests share.
find_package(GTest QUIET)

# Environment that tests read: where the sources are (golden files) and, if present, the shared data.
set(REMIT_TEST_ENVIRONMENT "REMIT_SOURCE_DIR=${CMAKE_SOURCE_DIR}")

# remit_add_unit_tests(): `<folder>_test` from src/<folder>/*_test.cc, for each folder that has some.
function(remit_add_unit_tests)
  foreach(folder IN LISTS REMIT_FOLDERS)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cc")
    if(sources)
      remit_add_gtest(${folder}_test SOURCES ${sources} LINKS remit_${folder})
    endif()
  endforeach()
endfunction()

# remit_add_gtest(NAME SOURCES ... LINKS ...): a gtest program, registered whole as one ctest test.
# Death tests and big tables are cheaper in one process than in hundreds.
function(remit_add_gtest name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "GoogleTest was not found: run scripts/test, which installs it")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE remit_settings ${arg_LINKS} GTest::gtest GTest::gmock
                                        GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${REMIT_TEST_ENVIRONMENT};${arg_ENVIRONMENT}"
                                          TIMEOUT ${arg_TIMEOUT})
endfunction()

# remit_add_fuzz_targets(): one libFuzzer program per src/<folder>/*_fuzz.cc; its corpus is
# tests/fuzz/<name>/, replayed by the ctest test of the same name.
function(remit_add_fuzz_targets)
  foreach(folder IN LISTS REMIT_FOLDERS)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*_fuzz.cc")
    foreach(source IN LISTS sources)
      get_filename_component(name "${source}" NAME_WE)
      add_executable(${name} "${source}")
      target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
      target_link_libraries(${name} PRIVATE remit_settings remit_${folder})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      add_test(NAME ${name} COMMAND ${name} -runs=0 "${CMAKE_SOURCE_DIR}/tests/fuzz/${name}")
    endforeach()
  endforeach()
endfunction()

# remit_add_corpus_replays(): the same corpora, replayed by the ordinary tests with any compiler.
function(remit_add_corpus_replays)
  foreach(folder IN LISTS REMIT_FOLDERS)
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*_fuzz.cc")
    foreach(source IN LISTS sources)
      get_filename_component(name "${source}" NAME_WE)
      add_executable(${name}_replay "${source}" "${CMAKE_SOURCE_DIR}/tests/fuzz/replay.cc")
      target_include_directories(${name}_replay PRIVATE "${CMAKE_SOURCE_DIR}")
      target_link_libraries(${name}_replay PRIVATE remit_settings remit_${folder})
      add_test(NAME ${name}_replay COMMAND ${name}_replay "${CMAKE_SOURCE_DIR}/tests/fuzz/${name}")
    endforeach()
  endforeach()
endfunction()
