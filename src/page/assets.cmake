# SPDX-License-Identifier: MIT
# What the report's page is made of, taken into the program as it is built: our own style and code, and the chart library
# dygraphs (MIT) from the Debian package libjs-dygraphs. Nothing of the library is kept in the repository.
enable_language(ASM)

find_file(OFFHOOK_DYGRAPHS_JS dygraphs/dygraph.min.js PATHS /usr/share/javascript NO_DEFAULT_PATH)
find_file(OFFHOOK_DYGRAPHS_CSS dygraphs/dygraph.min.css PATHS /usr/share/javascript NO_DEFAULT_PATH)
if(NOT OFFHOOK_DYGRAPHS_JS OR NOT OFFHOOK_DYGRAPHS_CSS)
  message(FATAL_ERROR "The report's chart library is missing: install the Debian package libjs-dygraphs "
    "(`apt-get install libjs-dygraphs`; `./dev build` does it), or set OFFHOOK_DYGRAPHS_JS and OFFHOOK_DYGRAPHS_CSS "
    "to the files dygraph.min.js and dygraph.min.css of dygraphs 2.2.")
endif()

set(page ${CMAKE_CURRENT_LIST_DIR}/assets)
set(assembly ".section .rodata\n")
set(depends)
# offhook_asset(name file...): the files, one after the other, as `const char name[]` up to `name_end`.
function(offhook_asset name)
  string(APPEND assembly ".global ${name}\n${name}:\n")
  foreach(file ${ARGN})
    string(APPEND assembly ".incbin \"${file}\"\n")
  endforeach()
  string(APPEND assembly ".global ${name}_end\n${name}_end:\n.byte 0\n")
  set(assembly "${assembly}" PARENT_SCOPE)
  set(depends ${depends} ${ARGN} PARENT_SCOPE)
endfunction()

# Its license wants its notice in every copy: NOTICE goes into each page before it.
file(READ ${PROJECT_SOURCE_DIR}/NOTICE notice)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/NOTICE)
set(notice_js ${CMAKE_CURRENT_BINARY_DIR}/notice.js)
file(CONFIGURE OUTPUT ${notice_js} CONTENT "/*!\n@notice@*/\n" @ONLY)
offhook_asset(offhook_chart_library_js ${notice_js} ${OFFHOOK_DYGRAPHS_JS})
offhook_asset(offhook_chart_library_css ${OFFHOOK_DYGRAPHS_CSS})
offhook_asset(offhook_page_js ${page}/draw.js ${page}/save.js ${page}/table.js ${page}/series.js ${page}/timeline.js ${page}/map.js ${page}/law.js ${page}/advice.js ${page}/plot.js ${page}/reproduce.js ${page}/host.js ${page}/decode.js ${page}/mttf.js ${page}/memo.js ${page}/compare.js ${page}/trunk.js ${page}/live.js ${page}/page.js)
offhook_asset(offhook_page_css ${page}/page.css)
string(APPEND assembly ".section .note.GNU-stack,\"\",%progbits\n")

set(source ${CMAKE_CURRENT_BINARY_DIR}/report_assets.S)
file(CONFIGURE OUTPUT ${source} CONTENT "${assembly}" @ONLY)
set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${depends}" LANGUAGE ASM)
target_sources(module_src_page PRIVATE ${source})
