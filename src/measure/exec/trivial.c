/* SPDX-License-Identifier: MIT
 *
 * The trivial program that `offhook measure host` starts, linked statically and dynamically. */
int main(void) {
  return 0;
}
