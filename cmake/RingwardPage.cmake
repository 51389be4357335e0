# ringward_page(VARIABLE): the C++ source with the files of the watcher's page (web/), for the target that is defined in the
# same folder; empty where the page cannot be bundled, which is no error. What npm fetches lies in web/node_modules, is
# shared by all presets, and is fetched anew only when web/package-lock.json has changed.
option(RINGWARD_PAGE "Bundle the watcher's page where node and npm are there" ON)

# Leaves in `why` what is missing, or nothing.
function(ringward_fetch_page_packages why)
  set(${why} "" PARENT_SCOPE)
  if(NOT RINGWARD_PAGE)
    set(${why} "RINGWARD_PAGE is off" PARENT_SCOPE)
    return()
  endif()
  find_program(RINGWARD_NODE node)
  find_program(RINGWARD_NPM npm)
  if(NOT RINGWARD_NODE OR NOT RINGWARD_NPM)
    set(${why} "no node or no npm (scripts/setup.sh --with-integration)" PARENT_SCOPE)
    return()
  endif()
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(stamp ${web}/node_modules/.ringward-lock)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
  file(SHA256 ${web}/package-lock.json wanted)
  set(fetched "")
  if(EXISTS ${stamp})
    file(READ ${stamp} fetched)
  endif()
  if(fetched STREQUAL wanted)
    return()
  endif()
  # Nothing that was fetched may run before it is asked to: no install scripts.
  execute_process(COMMAND ${RINGWARD_NPM} ci --ignore-scripts --no-audit --no-fund --fetch-retries=1
                          --fetch-retry-mintimeout=1000 --fetch-timeout=30000
                  WORKING_DIRECTORY ${web} TIMEOUT 180 RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
  if(failed)
    string(REGEX MATCH "[^\n]*(code|ERR)[^\n]*" line "${said}")
    set(${why} "npm could not fetch its packages: ${line}" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
endfunction()

function(ringward_page variable)
  set(${variable} "" PARENT_SCOPE)
  ringward_fetch_page_packages(why)
  if(why)
    message(STATUS "The watcher's page is left out: ${why}. `ringward watch --listen` serves a line of text in its place.")
    return()
  endif()
  message(STATUS "The watcher's page is bundled from web/")
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(made ${PROJECT_BINARY_DIR}/page)
  file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.css)
  add_custom_command(OUTPUT ${made}/web_assets.cc
                     COMMAND ${RINGWARD_NODE} ${web}/build.mjs --out ${made}
                     DEPENDS ${sources} ${web}/build.mjs ${web}/index.html ${web}/icon.svg ${web}/tsconfig.json
                             ${web}/node_modules/.ringward-lock
                     COMMENT "Bundling the watcher's page" VERBATIM)
  set(${variable} ${made}/web_assets.cc PARENT_SCOPE)
endfunction()
