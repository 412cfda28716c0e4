// SPDX-License-Identifier: MIT
//
// A subscriber with an analogue modem of V.90, for tests of live digital modems: G.711 comes over a network and passes
// the simulated line card and loop (hostsim/channel/digital_trunk.h). The far end's packets are the clock. What comes
// from standard input is sent, what arrives goes to standard output.
//
// Usage: analogue_end mu-law|a-law rtp PORT FAR_PORT
//        analogue_end mu-law|a-law audiosocket FAR_PORT
//        analogue_end mu-law|a-law dahdi CHANNEL
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "driver/user_modem/modem.h"
#include "hostsim/call/line_between.h"
#include "hostsim/call/modem_config.h"
#include "hostsim/call/scenario.h"
#include "hostsim/channel/g711.h"

#if __has_include(<dahdi/user.h>)
#include <dahdi/user.h>
#endif

namespace {

using offhook::hostsim::Scenario;
using Octets = std::vector<std::uint8_t>;

Scenario scenario_of(const char* law) {
  Scenario s;
  s.line_kind = offhook::hostsim::LineKind::kDigitalTrunk;
  s.near_is_digital = true;
  s.role = OH_PUMP_ANSWER;
  s.modem = OH_MODULATION_V90;
  s.trunk.law = s.trunk.codec = law;
  s.trunk.noise_dbm0 = -80;
  return s;
}

/// The modem after its line.
class Subscriber {
 public:
  explicit Subscriber(const Scenario& scenario)
      : modem_(offhook::hostsim::far_modem(scenario, offhook::hostsim::far_type(scenario))),
        line_(offhook::hostsim::make_line_between(
            scenario, [this](const void* rx, void* tx, std::size_t n) { modem_.process(rx, tx, n); })) {
    modem_.start();
  }
  /// Takes octets of the network and returns the same number.
  Octets exchange(std::span<const std::uint8_t> in) {
    Octets out(in.size());
    line_->exchange(in.data(), out.data(), in.size());
    std::array<std::uint8_t, 4096> bytes;
    while (const std::size_t n = modem_.read(bytes.data(), bytes.size()))
      if (write(STDOUT_FILENO, bytes.data(), n) != static_cast<ssize_t>(n)) std::exit(1);
    follow_input();
    return out;
  }

 private:
  void follow_input() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const std::size_t room = modem_.writable();
    if (room == 0 || poll(&input, 1, 0) <= 0) return;
    std::array<std::uint8_t, 4096> bytes;
    const ssize_t n = read(STDIN_FILENO, bytes.data(), std::min(room, bytes.size()));
    if (n <= 0) std::exit(0);
    modem_.write(bytes.data(), static_cast<std::size_t>(n));
  }

  offhook::modem::Modem modem_;
  std::unique_ptr<offhook::hostsim::LineBetween> line_;
};

sockaddr_in loopback(const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

void over_rtp(Subscriber& subscriber, const char* port, const char* far_port, bool a_law) {
  constexpr std::size_t kHead = 12;
  const sockaddr_in own = loopback(port), far = loopback(far_port);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) give_up("bind");
  if (connect(fd, reinterpret_cast<const sockaddr*>(&far), sizeof far) != 0) give_up("connect");
  std::uint16_t sequence = 0;
  std::uint32_t timestamp = 0;
  std::array<std::uint8_t, 2048> packet;
  for (;;) {
    const ssize_t n = recv(fd, packet.data(), packet.size(), 0);
    if (n <= static_cast<ssize_t>(kHead) || (packet[1] & 0x7f) != (a_law ? 8 : 0)) continue;
    const Octets out = subscriber.exchange({packet.data() + kHead, static_cast<std::size_t>(n) - kHead});
    const std::array<std::uint8_t, kHead> head = {0x80,
                                                  static_cast<std::uint8_t>(a_law ? 8 : 0),
                                                  static_cast<std::uint8_t>(sequence >> 8),
                                                  static_cast<std::uint8_t>(sequence),
                                                  static_cast<std::uint8_t>(timestamp >> 24),
                                                  static_cast<std::uint8_t>(timestamp >> 16),
                                                  static_cast<std::uint8_t>(timestamp >> 8),
                                                  static_cast<std::uint8_t>(timestamp),
                                                  'a',
                                                  'n',
                                                  'a',
                                                  'l'};
    std::memcpy(packet.data(), head.data(), kHead);
    std::memcpy(packet.data() + kHead, out.data(), out.size());
    [[maybe_unused]] const ssize_t sent = send(fd, packet.data(), kHead + out.size(), 0);
    ++sequence;
    timestamp += static_cast<std::uint32_t>(out.size());
  }
}

void read_whole(int fd, std::span<std::uint8_t> octets) {
  while (!octets.empty()) {
    const ssize_t n = read(fd, octets.data(), octets.size());
    if (n <= 0) std::exit(0);
    octets = octets.subspan(static_cast<std::size_t>(n));
  }
}

#ifdef DAHDI_SPECIFY
/// A clear channel in blocks of 10 ms.
void over_dahdi(Subscriber& subscriber, const char* number, bool a_law) {
  const int fd = open("/dev/dahdi/channel", O_RDWR);
  int channel = std::atoi(number), on = 1;
  dahdi_bufferinfo buffers{};
  buffers.numbufs = 8;
  buffers.bufsize = 80;
  if (fd < 0 || ioctl(fd, DAHDI_SPECIFY, &channel) != 0 || ioctl(fd, DAHDI_AUDIOMODE, &on) != 0 ||
      ioctl(fd, DAHDI_SET_BUFINFO, &buffers) != 0)
    give_up("DAHDI");
  Octets in(80, a_law ? 0xd5 : 0xff);
  for (int k = 0; k < 3; ++k)
    if (write(fd, in.data(), in.size()) != 80) give_up("write");
  for (;;) {
    if (read(fd, in.data(), in.size()) != 80) give_up("read");
    const Octets out = subscriber.exchange(in);
    if (write(fd, out.data(), out.size()) != 80) give_up("write");
  }
}
#else
void over_dahdi(Subscriber&, const char*, bool) {
  give_up("dahdi/user.h was not installed");
}
#endif

void over_audiosocket(Subscriber& subscriber, const char* far_port, bool a_law) {
  const sockaddr_in far = loopback(far_port);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&far), sizeof far) != 0) give_up("connect");
  Octets call(3 + 16, 0x11);  // a UUID
  call[0] = 1, call[1] = 0, call[2] = 16;
  if (write(fd, call.data(), call.size()) != static_cast<ssize_t>(call.size())) give_up("write");
  const auto octet_of = [a_law](std::int16_t x) {
    return a_law ? offhook::hostsim::a_law_encode(x) : offhook::hostsim::mu_law_encode(x);
  };
  for (;;) {
    std::array<std::uint8_t, 3> head;
    read_whole(fd, head);
    Octets payload(std::size_t{head[1]} << 8 | head[2]);
    read_whole(fd, payload);
    if (head[0] == 0) return;
    if (head[0] != 0x10) continue;
    Octets in;
    for (std::size_t k = 0; k + 1 < payload.size(); k += 2)
      in.push_back(octet_of(static_cast<std::int16_t>(payload[k] | payload[k + 1] << 8)));
    const Octets out = subscriber.exchange(in);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const auto x = static_cast<std::uint16_t>(a_law ? offhook::hostsim::a_law_decode(out[k])
                                                      : offhook::hostsim::mu_law_decode(out[k]));
      payload[2 * k] = static_cast<std::uint8_t>(x);
      payload[2 * k + 1] = static_cast<std::uint8_t>(x >> 8);
    }
    if (write(fd, head.data(), head.size()) < 0 || write(fd, payload.data(), payload.size()) < 0) return;
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string_view kind = count > 2 ? words[2] : "";
  if (!(kind == "rtp" && count == 5) && !((kind == "audiosocket" || kind == "dahdi") && count == 4)) {
    std::fputs("usage: analogue_end mu-law|a-law rtp PORT FAR_PORT, audiosocket FAR_PORT, or dahdi CHANNEL\n", stderr);
    return 1;
  }
  Subscriber subscriber(scenario_of(words[1]));
  const bool a_law = std::string_view(words[1]) == "a-law";
  if (kind == "rtp") {
    over_rtp(subscriber, words[3], words[4], a_law);
  } else if (kind == "dahdi") {
    over_dahdi(subscriber, words[3], a_law);
  } else {
    over_audiosocket(subscriber, words[3], a_law);
  }
}
