# SPDX-License-Identifier: MIT
#
# For CPack, whose CPACK_STRIP_FILES leaves out static libraries: a gigabyte of debug information of Debian's flags.
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.a)
if(archives)
  execute_process(COMMAND strip --strip-debug ${archives} COMMAND_ERROR_IS_FATAL ANY)
endif()
