// SPDX-License-Identifier: MIT
//
// A card whose line is AudioSocket. As a server it rings while a connection waits; going off hook takes the call. As a
// client it connects when it goes off hook. Going on hook sends a hang-up message and closes. With a law of G.711 the
// card has the octets behind the linear samples: on a path that only converts them, a digital modem's own.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "driver/live/timer_card.h"
#include "driver/network/audiosocket.h"
#include "driver/network/internet_address.h"
#include "driver/network/lost_runs.h"

namespace offhook {

struct AudioSocketConfig {
  InternetAddress address;
  bool listens = false;
  bool shares_listener = false;                  ///< with `listens`, connections come only from take()
  std::array<std::uint8_t, kUuidOctets> uuid{};  ///< of a client; all zero: a new UUID for each call
  std::uint32_t buffer_samples = 320;
  std::optional<oh_encoding> law{};  ///< octets for the modem; none: linear samples
};

class AudioSocketCard final : public TimerCard, private AudioSocketReader::Sink {
 public:
  static constexpr std::uint32_t kMostBufferSamples = 2000;
  /// @throws std::runtime_error with the address: it is in use, or not of this host
  explicit AudioSocketCard(const AudioSocketConfig& config);
  ~AudioSocketCard() override;

  SampleRun run_at(std::uint64_t position, std::uint32_t n) override { return lost_.at(position, n); }
  std::string_view line_failure() const override;
  Caller caller() const override;
  std::vector<CardFigure> figures() const override;
  /// The port of a server.
  std::uint16_t port() const { return config_.address.port(); }
  /// A connection for this line, which then rings; the card closes the socket. Unless the line is free, it hangs up.
  /// From any thread. @pre !has_connection()
  void take(int socket);
  /// Whether a connection is on the line or is about to be. From any thread.
  bool has_connection() const { return given_.load() >= 0 || state_.load() != State::kIdle; }

 private:
  enum class State : std::uint8_t { kIdle, kConnecting, kConnected };
  enum class End : std::uint8_t { kNone, kRefused, kHungUp, kStalled };
  static constexpr std::uint32_t kFrameSamples = 160;
  static constexpr std::size_t kFifo = 1 << 13;  // samples, 1 s

  void exchange(const std::int16_t* played, std::int16_t* captured, std::size_t n);
  void exchange_octets(const std::uint8_t* played, std::uint8_t* captured, std::size_t n);
  void follow_hook();
  void follow_connection();
  void take_connection(int socket);
  void begin_connection();
  void begin(int socket);
  void end(End why);
  void receive();
  void capture(std::int16_t* captured, std::size_t n);
  void play(const std::int16_t* played, std::size_t n);
  void flush();
  void audio(std::int16_t sample) override;
  void uuid(std::span<const std::uint8_t, kUuidOctets> uuid) override;
  void hang_up() override;

  AudioSocketConfig config_;
  int listener_ = -1, socket_ = -1;
  LostRuns lost_;
  std::atomic<int> given_{-1};  // a socket from take()
  std::atomic<End> end_{End::kNone};
  std::atomic<State> state_{State::kIdle};  // written only by the card's thread
  std::atomic<std::uint64_t> received_{0}, sent_{0}, lost_samples_{0}, skipped_{0}, ignored_{0}, inexact_{0};

  // The card's thread.
  bool was_off_hook_ = false, hung_up_ = false, filling_ = true;
  std::uint64_t position_ = 0, look_at_ = 0, ring_begin_ = 0;
  AudioSocketReader reader_;
  std::array<std::int16_t, kFifo> fifo_{};
  std::uint64_t put_ = 0, taken_ = 0, least_ = 0;
  std::array<std::uint8_t, kAudioSocketHeader + 2 * kFrameSamples> frame_{};
  std::size_t filled_ = 0;  // samples of the frame
  std::array<std::uint8_t, 1 << 14> unsent_{};
  std::size_t unsent_octets_ = 0;

  mutable std::mutex mutex_;  // of the name; the card's thread only tries to lock it
  std::string shown_uuid_;
};

/// The address and options after "audiosocket:". @throws std::runtime_error with the expected form
AudioSocketConfig parse_audiosocket_place(std::string_view place);

extern const CardKind kAudioSocketCards;

}  // namespace offhook
