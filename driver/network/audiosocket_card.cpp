// SPDX-License-Identifier: MIT
#include "driver/network/audiosocket_card.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "driver/base/printable.h"
#include "driver/network/audiosocket_listener.h"
#include "dsp/v90/coding/ucode.h"
#include "offhook/modem_card.h"

namespace offhook {

namespace {

constexpr std::uint32_t kRateHz = OH_MODEM_RATE_HZ;
constexpr std::uint64_t kRegular = 4 * kRateHz;  // samples between two checks of the delay
constexpr std::uint64_t kEarly = 160;            // beyond twice the depth: one frame

constexpr std::uint64_t kRingOn = 2 * kRateHz, kRingPeriod = 6 * kRateHz;

oh_streams streams_of(const AudioSocketConfig& config) {
  oh_streams streams = oh_modem_streams(kRateHz);
  if (config.law) streams.rx.encoding = streams.tx.encoding = *config.law;
  return streams;
}

v90::Law law_of(oh_encoding encoding) {
  return encoding == OH_ALAW ? v90::Law::kA : v90::Law::kMu;
}

std::int16_t linear_of(oh_encoding law, std::uint8_t octet) {
  return static_cast<std::int16_t>(v90::linear_of(law_of(law), v90::pcm_of(law_of(law), octet)));
}

void be_prompt(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

AudioSocketCard::AudioSocketCard(const AudioSocketConfig& config)
    : TimerCard({[](void* self, const void* played, void* captured, std::size_t n) {
                   auto* const card = static_cast<AudioSocketCard*>(self);
                   if (card->config_.law) {
                     card->exchange_octets(static_cast<const std::uint8_t*>(played),
                                           static_cast<std::uint8_t*>(captured), n);
                   } else {
                     card->exchange(static_cast<const std::int16_t*>(played), static_cast<std::int16_t*>(captured), n);
                   }
                 },
                 this},
                streams_of(config)),
      config_(config) {
  shown_uuid_.reserve(64);
  if (!config_.listens || config_.shares_listener) return;
  listener_ = listen_for_audiosocket(config_.address);
}

AudioSocketCard::~AudioSocketCard() {
  if (state_ == State::kConnected) end(End::kNone);
  for (const int fd : {socket_, listener_, given_.load()})
    if (fd >= 0) close(fd);
}

void AudioSocketCard::exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n) {
  follow_hook();
  follow_connection();
  if (state_ == State::kConnected) receive();
  capture(captured, n);
  if (state_ == State::kConnected && was_off_hook_) play(played, n);
  position_ += n;
  const bool rings = state_ == State::kConnected && !was_off_hook_;
  if (!rings) ring_begin_ = position_;
  oh_card_set_ringing(&state(), rings && (position_ - ring_begin_) % kRingPeriod < kRingOn);
}

void AudioSocketCard::exchange_octets(const std::uint8_t* played, std::uint8_t* captured, std::size_t n) {
  std::array<std::int16_t, kFrameSamples> out, in;
  for (std::size_t done = 0; done < n;) {
    const std::size_t k = std::min<std::size_t>(n - done, kFrameSamples);
    for (std::size_t i = 0; i < k; ++i) out[i] = linear_of(*config_.law, played[done + i]);
    exchange(out.data(), in.data(), k);
    for (std::size_t i = 0; i < k; ++i) captured[done + i] = v90::nearest_octet(law_of(*config_.law), in[i]);
    done += k;
  }
}

void AudioSocketCard::follow_hook() {
  const bool off_hook = oh_card_off_hook(&state()) != 0;
  if (off_hook == was_off_hook_) return;
  was_off_hook_ = off_hook;
  if (!off_hook) {
    end(End::kNone);
    return;
  }
  end_.store(End::kNone);
  if (!config_.listens) begin_connection();
}

void AudioSocketCard::begin_connection() {
  const int fd = socket(config_.address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && (connect(fd, config_.address.get(), config_.address.length) == 0 || errno == EINPROGRESS)) {
    begin(fd);
    state_ = State::kConnecting;
    return;
  }
  if (fd >= 0) close(fd);
  end_.store(End::kRefused);
}

void AudioSocketCard::begin(int socket) {
  be_prompt(socket);
  socket_ = socket;
  reader_.reset();
  put_ = taken_ = least_ = 0;
  filling_ = true;
  hung_up_ = false;
  filled_ = unsent_octets_ = 0;
  end_.store(End::kNone);
}

void AudioSocketCard::take(int socket) {
  given_.store(socket);
}

/// A waiting connection, for a line that is free.
void AudioSocketCard::take_connection(int socket) {
  if (state_ != State::kIdle || was_off_hook_) return refuse_audiosocket(socket);
  begin(socket);
  state_ = State::kConnected;
}

void AudioSocketCard::follow_connection() {
  if (listener_ >= 0) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) take_connection(fd);
  }
  if (const int fd = given_.load(); fd >= 0) {
    take_connection(fd);
    given_.store(-1);  // after state_, for has_connection()
  }
  if (state_ != State::kConnecting) return;
  int error = 0;
  socklen_t length = sizeof error;
  sockaddr_storage peer;
  socklen_t peer_length = sizeof peer;
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) {
    end(End::kRefused);
  } else if (getpeername(socket_, reinterpret_cast<sockaddr*>(&peer), &peer_length) == 0) {
    state_ = State::kConnected;
    auto uuid = config_.uuid;
    if (uuid == decltype(uuid){}) {
      [[maybe_unused]] const ssize_t n = getrandom(uuid.data(), uuid.size(), 0);
      uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);  // RFC 4122 4.4: a random one
      uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
    }
    write_audiosocket_header(AudioSocketKind::kUuid, kUuidOctets, unsent_.data());
    std::copy(uuid.begin(), uuid.end(), unsent_.begin() + kAudioSocketHeader);
    unsent_octets_ = kAudioSocketHeader + kUuidOctets;
    flush();
  }
}

void AudioSocketCard::end(End why) {
  if (state_ == State::kConnected && why == End::kNone) {
    std::array<std::uint8_t, kAudioSocketHeader> header;
    write_audiosocket_header(AudioSocketKind::kHangUp, 0, header.data());
    [[maybe_unused]] const ssize_t sent = send(socket_, header.data(), header.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  state_ = State::kIdle;
  end_.store(was_off_hook_ ? why : End::kNone);
}

void AudioSocketCard::receive() {
  std::array<std::uint8_t, 4096> octets;
  for (;;) {
    const ssize_t n = recv(socket_, octets.data(), octets.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0) return end(End::kHungUp);
    reader_.put({octets.data(), static_cast<std::size_t>(n)}, *this);
    ignored_.store(reader_.ignored(), std::memory_order_relaxed);
    if (hung_up_) return end(End::kHungUp);
    if (static_cast<std::size_t>(n) < octets.size()) break;
  }
}

void AudioSocketCard::audio(std::int16_t sample) {
  if (config_.law && linear_of(*config_.law, v90::nearest_octet(law_of(*config_.law), sample)) != sample)
    inexact_.store(inexact_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  fifo_[put_++ % kFifo] = sample;
  received_.store(received_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (put_ - taken_ <= kFifo) return;
  taken_ = put_ - config_.buffer_samples;
  skipped_.store(skipped_.load(std::memory_order_relaxed) + kFifo - config_.buffer_samples, std::memory_order_relaxed);
}

void AudioSocketCard::uuid(std::span<const std::uint8_t, kUuidOctets> uuid) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock) shown_uuid_ = uuid_text(uuid);
}

void AudioSocketCard::hang_up() {
  hung_up_ = true;
}

/// TCP loses nothing, but late samples leave a gap. The buffer then fills to its depth again.
void AudioSocketCard::capture(std::int16_t* captured, std::size_t n) {
  const std::uint64_t have = put_ - taken_;
  if (filling_ && have >= config_.buffer_samples) filling_ = false;
  const std::size_t k = filling_ ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(n, have));
  for (std::size_t i = 0; i < k; ++i) captured[i] = fifo_[taken_++ % kFifo];
  std::fill(captured + k, captured + n, std::int16_t{0});
  if (k < n && taken_ > 0 && state_ == State::kConnected) {
    filling_ = true;
    lost_.add(position_ + k, static_cast<std::uint32_t>(n - k));
    lost_samples_.store(lost_samples_.load(std::memory_order_relaxed) + n - k, std::memory_order_relaxed);
  }
  least_ = std::min(least_, put_ - taken_);
  if (position_ < look_at_) return;
  if (!filling_ && least_ > 2 * config_.buffer_samples + kEarly) {
    taken_ += least_ - config_.buffer_samples;
    skipped_.store(skipped_.load(std::memory_order_relaxed) + least_ - config_.buffer_samples,
                   std::memory_order_relaxed);
  }
  look_at_ = position_ + kRegular;
  least_ = put_ - taken_;
}

void AudioSocketCard::play(const std::int16_t* played, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint8_t* at = &frame_[kAudioSocketHeader + 2 * filled_++];
    at[0] = static_cast<std::uint8_t>(played[i]);
    at[1] = static_cast<std::uint8_t>(static_cast<std::uint16_t>(played[i]) >> 8);
    if (filled_ < kFrameSamples) continue;
    filled_ = 0;
    write_audiosocket_header(AudioSocketKind::kAudio, 2 * kFrameSamples, frame_.data());
    if (unsent_octets_ + frame_.size() > unsent_.size()) return end(End::kStalled);
    std::memcpy(&unsent_[unsent_octets_], frame_.data(), frame_.size());
    unsent_octets_ += frame_.size();
    sent_.store(sent_.load(std::memory_order_relaxed) + kFrameSamples, std::memory_order_relaxed);
    flush();
    if (state_ != State::kConnected) return;
  }
}

void AudioSocketCard::flush() {
  const ssize_t n = send(socket_, unsent_.data(), unsent_octets_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR) return end(End::kHungUp);
  if (n <= 0) return;
  unsent_octets_ -= static_cast<std::size_t>(n);
  std::memmove(unsent_.data(), unsent_.data() + n, unsent_octets_);
}

std::string_view AudioSocketCard::line_failure() const {
  switch (end_.load()) {
    case End::kNone:
      return "";
    case End::kRefused:
      return "the AudioSocket server does not answer";
    case End::kHungUp:
      return "the far end hung up";
    case End::kStalled:
      return "the AudioSocket peer reads nothing";
  }
  return "";
}

Caller AudioSocketCard::caller() const {
  const std::lock_guard lock(mutex_);
  return {"", shown_uuid_};
}

std::vector<CardFigure> AudioSocketCard::figures() const {
  const auto n = [](const std::atomic<std::uint64_t>& x) { return static_cast<std::int64_t>(x.load()); };
  return {{"samples_sent", n(sent_)},       {"samples_received", n(received_)},  {"samples_lost", n(lost_samples_)},
          {"samples_slipped", n(skipped_)}, {"samples_not_of_law", n(inexact_)}, {"messages_ignored", n(ignored_)}};
}

AudioSocketConfig parse_audiosocket_place(std::string_view place) {
  constexpr std::uint32_t kPerMs = kRateHz / 1000;
  const CardPlace parts = card_place(place);
  AudioSocketConfig config;
  const bool listens = parts.words.size() == 2 && parts.words[1] == "listen";
  if (parts.words.size() != 1 && !listens) {
    throw std::runtime_error(
        fmt::format("audiosocket:{}: expected audiosocket:HOST:PORT to connect, or audiosocket:HOST:PORT,listen",
                    printable(place)));
  }
  config.listens = listens;
  for (const CardOption& option : parts.options) {
    if (option.name == "buffer") {
      config.buffer_samples = kPerMs * option_number(option, 1, AudioSocketCard::kMostBufferSamples / kPerMs);
    } else if (option.name == "law" && (option.value == "pcmu" || option.value == "pcma")) {
      config.law = option.value == "pcma" ? OH_ALAW : OH_MULAW;
    } else if (option.name == "uuid" && !listens) {
      config.uuid = parse_uuid(option.value);
    } else {
      throw std::runtime_error(fmt::format(
          "audiosocket: \"{}={}\" is not an option; expected law=pcmu or pcma, buffer=MS or, without listen, uuid=UUID",
          printable(option.name), printable(option.value)));
    }
  }
  config.address = internet_address(parts.words[0]);
  return config;
}

const CardKind kAudioSocketCards = {
    "audiosocket", "audiosocket:HOST:PORT", true,
    [](const std::string& place, const CardRates&) -> std::unique_ptr<LiveCard> {
      return std::make_unique<AudioSocketCard>(parse_audiosocket_place(place));
    },
    [] {
      return std::vector<CardDevice>{{"network", "audiosocket:HOST:PORT",
                                      "Asterisk's AudioSocket: connects for each call; ,listen takes calls; options "
                                      ",law=pcmu ,buffer=MS ,uuid=UUID",
                                      "8000 samples/s, by the clock; with a law V.90's digital side", true}};
    }};

}  // namespace offhook
