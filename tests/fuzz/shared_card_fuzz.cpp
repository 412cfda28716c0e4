// SPDX-License-Identifier: MIT
//
// The socket protocol of a card, both ways. A server that sends whatever it likes is refused or obeyed, and a card
// whose shared memory holds whatever it likes, in any order, never takes the driver or the hardware out of bounds.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "driver/core/line_end.h"
#include "driver/live/shared_card.h"
#include "offhook/driver.h"
#include "offhook/modem_card.h"

namespace {

const std::string& path() {
  static const std::string p = "/tmp/offhook-fuzz-" + std::to_string(getpid());
  return p;
}

int listener() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path().data(), path().size());
  unlink(path().c_str());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd, 8) != 0) std::abort();
  return fd;
}

struct Silence final : offhook::LineEnd {
  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) override {
    std::copy(played, played + n, captured);
  }
};

/// What a server may send: any number of descriptors, of memory of any size.
void serve(int listening, int memory, int event, std::uint8_t how) {
  const int s = accept(listening, nullptr, nullptr);
  if (s < 0) return;
  const int fds[] = {memory, event, event};
  const std::size_t count = how % 4;
  char bytes[4] = {};
  iovec io{bytes, static_cast<std::size_t>(1 + how / 64)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), fds, count * sizeof(int));
  }
  if ((how & 8) == 0) sendmsg(s, &message, MSG_NOSIGNAL);
  close(s);
}

/// Part of the time of an input by which a card may be early.
constexpr std::size_t kMostFilledIn = 60 * OH_MODEM_RATE_HZ;

/// The driver and the hardware alternate on memory that the input overwrites.
void run(const offhook::SharedCard& modem, const std::uint8_t* data, std::size_t size) {
  const oh_card& card = modem.card();
  if (size > 1 << 16 || oh_driver_staging_size(&card) > 1 << 24) return;
  oh_card hardware;
  if (oh_card_attach(&hardware, &modem.state(), oh_card_size(&card.streams)) != 0) std::abort();
  oh_driver driver;
  oh_driver_config config{};
  config.card = card;
  static std::uint32_t longest;
  longest = oh_streams_block_max(&card.streams);
  std::vector<std::uint64_t> staging(oh_driver_staging_size(&card) / sizeof(std::uint64_t) + 1);
  config.staging = staging.data();
  config.pump = {[](void*, const void* rx, void* tx, std::size_t n) {
                   if (n > longest) std::abort();
                   std::memcpy(tx, rx, n * sizeof(std::int16_t));
                 },
                 [](void*, std::size_t n) {
                   if (n > kMostFilledIn) std::abort();  // whatever number the card reports
                 },
                 nullptr};
  static constexpr oh_context_ops kNoContext = {
      sizeof(oh_context_ops), [](void*) { return 0; }, [](void*) {}, [](void*) {}, nullptr, nullptr, nullptr};
  config.context = {&kNoContext, nullptr};
  config.policy = OH_SERVICE_DRAIN_ALL;
  config.transmit_lead_samples = 200;
  config.block_plan[0] = 100;
  config.block_plan_length = 1;
  if (oh_driver_init(&driver, &config) != 0) return;
  oh_card_state& state = modem.state();
  oh_card_engine engine;
  oh_card_engine_init(&engine, &hardware, nullptr);
  Silence silence;
  const oh_line_end line = silence.handle();
  oh_card_engine_start(&engine, 0);
  for (; size >= 9; data += 9, size -= 9) {
    std::uint64_t value;
    std::memcpy(&value, data + 1, sizeof value);
    switch (data[0] % 8) {
      case 0:
        state.block = static_cast<std::uint32_t>(value);
        break;
      case 1:
        state.rx_read = value;
        break;
      case 2:
        state.tx_written = value;
        break;
      case 3:
        state.position = value;
        break;
      case 4:
        state.finished_end = value;
        break;
      case 5:
        state.rx_lost_before = value;
        break;
      case 6:
        oh_card_engine_skip(&engine, value % 2000, 0);
        break;
      case 7:
        state.streams.rx.block_max = static_cast<std::uint32_t>(value);
        break;
      default:
        break;
    }
    const std::uint32_t left = oh_card_engine_left(&engine);
    if (left < 1 || left > longest) std::abort();
    oh_card_engine_run(&engine, &line, std::min(left, 1u + data[1] % 200u), 0);
    oh_driver_isr(&driver);
    for (int i = 0; i < 8 && oh_driver_owed(&driver) > 0; ++i) {  // a block may claim to be endless
      if (oh_driver_service_begin(&driver) == 0) break;
      oh_driver_service_output(&driver);
      if (oh_driver_service_end(&driver) == 0) break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int listening = listener();
  if (size < 12) return 0;
  const int memory = memfd_create("fuzz", MFD_ALLOW_SEALING), event = eventfd(0, EFD_NONBLOCK);
  const oh_streams streams = oh_modem_streams(OH_MODEM_RATE_HZ);
  const std::size_t size_of_card = oh_card_size(&streams);
  const bool true_size = (data[0] & 3) != 0;
  if (ftruncate(memory, true_size ? static_cast<off_t>(size_of_card) : data[1] * 256) != 0) std::abort();
  if ((data[0] & 4) == 0) {
    const offhook::CardMemory card(streams);
    if (pwrite(memory, card.card().self, sizeof(oh_card_state), 0) < 0 && true_size) std::abort();
  }
  if (pwrite(memory, data + 3, std::min<std::size_t>(size - 3, data[0] & 8 ? 8 : 0), 8) < 0) std::abort();
  if ((data[0] & 16) == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) std::abort();
  std::thread server(serve, listening, memory, event, data[2]);
  try {
    offhook::SharedCard card(path());
    server.join();
    run(card, data + 3, size - 3);
  } catch (const std::runtime_error&) {
    if (server.joinable()) server.join();
  }
  close(memory);
  close(event);
  return 0;
}
