// SPDX-License-Identifier: MIT
#include "driver/network/audiosocket_listener.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <stdexcept>
#include <system_error>

#include "driver/network/audiosocket.h"

namespace offhook {
namespace {

constexpr std::size_t kHello = kAudioSocketHeader + kUuidOctets;

/// From the first message: the UUID. Empty if it names no call. Nothing if octets are missing.
std::optional<std::string> name_of(std::span<const std::uint8_t> octets) {
  std::array<std::uint8_t, kAudioSocketHeader> expected;
  write_audiosocket_header(AudioSocketKind::kUuid, kUuidOctets, expected.data());
  const std::size_t n = std::min(octets.size(), expected.size());
  if (!std::equal(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(n), expected.begin())) return "";
  if (octets.size() < kHello) return std::nullopt;
  return uuid_text(octets.subspan<kAudioSocketHeader, kUuidOctets>());
}

}  // namespace

int listen_for_audiosocket(InternetAddress& address) {
  constexpr int kBacklog = 64;
  const int on = 1;
  const int listener = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool listening = listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                         bind(listener, address.get(), address.length) == 0 && listen(listener, kBacklog) == 0;
  if (!listening) {
    const std::string why = std::generic_category().message(errno);
    if (listener >= 0) close(listener);
    throw std::runtime_error(address.text() + ": " + why);
  }
  address = address_of_socket(listener);
  return listener;
}

void refuse_audiosocket(int socket) {
  std::array<std::uint8_t, kAudioSocketHeader> header;
  write_audiosocket_header(AudioSocketKind::kHangUp, 0, header.data());
  [[maybe_unused]] const ssize_t sent = send(socket, header.data(), header.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  // If octets are unread, close() resets the connection, and the message could be lost.
  std::array<std::uint8_t, 4096> unread;
  shutdown(socket, SHUT_WR);
  [[maybe_unused]] const ssize_t n = recv(socket, unread.data(), unread.size(), MSG_DONTWAIT);
  close(socket);
}

AudioSocketListener::AudioSocketListener(const InternetAddress& address)
    : address_(address), listener_(listen_for_audiosocket(address_)) {}

AudioSocketListener::~AudioSocketListener() {
  close(listener_);
  for (const Waiting& w : waiting_) refuse_audiosocket(w.socket);
}

void AudioSocketListener::accept_all(std::int64_t now_ms) {
  while (waiting_.size() < kMostWaiting) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    waiting_.push_back({fd, now_ms + kNameMs});
  }
}

std::vector<AudioSocketListener::Connection> AudioSocketListener::arrived(std::int64_t now_ms) {
  accept_all(now_ms);
  std::vector<Connection> all;
  std::erase_if(waiting_, [&](const Waiting& w) {
    std::array<std::uint8_t, kHello> octets;
    const ssize_t n = recv(w.socket, octets.data(), octets.size(), MSG_PEEK | MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {  // the far end has left
      close(w.socket);
      return true;
    }
    auto name = name_of({octets.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
    if (!name && now_ms >= w.until_ms) name = "";
    if (name) all.push_back({w.socket, *name});
    return name.has_value();
  });
  return all;
}

}  // namespace offhook
