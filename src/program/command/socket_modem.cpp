// SPDX-License-Identifier: MIT
#include "src/program/command/socket_modem.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "driver/base/local_socket.h"
#include "driver/base/terminal.h"
#include "hostsim/channel/digital_trunk.h"
#include "hostsim/channel/sample.h"

namespace offhook {

namespace {

static_assert(std::endian::native == std::endian::little, "samples are sent in the machine's byte order");

using hostsim::kLineRateHz;
constexpr std::uint32_t kMaxBlock = 9600;
constexpr std::uint32_t kMaxPatienceS = 86'400;

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw std::runtime_error(
      fmt::format("--far-end \"{}\": {}; expected unix:PATH[,rate={}|9600][,block=1..{}][,ahead=0..{}]"
                  "[,patience=1..{}]",
                  text, why, kLineRateHz, kMaxBlock, kMaxBlock, kMaxPatienceS));
}

std::optional<std::uint32_t> number(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

bool is_socket(const std::string& path) {
  struct stat there {};
  return lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode);
}

/// The socket to the peer: connects to a listener or, if there is none, listens until a peer connects. Two programs
/// that start together may both find no listener. The first one to bind then listens, and the other connects.
int meet(const std::string& path, const std::function<bool()>& keep_waiting) {
  constexpr int kPatience = 10;  // checks of a socket without a listener, which may be about to listen
  std::optional<LocalListener> listener;
  for (int refusals = 0; !listener && keep_waiting();) {
    const int peer = connect_local(path);
    if (peer >= 0) return peer;
    if (peer == -ENOENT) {
      if (auto made = LocalListener::where_nothing_is(path)) {
        listener.emplace(std::move(*made));
        break;
      }
      if (!is_socket(path)) remove_stale_socket(path);  // such as a link to a missing file
    } else if (peer == -ECONNREFUSED) {
      if (++refusals >= kPatience || !is_socket(path)) remove_stale_socket(path);
    } else if (peer != -EAGAIN) {
      throw std::runtime_error(fmt::format("{}: {}", path, std::generic_category().message(-peer)));
    }
    poll(nullptr, 0, 50);
  }
  if (listener) say(stderr, "waiting for the far end at {}\n", path);
  int peer = -1;
  while (listener && peer < 0 && keep_waiting()) {
    pollfd wait{listener->fd(), POLLIN, 0};
    if (poll(&wait, 1, 100) > 0) peer = accept4(listener->fd(), nullptr, nullptr, SOCK_CLOEXEC);
  }
  if (peer < 0) throw std::runtime_error(fmt::format("{}: interrupted before a far end connected", path));
  return peer;
}

}  // namespace

FarEndAddress FarEndAddress::parse(std::string_view text) {
  FarEndAddress address;
  std::string_view rest = text;
  if (!rest.starts_with("unix:")) refuse(text, "is not the address of a far end");
  rest.remove_prefix(5);
  const auto take = [&rest] {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    return item;
  };
  address.path = take();
  if (address.path.empty()) refuse(text, "has no path");
  while (!rest.empty()) {
    const std::string_view item = take();
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals);
    const std::optional<std::uint32_t> value = number(item.substr(std::min(equals + 1, item.size())));
    if (key == "rate" && value && (*value == kLineRateHz || *value == 9600)) {
      address.rate_hz = *value;
    } else if (key == "block" && value && *value >= 1 && *value <= kMaxBlock) {
      address.block_samples = *value;
    } else if (key == "ahead" && value && *value <= kMaxBlock) {
      address.ahead_samples = *value;
    } else if (key == "patience" && value && *value >= 1 && *value <= kMaxPatienceS) {
      address.patience_s = static_cast<int>(*value);
    } else {
      refuse(text, fmt::format("\"{}\" is not recognised", item));
    }
  }
  if (address.block_samples == 0) address.block_samples = address.rate_hz / 50;
  return address;
}

SocketModem::SocketModem(const FarEndAddress& address, std::function<bool()> keep_waiting, std::uint32_t received_ratio)
    : address_(address),
      keep_waiting_(std::move(keep_waiting)),
      received_ratio_(received_ratio),
      socket_(meet(address.path, keep_waiting_)),
      to_peer_(std::uint64_t{kLineRateHz} * received_ratio, address.rate_hz),
      from_peer_(address.rate_hz, kLineRateHz) {
  // Samples played before the peer's first block, minus those that the peer has already written.
  const auto ours = [&](std::uint32_t n) { return static_cast<int>(std::uint64_t{n} * kLineRateHz / address.rate_hz); };
  const int silence = ours(address.block_samples) - ours(address.ahead_samples) + 3;
  queued_.assign(static_cast<std::size_t>(std::max(silence, 0)), 0);
  owed_ = address.ahead_samples;
  if (owed_ > 0) receive(owed_);
  block_.reserve(address.block_samples);
}

SocketModem::~SocketModem() {
  if (socket_ >= 0) close(socket_);
}

void SocketModem::process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!failure_.empty()) {
      tx[i] = 0;
      continue;
    }
    for (std::uint32_t k = 0; k < received_ratio_; ++k) to_peer_.push(rx[received_ratio_ * i + k]);
    while (to_peer_.ready()) {
      block_.push_back(hostsim::to_int16(to_peer_.pull()));
      if (block_.size() == address_.block_samples) exchange_block();
    }
    tx[i] = next_ < queued_.size() ? queued_[next_++] : std::int16_t{0};
  }
}

void SocketModem::exchange_block() {
  queued_.erase(queued_.begin(), queued_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  if (transfer(true, block_.data(), block_.size() * sizeof block_[0])) {
    owed_ += address_.block_samples;
    // As much as will be played until the next exchange. The rest may come later, or never.
    const std::size_t due = std::size_t{address_.block_samples} * kLineRateHz / address_.rate_hz + 2;
    while (owed_ > 0 && queued_.size() < due) {
      const std::size_t n = (due - queued_.size()) * address_.rate_hz / kLineRateHz;
      if (!receive(std::min(owed_, static_cast<std::uint32_t>(n)))) break;
    }
  }
  block_.clear();
}

bool SocketModem::receive(std::uint32_t n) {
  std::array<std::int16_t, kMaxBlock> samples;
  if (!transfer(false, samples.data(), n * sizeof samples[0])) return false;
  owed_ -= n;
  has_answered_ = true;
  for (std::uint32_t i = 0; i < n; ++i) {
    from_peer_.push(samples[i]);
    while (from_peer_.ready()) queued_.push_back(hostsim::to_int16(from_peer_.pull()));
  }
  return true;
}

bool SocketModem::transfer(bool write, void* bytes, std::size_t n) {
  auto* at = static_cast<char*>(bytes);
  // For the whole block, because a peer that only sends an octet from time to time has also stalled.
  const auto given_up = std::chrono::steady_clock::now() + std::chrono::seconds(address_.patience_s);
  while (n > 0) {
    const ssize_t moved =
        write ? send(socket_, at, n, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(socket_, at, n, MSG_DONTWAIT);
    if (moved > 0) {
      at += moved;
      n -= static_cast<std::size_t>(moved);
    } else if (moved < 0 && errno == EINTR) {
      continue;
    } else if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd wait{socket_, static_cast<short>(write ? POLLOUT : POLLIN), 0};
      poll(&wait, 1, 100);
      if (!keep_waiting_()) {
        failure_ = "was interrupted";
      } else if (std::chrono::steady_clock::now() >= given_up) {
        failure_ = fmt::format("{} no block of samples within {} s", write ? "took" : "sent", address_.patience_s);
        if (!write && has_answered_) failure_ += waits_for_more();
      }
      if (!failure_.empty()) return false;
    } else {
      failure_ = "closed its socket";
      return false;
    }
  }
  return true;
}

// A peer that has read everything and has answered before is also waiting.
std::string SocketModem::waits_for_more() const {
  int unread = 0;
  if (address_.ahead_samples == 0 || ioctl(socket_, SIOCOUTQ, &unread) != 0 || unread != 0) return "";
  const std::uint32_t spare = address_.ahead_samples - std::min(address_.ahead_samples, address_.block_samples);
  return fmt::format(
      ", and is waiting for samples itself: with block={} its queue can shrink by {} samples at most; a smaller block= "
      "leaves more",
      address_.block_samples, spare);
}

std::unique_ptr<SocketModem> make_far_end(const std::string& address, const hostsim::Scenario& scenario,
                                          std::function<bool()> keep_waiting) {
  if (scenario.line_kind == hostsim::LineKind::kSubscriberLoop || scenario.line_kind == hostsim::LineKind::kAir)
    throw std::runtime_error("--far-end: that modem is on a telephone line; expected another line.kind");
  const bool trunk = scenario.line_kind == hostsim::LineKind::kDigitalTrunk;
  if (trunk && !scenario.near_is_digital)
    throw std::runtime_error(
        "--far-end: that modem is the analogue one of a trunk; expected trunk.near_end = \"digital\"");
  return std::make_unique<SocketModem>(FarEndAddress::parse(address), std::move(keep_waiting),
                                       trunk ? static_cast<std::uint32_t>(hostsim::DigitalTrunk::kReceivedRatio) : 1);
}

}  // namespace offhook
