# SPDX-License-Identifier: MIT
# How the modules are built, what each may include, and the libraries that are made of them.

find_program(OFFHOOK_CCACHE ccache)
if(OFFHOOK_CCACHE)
  # Trees at other places share what was compiled.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${OFFHOOK_CCACHE})   # what a precompiled header needs
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

set(whole_by_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(whole_by_default ON)
endif()
option(OFFHOOK_WHOLE "Optimise the datapumps as a whole (GCC)" ${whole_by_default})

add_library(offhook_warnings INTERFACE)
# Among files compiled together, a local name may be another file's name.
target_compile_options(offhook_warnings INTERFACE -Wall -Wextra $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  -Wconversion -Wno-sign-conversion)

# Each component is built with those below it, and needs the libraries of these alone: dsp and driver none but libc and libm.
set(OFFHOOK_COMPONENTS program CACHE STRING "What to build: a list of dsp, driver, modem, hostsim, decode, program (everything)")
set(OFFHOOK_BUILDS ${OFFHOOK_COMPONENTS})
foreach(component ${OFFHOOK_COMPONENTS})
  if(NOT component MATCHES "^(dsp|driver|modem|hostsim|decode|program)$")
    message(FATAL_ERROR "OFFHOOK_COMPONENTS: ${component}; expected dsp, driver, modem, hostsim, decode or program")
  endif()
endforeach()
foreach(uses program:hostsim program:decode hostsim:modem decode:modem modem:driver driver:dsp)
  string(REPLACE ":" ";" uses ${uses})
  list(GET uses 0 component)
  list(GET uses 1 below)
  if(component IN_LIST OFFHOOK_BUILDS)
    list(APPEND OFFHOOK_BUILDS ${below})
  endif()
endforeach()

# Debian installs these libraries, some of them without a CMake package.
if("modem" IN_LIST OFFHOOK_BUILDS)
  find_library(SPANDSP_LIBRARY spandsp REQUIRED)
  find_library(TIFF_LIBRARY tiff REQUIRED)  # libspandsp-dev depends on it
endif()
if("hostsim" IN_LIST OFFHOOK_BUILDS OR "decode" IN_LIST OFFHOOK_BUILDS)
  set(OFFHOOK_HAS_BASE ON)   # driver/base
  find_package(Threads REQUIRED)
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if("hostsim" IN_LIST OFFHOOK_BUILDS)
  find_path(RANDOM123_HEADERS Random123/philox.h REQUIRED)
endif()
if("decode" IN_LIST OFFHOOK_BUILDS)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile)
  pkg_check_modules(PCAP IMPORTED_TARGET libpcap)   # packet captures
endif()
if("program" IN_LIST OFFHOOK_BUILDS)
  find_package(CLI11 REQUIRED)
  find_path(BOOST_MATH_HEADERS boost/math/distributions.hpp REQUIRED)
  pkg_check_modules(ALSA REQUIRED IMPORTED_TARGET alsa)
  pkg_check_modules(PORTAUDIO REQUIRED IMPORTED_TARGET portaudio-2.0)
  pkg_check_modules(TRACECMD REQUIRED IMPORTED_TARGET libtracecmd)
  option(OFFHOOK_SIP "Calls by SIP, with libre and OpenSSL, if they are installed" ON)
  if(OFFHOOK_SIP)
    pkg_check_modules(LIBRE IMPORTED_TARGET libre)
    pkg_check_modules(OPENSSL IMPORTED_TARGET openssl>=3)
  endif()
  if(LIBRE_FOUND AND OPENSSL_FOUND AND OFFHOOK_SIP)
    set(OFFHOOK_HAS_SIP ON)
  else()
    message(STATUS "SIP is off: libre (libre-dev) or OpenSSL (libssl-dev) is not installed, or OFFHOOK_SIP is OFF")
  endif()
  pkg_check_modules(SRTP IMPORTED_TARGET libsrtp2)
  if(NOT SRTP_FOUND)
    message(STATUS "SRTP is off: libsrtp2 (libsrtp2-dev) is not installed")
  endif()
  find_path(DAHDI_HEADERS dahdi/user.h)  # the source asks for it by __has_include
  if(NOT DAHDI_HEADERS)
    message(STATUS "DAHDI is off: dahdi/user.h (dahdi-source) is not installed")
  endif()
  pkg_check_modules(HTTPLIB IMPORTED_TARGET cpp-httplib)
  if(NOT HTTPLIB_FOUND)
    message(STATUS "--page is off: cpp-httplib (libcpp-httplib-dev) is not installed")
  endif()
endif()

function(offhook_freestanding target)
  target_compile_options(${target} PRIVATE -ffreestanding -fno-builtin-malloc -fno-math-errno -ffp-contract=off
    -fno-stack-protector -fvisibility=hidden $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-mno-red-zone>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fconstexpr-steps=100000000>)  # tables made at compile time
endfunction()

# Precompiled headers, of the language and of libraries alone: a module includes no header of another module by them. One for
# each set of flags; every target that uses one has the flags of offhook_precompiled.
set(pch_by_default OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(pch_by_default ON)
endif()
option(OFFHOOK_PCH "Precompile the headers of libraries (GCC)" ${pch_by_default})
set(unity_by_default OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(unity_by_default ON)
endif()
option(OFFHOOK_UNITY "Compile the files of modules with many templates together" ${unity_by_default})
add_library(offhook_precompiled INTERFACE)
# Garbage collection costs the compiler 5 % of its time, and saves 200 MB. GCC 12 gives these warnings for correct uses of
# strings and optional values that it has inlined.
target_compile_options(offhook_precompiled INTERFACE -pthread
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess --param=ggc-min-heapsize=1048576 -Wno-array-bounds -Wno-maybe-uninitialized
  -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
set(OFFHOOK_STANDARD_HEADERS <algorithm> <array> <chrono> <cmath> <cstdint> <cstdio> <filesystem> <fstream> <functional> <limits>
  <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <tuple>
  <unordered_map> <utility> <variant> <vector>)
# offhook_precompile(NAME LINK library ... HEADERS <header> ... OPTIONS option ...)
function(offhook_precompile name)
  cmake_parse_arguments(A "" "" "LINK;HEADERS;OPTIONS" ${ARGN})
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${name}.cpp CONTENT "int ${name};\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  target_link_libraries(${name} PRIVATE offhook_precompiled offhook_warnings ${A_LINK})
  target_compile_options(${name} PRIVATE ${A_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${OFFHOOK_STANDARD_HEADERS} ${A_HEADERS})
endfunction()
# The commands that print, parse and report are compiled with less optimisation: at -O3 their templates take half as long again.
set(OFFHOOK_COLD_OPTIONS $<$<CONFIG:Release>:-O1>)
set(OFFHOOK_EXACT_OPTIONS -ffp-contract=off -fno-semantic-interposition)
if(OFFHOOK_PCH AND OFFHOOK_HAS_BASE)
  # Not json.hpp: its literals are inline functions, for which every file with the header would instantiate the whole parser.
  offhook_precompile(offhook_pch LINK fmt::fmt HEADERS <fmt/format.h> <fmt/ranges.h>)
  offhook_precompile(offhook_pch_cold LINK fmt::fmt HEADERS <fmt/format.h> <fmt/ranges.h> OPTIONS ${OFFHOOK_COLD_OPTIONS})
  offhook_precompile(offhook_pch_exact OPTIONS ${OFFHOOK_EXACT_OPTIONS})
endif()
# offhook_use_precompiled(TARGET PCH)
function(offhook_use_precompiled target pch)
  if(OFFHOOK_PCH)
    target_link_libraries(${target} PRIVATE offhook_precompiled)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# offhook_module(PATH [FREESTANDING] [COLD|EXACT] [UNITY] [KIND kind ROWS name ...] [PUBLIC header.h ...] [USES module ...] [LINK library ...]): a
# folder with sources. OFFHOOK_KIND_kind is then the list of the modules of a kind so far, OFFHOOK_ROWS_kind that of their
# rows in the kind's table.
#
# A module sees itself, the modules that it USES, those that they use, and nothing else: it is compiled with one include root
# that holds only these. A module must be declared before it is used, so there are no circles. PUBLIC names its headers in
# include/offhook. Adding a file needs no change here.
#
# UNITY: up to 32 files are compiled as one, in less than half the time, because they share what they instantiate. Two of them must
# not have equal names in anonymous namespaces. OFFHOOK_UNITY=OFF, as in the preset dev, compiles each file alone.
#
# COLD: see OFFHOOK_COLD_OPTIONS. EXACT: the same bytes on every build, so no fused multiply-add where the source has two
# roundings; nobody replaces these functions at run time, so they may be inlined.
#
# FREESTANDING: no OS, no exceptions, no RTTI; what such a module may leave undefined is checked by
# tests/unit/freestanding_test.cmake. The same objects go into a kernel module (tests/live/kernel): an interrupt there
# writes below the stack pointer, and its loader knows no GOT.
function(offhook_module path)
  cmake_parse_arguments(A "FREESTANDING;COLD;EXACT;UNITY" "KIND" "ROWS;PUBLIC;USES;LINK" ${ARGN})
  string(REPLACE "/" "_" module ${path})
  set(root ${PROJECT_BINARY_DIR}/modules/${module})
  set(modules ${path})
  set(headers ${A_PUBLIC})
  set(link ${A_LINK})
  foreach(used ${A_USES})
    string(REPLACE "/" "_" used_module ${used})
    if(NOT TARGET module_${used_module})
      message(FATAL_ERROR "${path} uses ${used}, which is no module declared before it")
    endif()
    foreach(what modules headers link)
      get_target_property(more module_${used_module} OFFHOOK_${what})
      list(APPEND ${what} ${more})
    endforeach()
  endforeach()
  foreach(what modules headers link)
    list(REMOVE_DUPLICATES ${what})
  endforeach()

  file(REMOVE_RECURSE ${root})
  foreach(one ${modules})
    cmake_path(GET one PARENT_PATH parent)
    file(MAKE_DIRECTORY ${root}/${parent})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${one} ${root}/${one} SYMBOLIC)
  endforeach()
  file(MAKE_DIRECTORY ${root}/offhook)
  foreach(header ${headers})
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/offhook/${header} ${root}/offhook/${header} SYMBOLIC)
  endforeach()

  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${path}/*.c ${PROJECT_SOURCE_DIR}/${path}/*.cpp)
  if(sources)
    add_library(module_${module} OBJECT ${sources})
    target_include_directories(module_${module} PRIVATE ${root})
    target_link_libraries(module_${module} PRIVATE ${link} offhook_warnings)
    if(A_UNITY AND OFFHOOK_UNITY)
      set_target_properties(module_${module} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
      # GCC takes the files for headers: it warns of a private struct with a member from an anonymous namespace.
      target_compile_options(module_${module} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    if(A_FREESTANDING)
      offhook_freestanding(module_${module})
    elseif(A_EXACT)
      target_compile_options(module_${module} PRIVATE ${OFFHOOK_EXACT_OPTIONS})
      offhook_use_precompiled(module_${module} offhook_pch_exact)
    elseif(A_COLD)
      target_compile_options(module_${module} PRIVATE ${OFFHOOK_COLD_OPTIONS})
      offhook_use_precompiled(module_${module} offhook_pch_cold)
    elseif(fmt::fmt IN_LIST link)
      offhook_use_precompiled(module_${module} offhook_pch)
    endif()
  else()
    add_library(module_${module} INTERFACE)
  endif()
  set_target_properties(module_${module} PROPERTIES OFFHOOK_uses "${A_USES}" OFFHOOK_modules "${modules}"
    OFFHOOK_headers "${headers}" OFFHOOK_link "${link}")
  set_property(GLOBAL APPEND PROPERTY OFFHOOK_MODULES ${path})
  if(A_KIND)
    set(OFFHOOK_KIND_${A_KIND} ${OFFHOOK_KIND_${A_KIND}} ${path} PARENT_SCOPE)
    set(OFFHOOK_ROWS_${A_KIND} ${OFFHOOK_ROWS_${A_KIND}} ${A_ROWS} PARENT_SCOPE)
  endif()
endfunction()

# offhook_table(kind PATH): the module at PATH has the table of a kind. Its "tables/KIND.h" includes KIND.h of every module of
# the kind that has one, and OFFHOOK_ROWS(ROW) is ROW of each row.
function(offhook_table kind path)
  set(text)
  foreach(one ${OFFHOOK_KIND_${kind}})
    if(EXISTS ${PROJECT_SOURCE_DIR}/${one}/${kind}.h)
      string(APPEND text "#include \"${one}/${kind}.h\"\n")
    endif()
  endforeach()
  list(TRANSFORM OFFHOOK_ROWS_${kind} REPLACE ".+" "ROW(\\0)" OUTPUT_VARIABLE rows)
  list(JOIN rows " " rows)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/tables/${kind}.h CONTENT "${text}#define OFFHOOK_ROWS(ROW) ${rows}\n")
  string(REPLACE "/" "_" module ${path})
  target_include_directories(module_${module} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()

# offhook_objects(objects link module ...): the objects of modules, and what they link with besides.
function(offhook_objects out_objects out_link)
  set(objects)
  set(link)
  foreach(path ${ARGN})
    string(REPLACE "/" "_" module ${path})
    get_target_property(type module_${module} TYPE)
    get_target_property(whole module_${module} OFFHOOK_whole)
    if(whole)
      set_source_files_properties(${whole} PROPERTIES GENERATED ON EXTERNAL_OBJECT ON)
      list(APPEND objects ${whole})
    elseif(type STREQUAL "OBJECT_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:module_${module}>)
    endif()
    get_target_property(more module_${module} OFFHOOK_link)
    list(APPEND link ${more})
  endforeach()
  list(REMOVE_DUPLICATES objects)
  list(REMOVE_DUPLICATES link)
  set(${out_objects} ${objects} PARENT_SCOPE)
  set(${out_link} ${link} PARENT_SCOPE)
endfunction()

# The one object of modules that are optimised as a whole: a call from one file into another is inlined as one within a file
# is. The bits are the same. What comes of it is an ordinary object, so whoever links it needs no compiler of ours.
function(offhook_whole name)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  foreach(path ${ARGN})
    string(REPLACE "/" "_" module ${path})
    get_target_property(type module_${module} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      target_compile_options(module_${module} PRIVATE -flto)
      set_target_properties(module_${module} PROPERTIES OFFHOOK_whole ${whole})
      list(APPEND objects $<TARGET_OBJECTS:module_${module}>)
    endif()
  endforeach()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  add_custom_command(OUTPUT ${whole} DEPENDS ${objects} COMMENT "Optimising ${name} as a whole"
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -fPIC -flto=auto -flinker-output=nolto-rel -r -nostdlib -o ${whole} ${objects}
    COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# offhook_library(name [FREESTANDING] [WHOLE] MODULES module ... [LINK library ...]): modules in one archive, and what they need
# besides. WHOLE: see offhook_whole.
function(offhook_library name)
  cmake_parse_arguments(A "FREESTANDING;WHOLE" "" "MODULES;LINK" ${ARGN})
  if(A_WHOLE AND OFFHOOK_WHOLE)
    offhook_whole(${name} ${A_MODULES})
  endif()
  offhook_objects(objects link ${A_MODULES})
  add_library(${name} STATIC ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(${name} PUBLIC ${A_LINK} ${link})
  set(OFFHOOK_${name}_MODULES ${A_MODULES} CACHE INTERNAL "")
  if(A_FREESTANDING)
    set_property(GLOBAL APPEND PROPERTY OFFHOOK_FREESTANDING ${name})
  endif()
endfunction()
