// SPDX-License-Identifier: MIT
#include "src/program/command/program.h"

int main(int argc, char** argv) {
  return offhook::command::run_program(argc, argv);
}
