# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: the program with its data, liboffhook (C ABI), the C++ libraries as components of a
# CMake package, their headers, and the freestanding core as sources for a kernel build.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# liboffhook: the datapumps, the driver and the modem behind the C ABI of include/offhook, and nothing that needs the
# sound libraries. Only oh_* is exported.
set(modules ${OFFHOOK_offhook_dsp_MODULES} ${OFFHOOK_offhook_driver_core_MODULES}
  ${OFFHOOK_offhook_modem_MODULES})
offhook_objects(objects link ${modules})
file(WRITE ${PROJECT_BINARY_DIR}/liboffhook.map "{ global: oh_*; local: *; };\n")
add_library(offhook_shared SHARED ${objects})
target_link_options(offhook_shared PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/liboffhook.map -Wl,--no-undefined)
set_target_properties(offhook_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX EXPORT_NAME offhook)
add_library(offhook_static STATIC ${objects})
set_target_properties(offhook_static PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME static)
foreach(library offhook_shared offhook_static)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME offhook)
  target_link_libraries(${library} PRIVATE ${link})
  add_dependencies(${library} offhook_dsp)
endforeach()

# liboffhook-simulator: the simulator behind the C ABI of offhook/simulator.h and offhook/plugin.h.
file(WRITE ${PROJECT_BINARY_DIR}/liboffhook-simulator.map "{ global: oh_simulation_*; oh_register_pump; local: *; };\n")
add_library(offhook_simulator SHARED src/program/simulation.cpp)
target_link_options(offhook_simulator PRIVATE -Wl,--version-script=${PROJECT_BINARY_DIR}/liboffhook-simulator.map
  -Wl,--no-undefined -Wl,--as-needed)
set_target_properties(offhook_simulator PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX
  OUTPUT_NAME offhook-simulator)
target_link_libraries(offhook_simulator PRIVATE offhook_app offhook_warnings ${CMAKE_DL_LIBS})
offhook_use_precompiled(offhook_simulator offhook_pch)

# The components, each in an export set with those that have the same dependencies (OffhookConfig.cmake.in):
# dsp <- core <- modem, which need nothing that a user has to find; hostsim; decode; driver; the whole program.
set(offhook_sets "Core:shared=offhook static=static simulator=simulator dsp=dsp driver_core=core modem=modem"
  "Hostsim:base=base fax=fax context=context hostsim=hostsim" "Decode:decode=decode" "Driver:session=driver"
  "Program:traces=traces app=program")
add_library(offhook_plugin INTERFACE)
set_target_properties(offhook_plugin PROPERTIES EXPORT_NAME plugin)
install(TARGETS offhook_plugin EXPORT OffhookCore
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/offhook)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Offhook)
set(components)
foreach(set ${offhook_sets})
  string(REGEX REPLACE ":.*" "" name ${set})
  string(REGEX REPLACE ".*:" "" members ${set})
  separate_arguments(members)
  foreach(member ${members})
    string(REPLACE "=" ";" member ${member})
    list(GET member 0 target)
    list(GET member 1 exported)
    list(APPEND components offhook_${target})
    set_target_properties(offhook_${target} PROPERTIES EXPORT_NAME ${exported})
    install(TARGETS offhook_${target} EXPORT Offhook${name}
      INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/offhook)
  endforeach()
  install(EXPORT Offhook${name} NAMESPACE Offhook:: FILE Offhook${name}Targets.cmake DESTINATION ${package})
endforeach()
configure_package_config_file(cmake/OffhookConfig.cmake.in ${PROJECT_BINARY_DIR}/OffhookConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/OffhookConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/OffhookConfig.cmake ${PROJECT_BINARY_DIR}/OffhookConfigVersion.cmake DESTINATION ${package})
# The prefix is known at the installation: `cmake --install BUILD --prefix PREFIX`.
install(CODE "
  get_filename_component(PREFIX \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  if(PREFIX MATCHES /_CPack_Packages/)  # a tarball is unpacked anywhere
    set(PREFIX /usr)
  endif()
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  foreach(name offhook offhook-simulator)
    configure_file(\"${PROJECT_SOURCE_DIR}/cmake/\${name}.pc.in\" \"${PROJECT_BINARY_DIR}/\${name}.pc\" @ONLY)
  endforeach()")
install(FILES ${PROJECT_BINARY_DIR}/offhook.pc ${PROJECT_BINARY_DIR}/offhook-simulator.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Headers: the C ABI as <offhook/pump.h>; those of the C++ components beside them, as their sources include them.
install(DIRECTORY include/offhook DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY dsp driver hostsim DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/offhook FILES_MATCHING PATTERN "*.h"
  PATTERN "driver/tty" EXCLUDE PATTERN "driver/kernel" EXCLUDE PATTERN "driver/linux" EXCLUDE
  PATTERN "alsa_card.h" EXCLUDE PATTERN "portaudio_card.h" EXCLUDE PATTERN "libre.h" EXCLUDE
  PATTERN "session_refresh.h" EXCLUDE
  PATTERN "dsp/radio" EXCLUDE PATTERN "hostsim/air" EXCLUDE)
install(DIRECTORY src/decode DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/offhook/src FILES_MATCHING PATTERN "*.h")

# The kernel module with the freestanding core, as sources for DKMS: `dkms add PREFIX/src/offhook-VERSION`. Whoever builds
# for a kernel by hand installs this component alone.
set(module src/offhook-${PROJECT_VERSION})
configure_file(driver/linux/dkms.conf.in driver/linux/dkms.conf @ONLY)
file(WRITE ${PROJECT_BINARY_DIR}/driver/linux/VERSION "${PROJECT_VERSION}\n")
install(FILES driver/linux/Kbuild ${PROJECT_BINARY_DIR}/driver/linux/dkms.conf ${PROJECT_BINARY_DIR}/driver/linux/VERSION
  DESTINATION ${module} COMPONENT kernel)
install(DIRECTORY include dsp DESTINATION ${module} COMPONENT kernel FILES_MATCHING PATTERN "*.h" PATTERN "*.cpp"
  PATTERN "*.inc" PATTERN "fftw" EXCLUDE PATTERN "radio" EXCLUDE)
install(DIRECTORY driver/core driver/modem driver/linux DESTINATION ${module}/driver COMPONENT kernel FILES_MATCHING
  PATTERN "*.h" PATTERN "*.c" PATTERN "*.cpp")

# All of it by one name, and neither tests nor benchmarks: `./dev demo` builds that, so that `cmake --install` works after it.
add_custom_target(offhook_installed DEPENDS offhook offhook_pages ${components} ${OFFHOOK_TRIVIAL})

# The program.
install(TARGETS offhook)
install(TARGETS ${OFFHOOK_TRIVIAL} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/offhook)
set(pages ${PROJECT_BINARY_DIR}/src)
install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY ${pages}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 FILES_MATCHING PATTERN "*.5")
install(FILES ${pages}/help-completion-bash/offhook DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/help-completion-zsh/_offhook DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/help-completion-fish/offhook.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY traces/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/offhook FILES_MATCHING PATTERN "*.toml")
# The units name the program by its prefix, as the .pc files above.
foreach(unit offhook-modem@.service offhook-pool@.service)
  install(CODE "
    file(READ \"${PROJECT_SOURCE_DIR}/system/${unit}\" unit)
    string(REPLACE /usr/bin/offhook \"\${PREFIX}/${CMAKE_INSTALL_BINDIR}/offhook\" unit \"\${unit}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/system/${unit}\" \"\${unit}\")")
  install(FILES ${PROJECT_BINARY_DIR}/system/${unit} DESTINATION lib/systemd/system)
endforeach()
install(FILES system/offhook-awake@.service DESTINATION lib/systemd/system)
install(FILES system/70-offhook.rules DESTINATION lib/udev/rules.d)
install(FILES LICENSE NOTICE README.md ARCHITECTURE.md CAVEATS.md CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "make.py" EXCLUDE)
