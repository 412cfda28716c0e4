// SPDX-License-Identifier: MIT
//
// A card whose line is a pair of RTP streams: octets of G.711, as on a digital trunk. The sample clock is this host's.
// A packet leaves when its last sample has been played; packets that arrive go through a jitter buffer of fixed depth.
// The card knows the positions of missing samples (LiveCard::run_at()). Packets and jitter buffer are part of the line:
// to a modem their delay is the network's, and no sample is queued in the card.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "driver/base/rtp.h"
#include "driver/live/timer_card.h"
#include "driver/network/internet_address.h"
#include "driver/network/jitter_buffer.h"
#include "driver/network/lost_runs.h"
#include "driver/network/srtp.h"

namespace offhook {

inline constexpr std::uint32_t kSamplesPerMs = 8;  ///< of G.711

constexpr std::uint8_t payload_type_of(oh_encoding law) {
  return law == OH_ALAW ? kPcmaType : kPcmuType;
}

/// The far end of the streams.
struct RtpMedia {
  InternetAddress remote;
  oh_encoding law = OH_MULAW;
  std::uint32_t packet_samples = 160;  ///< of sent packets: 80, 160 or 240
  std::optional<SrtpKeys> keys = {};   ///< of encrypted streams (SRTP); then no others are read
};

struct RtpConfig {
  InternetAddress local;          ///< port 0: an even port that is free, with the one above
  std::optional<RtpMedia> media;  ///< none: nothing is sent or received until set_media()
  std::uint32_t buffer_samples = 320;
};

class RtpCard final : public TimerCard {
 public:
  /// Packets of one ptime that are not G.711 of the agreed law, until the path is refused.
  static constexpr std::uint32_t kForeignPackets = 100;
  static constexpr std::uint32_t kMostBufferSamples = 4000;

  /// @throws std::runtime_error with the address: it is in use, or not of this host
  explicit RtpCard(const RtpConfig& config);
  ~RtpCard() override;

  /// Sets the far end; without one, nothing is sent or received. From any thread; takes effect within some
  /// milliseconds. @throws std::runtime_error: it has keys, and this build has no SRTP
  void set_media(const std::optional<RtpMedia>& media);
  oh_encoding encoding() const override { return law_.load(std::memory_order_relaxed); }
  /// A payload type that arrives in place of the agreed one; -1: none.
  int foreign_type() const { return foreign_type_.load(std::memory_order_relaxed); }
  std::uint16_t local_port() const { return local_.port(); }

  Wait wait() override;
  std::string failure() const override;
  SampleRun run_at(std::uint64_t position, std::uint32_t n) override { return lost_.at(position, n); }
  std::vector<CardFigure> figures() const override;

 private:
  struct Counters {
    JitterCounters jitter;
    std::uint64_t sent = 0, unsent = 0, foreign = 0, malformed = 0, replayed = 0, not_authentic = 0;
    std::optional<ReceptionReport> far;  // the far end's report about our packets
    double round_trip_ms = 0;
  };
  void open_sockets();
  void exchange(const std::uint8_t* played, std::uint8_t* captured, std::size_t n);
  void adopt_media();
  void receive();
  void receive_packet(std::span<const std::uint8_t> octets);
  bool opened(SrtpStreams::Result result);
  void receive_reports();
  void send_packet();
  void send_report();
  void show();

  RtpConfig config_;
  InternetAddress local_;
  int socket_ = -1, control_ = -1;
  std::atomic<oh_encoding> law_{OH_MULAW};
  std::atomic<int> foreign_type_{-1};
  std::atomic<std::uint32_t> packet_samples_{160};
  LostRuns lost_;

  // The card's thread.
  bool connected_ = false;
  std::uint64_t position_ = 0, report_at_ = 0, read_reports_at_ = 0, show_at_ = 0;
  JitterBuffer buffer_;
  std::array<std::uint8_t, kRtpHeaderOctets + 240 + kSrtpTrailerOctets> packet_{};
  std::size_t filled_ = 0;
  RtpPacket next_;  // to be sent
  std::uint64_t sent_octets_ = 0;
  bool has_source_ = false;
  std::uint32_t source_ = 0, other_source_ = 0;
  std::uint32_t foreign_in_a_row_ = 0;
  std::uint32_t last_report_ = 0;
  std::int64_t last_report_ns_ = 0;
  std::uint32_t expected_before_ = 0, received_before_ = 0;
  std::unique_ptr<SrtpStreams> srtp_;  // none: the streams are not encrypted
  Counters counters_;

  mutable std::mutex mutex_;  // guards these; the card's thread only tries to lock it
  std::optional<RtpMedia> new_media_;
  bool has_new_media_ = false;
  std::unique_ptr<SrtpStreams> new_srtp_;  // with new_media_; afterwards the previous one
  Counters shown_;
};

/// The addresses and options after "rtp:". @throws std::runtime_error with the expected form
RtpConfig parse_rtp_place(std::string_view place);

extern const CardKind kRtpCards;

}  // namespace offhook
