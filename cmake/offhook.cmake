# SPDX-License-Identifier: MIT
# How the rooms are built: hosted libraries, freestanding libraries, tests.

find_program(OFFHOOK_CCACHE ccache)
if(OFFHOOK_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${OFFHOOK_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${OFFHOOK_CCACHE})
endif()

add_library(offhook_warnings INTERFACE)
target_compile_options(offhook_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)

# Debian installs these libraries, some of them without a CMake package.
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile)
pkg_check_modules(ALSA REQUIRED IMPORTED_TARGET alsa)
pkg_check_modules(PORTAUDIO REQUIRED IMPORTED_TARGET portaudio-2.0)
find_library(SPANDSP_LIBRARY spandsp REQUIRED)

# The sources below one folder that belong to a room. A folder is a module; adding a file needs no CMake change.
function(offhook_sources out)
  set(all)
  foreach(dir ${ARGN})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.c ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND all ${found})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# offhook_library(name DIRS a b ... LINK x y ...): a hosted room.
function(offhook_library name)
  cmake_parse_arguments(A "" "" "DIRS;LINK" ${ARGN})
  offhook_sources(sources ${A_DIRS})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${A_LINK} PRIVATE offhook_warnings)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${A_LINK})
  endif()
endfunction()

# offhook_freestanding(name DIRS a b ... LINK x ...): no OS, no exceptions, no RTTI; what it may leave undefined is
# checked by tests/unit/freestanding_test.cmake. The same objects go into a kernel module (tests/live/kernel): an interrupt
# there writes below the stack pointer, and its loader knows no GOT. LINK may only name other freestanding rooms.
function(offhook_freestanding name)
  offhook_library(${name} ${ARGN})
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_compile_options(${name} PRIVATE -ffreestanding -fno-builtin-malloc -fno-math-errno -ffp-contract=off
      -fno-stack-protector -fvisibility=hidden $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-mno-red-zone>
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>
      $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fconstexpr-steps=100000000>)  # tables made at compile time
  endif()
  set_property(GLOBAL APPEND PROPERTY OFFHOOK_FREESTANDING ${name})
endfunction()
