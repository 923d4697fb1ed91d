# cmake -P: builds the viewer in WORK_DIR from copies of SOURCES (separated by |) of SOURCE_DIR, and puts the page at PAGE. If that fails, the
# page of an earlier build stays or an empty one tells the program that it has no viewer, and STAMP is not written.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "|" ";" SOURCES "${SOURCES}")

function(give_up what log)
  if(EXISTS ${PAGE})
    set(kept "the program keeps what it had")
  else()
    file(TOUCH ${PAGE})
    set(kept "`tendril view` will say that it is missing")
  endif()
  message("The viewer was not built (${what}): ${kept}. Everything else is built. Log: ${log}")
endfunction()

file(REMOVE ${STAMP})
file(REMOVE_RECURSE ${WORK_DIR}/src ${WORK_DIR}/fixtures ${WORK_DIR}/dist)
foreach(source IN LISTS SOURCES)
  get_filename_component(folder ${source} DIRECTORY)
  file(COPY ${SOURCE_DIR}/${source} DESTINATION ${WORK_DIR}/${folder})
endforeach()

# Packages are fetched when the list of their versions changed.
file(SHA256 ${WORK_DIR}/package-lock.json lock)
set(installed "")
if(EXISTS ${WORK_DIR}/installed)
  file(READ ${WORK_DIR}/installed installed)
endif()
if(NOT lock STREQUAL installed)
  file(REMOVE ${WORK_DIR}/installed)
  execute_process(COMMAND ${NPM} ci --prefer-offline --no-audit --no-fund --fetch-retries=1 WORKING_DIRECTORY ${WORK_DIR}
                  RESULT_VARIABLE status OUTPUT_FILE ${WORK_DIR}/npm-ci.log ERROR_FILE ${WORK_DIR}/npm-ci.log)
  if(NOT status EQUAL 0)
    give_up("npm could not fetch its packages" ${WORK_DIR}/npm-ci.log)
    return()
  endif()
  file(WRITE ${WORK_DIR}/installed ${lock})
endif()

execute_process(COMMAND ${NPM} run build WORKING_DIRECTORY ${WORK_DIR} RESULT_VARIABLE status OUTPUT_FILE ${WORK_DIR}/build.log
                ERROR_FILE ${WORK_DIR}/build.log)
if(NOT status EQUAL 0 OR NOT EXISTS ${WORK_DIR}/dist/index.html)
  give_up("its sources do not build" ${WORK_DIR}/build.log)
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${WORK_DIR}/dist/index.html ${PAGE})
file(TOUCH ${STAMP})
