/* SPDX-License-Identifier: MIT
 *
 * A modem on standard input and output: 16-bit samples at 8000 Hz in, as many out.
 *
 *   modem call|answer SEND RECEIVE < samples > samples
 *
 * SEND is transferred to the far end, what comes from there is written to RECEIVE. Exit status 0: SEND was
 * acknowledged.
 *
 *   cc modem.c -o modem $(pkg-config --cflags --libs offhook)
 */
#include <offhook/modem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 160, TWO_SECONDS = 100 }; /* samples; blocks */

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN); /* the far end is gone: writing fails, which ends the call */
  if (argc != 4) return fprintf(stderr, "usage: modem call|answer SEND RECEIVE\n"), 1;
  FILE* send = fopen(argv[2], "rb");
  FILE* receive = send ? fopen(argv[3], "wb") : NULL;
  if (!receive) return perror(argv[send ? 3 : 2]), 1;

  struct oh_modem_config config;
  oh_modem_default_config(&config, strcmp(argv[1], "call") ? OH_PUMP_ANSWER : OH_PUMP_CALL);
  config.io_delay_samples = BLOCK;
  const char* reason = "";
  struct oh_modem* modem = oh_modem_create(&config, &reason);
  if (!modem) return fprintf(stderr, "modem: %s\n", reason), 1;

  int16_t samples[BLOCK] = {0}; /* the first output block is silence, because one end must begin */
  uint8_t out[512], in[512];
  size_t left = 0, quiet = 0;
  int sent = 0, hanging_up = 0;
  struct oh_modem_status status = {.struct_size = sizeof status};
  while (fwrite(samples, sizeof *samples, BLOCK, stdout) == BLOCK && !fflush(stdout) &&
         fread(samples, sizeof *samples, BLOCK, stdin) == BLOCK) {
    oh_modem_process(modem, samples, samples, BLOCK);
    const size_t got = oh_modem_read(modem, in, sizeof in);
    fwrite(in, 1, got, receive);
    oh_modem_get_status(modem, &status);
    if (status.ended) break;
    if (status.connected) {
      if (left == 0) left = fread(out, 1, sizeof out, send);
      const size_t taken = oh_modem_write(modem, out, left);
      memmove(out, out + taken, left -= taken);
      sent = sent || (left == 0 && feof(send) && status.unacknowledged == 0);
      quiet = got > 0 || !sent ? 0 : quiet + 1;
    }
    /* The caller hangs up when everything was sent and nothing has arrived for a while. */
    if (config.role == OH_PUMP_CALL && quiet > TWO_SECONDS && !hanging_up) {
      oh_modem_hang_up(modem);
      hanging_up = 1;
    }
  }
  fprintf(stderr, "modem: %s, %s\n", sent ? "all acknowledged" : "not all was sent", oh_modem_failure(modem));
  oh_modem_destroy(modem);
  return fclose(receive) || fclose(send) || !sent;
}
