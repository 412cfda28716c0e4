/* SPDX-License-Identifier: MIT
 *
 * An ALSA plugin for the tests: a sound device by the monotonic clock without any hardware. What is played on one end
 * is captured on the other, as snd-aloop does in the kernel; both ends' positions are those of one clock.
 *
 *   pcm.NAME {
 *     type offhook_loop
 *     file PATH     # the loop's memory, made when absent; the same for both ends
 *     end 0         # or 1
 *     fail NAME     # none; xrun, vanish, stall, rate: at `after` samples of capture, once; rate: from then on, and
 *                   # so after a new start; drift: playback alone stops there, until a new start
 *     after N
 *     rate N        # Hz it can do; 8000
 *     delay N       # samples that the device keeps besides, unknown to ALSA, of what it plays; 0
 *     hybrid 1      # what it plays is heard at this end, too, 12 dB down
 *   }
 */
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { LOOP_SAMPLES = 1 << 16, RINGS = 4 };

struct loop {
  snd_pcm_ioplug_t io;
  /* [RINGS][LOOP_SAMPLES]: what ends 0 and 1 play to each other, and the echo of each; position p of the clock is in
   * slot p % LOOP_SAMPLES. */
  int16_t* samples;
  int end;
  char fail[16];
  long after;
  unsigned rate;
  long delay;
  int hybrid;
  double start_ns; /* of the stream */
  long long base;  /* the clock's position at the start */
  int running, vanished, changed, drifted;
};

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Of capture. A rate applies to both directions, a drift to playback. */
static int fails(struct loop* loop, const char* how, long passed) {
  const snd_pcm_stream_t whose = strcmp(how, "drift") == 0 ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE;
  return strcmp(loop->fail, how) == 0 && passed >= loop->after &&
         (loop->io.stream == whose || strcmp(how, "rate") == 0);
}

static int start(snd_pcm_ioplug_t* io) {
  struct loop* loop = io->private_data;
  loop->running = 1;
  if (loop->changed) loop->after = 0;
  if (loop->drifted) loop->fail[0] = 0;
  loop->start_ns = now_ns();
  loop->base = (long long)(loop->start_ns * 1e-9 * io->rate);
  const long period_ns = (long)(1e9 * (double)io->period_size / io->rate);
  const struct itimerspec every = {{period_ns / 1000000000, period_ns % 1000000000},
                                   {period_ns / 1000000000, period_ns % 1000000000}};
  return timerfd_settime(io->poll_fd, 0, &every, NULL);
}

static int stop(snd_pcm_ioplug_t* io) {
  const struct itimerspec never = {{0, 0}, {0, 0}};
  return timerfd_settime(io->poll_fd, 0, &never, NULL);
}

static snd_pcm_sframes_t pointer(snd_pcm_ioplug_t* io) {
  struct loop* loop = io->private_data;
  if (!loop->running) return 0;
  long passed = (long)((now_ns() - loop->start_ns) * 1e-9 * io->rate);
  if (fails(loop, "vanish", passed)) {
    loop->vanished = 1; /* the library treats it as an xrun; prepare() reports it */
    return -ENODEV;
  }
  if (fails(loop, "stall", passed)) passed = loop->after;
  if (fails(loop, "drift", passed)) {
    passed = loop->after;
    loop->drifted = 1;
  }
  if (fails(loop, "rate", passed)) { /* 10,000 Hz from then on */
    passed += (passed - loop->after) / 4;
    loop->changed = 1;
  }
  if (fails(loop, "xrun", passed)) {
    loop->fail[0] = 0;
    return -EPIPE;
  }
  /* The library computes from the difference to the last position how much is waiting; more than the buffer is an xrun.
   */
  const snd_pcm_sframes_t waiting =
      io->stream == SND_PCM_STREAM_CAPTURE ? passed - (long)io->appl_ptr : (long)io->appl_ptr - passed;
  if (waiting < 0 && io->stream == SND_PCM_STREAM_PLAYBACK) return -EPIPE;
  if (waiting > (snd_pcm_sframes_t)io->buffer_size) return -EPIPE;
  return passed;
}

static snd_pcm_sframes_t transfer(snd_pcm_ioplug_t* io, const snd_pcm_channel_area_t* areas, snd_pcm_uframes_t offset,
                                  snd_pcm_uframes_t size) {
  struct loop* loop = io->private_data;
  int16_t* at = (int16_t*)areas->addr + areas->first / 16 + offset * (areas->step / 16);
  const int playing = io->stream == SND_PCM_STREAM_PLAYBACK;
  int16_t* ring = loop->samples + (playing ? loop->end : !loop->end) * LOOP_SAMPLES;
  int16_t* echo = loop->samples + (2 + loop->end) * LOOP_SAMPLES;
  for (snd_pcm_uframes_t i = 0; i < size; ++i) {
    const long long position = loop->base + (long long)io->appl_ptr + (long long)i + (playing ? loop->delay : 0);
    const size_t slot = (size_t)(position % LOOP_SAMPLES);
    if (playing) {
      ring[slot] = at[i];
      if (loop->hybrid) echo[slot] = at[i] / 4;
    } else {
      const int heard = ring[slot] + echo[slot];
      at[i] = (int16_t)(heard > INT16_MAX ? INT16_MAX : heard < INT16_MIN ? INT16_MIN : heard);
      ring[slot] = echo[slot] = 0; /* read once, so that a stopped player is silent */
    }
  }
  return (snd_pcm_sframes_t)size;
}

/* The clock of poll: one read per wake-up. */
static int poll_revents(snd_pcm_ioplug_t* io, struct pollfd* fds, unsigned n, unsigned short* events) {
  uint64_t ticks;
  (void)n;
  *events = 0;
  if ((fds->revents & POLLIN) != 0 && read(io->poll_fd, &ticks, sizeof ticks) == sizeof ticks)
    *events = io->stream == SND_PCM_STREAM_CAPTURE ? POLLIN : POLLOUT;
  return 0;
}

static int prepare(snd_pcm_ioplug_t* io) {
  struct loop* loop = io->private_data;
  if (loop->vanished) return -ENODEV;
  loop->running = 0;
  /* Samples queued before the start begin at this position; start() follows a moment later. */
  loop->base = (long long)(now_ns() * 1e-9 * io->rate);
  return 0;
}

static int close_loop(snd_pcm_ioplug_t* io) {
  struct loop* loop = io->private_data;
  munmap(loop->samples, RINGS * LOOP_SAMPLES * sizeof *loop->samples);
  close(io->poll_fd);
  free(loop);
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {.start = start,
                                                    .stop = stop,
                                                    .pointer = pointer,
                                                    .transfer = transfer,
                                                    .prepare = prepare,
                                                    .close = close_loop,
                                                    .poll_revents = poll_revents};

SND_PCM_PLUGIN_DEFINE_FUNC(offhook_loop) {
  (void)root;
  struct loop* loop = calloc(1, sizeof *loop);
  if (loop == NULL) return -ENOMEM;
  loop->rate = 8000;
  const char* file = NULL;
  snd_config_iterator_t i, next;
  snd_config_for_each(i, next, conf) {
    snd_config_t* entry = snd_config_iterator_entry(i);
    const char *key, *text;
    long number;
    if (snd_config_get_id(entry, &key) < 0) continue;
    if (strcmp(key, "file") == 0) snd_config_get_string(entry, &file);
    if (strcmp(key, "fail") == 0 && snd_config_get_string(entry, &text) == 0)
      snprintf(loop->fail, sizeof loop->fail, "%s", text);
    if (snd_config_get_integer(entry, &number) != 0) continue;
    if (strcmp(key, "end") == 0) loop->end = number != 0;
    if (strcmp(key, "after") == 0) loop->after = number;
    if (strcmp(key, "rate") == 0) loop->rate = (unsigned)number;
    if (strcmp(key, "delay") == 0) loop->delay = number;
    if (strcmp(key, "hybrid") == 0) loop->hybrid = number != 0;
  }
  const size_t bytes = RINGS * LOOP_SAMPLES * sizeof *loop->samples;
  const int fd = file != NULL ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
    SNDERR("offhook_loop: no memory at %s", file != NULL ? file : "(no file)");
    free(loop);
    return -EINVAL;
  }
  loop->samples = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  loop->io.version = SND_PCM_IOPLUG_VERSION;
  loop->io.name = "Offhook's loop";
  loop->io.flags = SND_PCM_IOPLUG_FLAG_MONOTONIC | SND_PCM_IOPLUG_FLAG_BOUNDARY_WA | SND_PCM_IOPLUG_FLAG_LISTED;
  loop->io.poll_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  loop->io.poll_events = POLLIN;
  loop->io.callback = &callbacks;
  loop->io.private_data = loop;
  int error = loop->samples == MAP_FAILED ? -ENOMEM : snd_pcm_ioplug_create(&loop->io, name, stream, mode);
  const unsigned access[] = {SND_PCM_ACCESS_MMAP_INTERLEAVED, SND_PCM_ACCESS_RW_INTERLEAVED};
  const unsigned format[] = {SND_PCM_FORMAT_S16};
  if (error == 0) error = snd_pcm_ioplug_set_param_list(&loop->io, SND_PCM_IOPLUG_HW_ACCESS, 2, access);
  if (error == 0) error = snd_pcm_ioplug_set_param_list(&loop->io, SND_PCM_IOPLUG_HW_FORMAT, 1, format);
  if (error == 0) error = snd_pcm_ioplug_set_param_minmax(&loop->io, SND_PCM_IOPLUG_HW_CHANNELS, 1, 1);
  if (error == 0) error = snd_pcm_ioplug_set_param_minmax(&loop->io, SND_PCM_IOPLUG_HW_RATE, loop->rate, loop->rate);
  if (error == 0) error = snd_pcm_ioplug_set_param_minmax(&loop->io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 32, 4096);
  if (error == 0) error = snd_pcm_ioplug_set_param_minmax(&loop->io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 64, 32768);
  if (error != 0) return error;
  *pcmp = loop->io.pcm;
  return 0;
}

SND_PCM_PLUGIN_SYMBOL(offhook_loop);
