// SPDX-License-Identifier: MIT
#include "offhook/program.h"

int main(int argc, char** argv) {
  return offhook::run_program(argc, argv);
}
