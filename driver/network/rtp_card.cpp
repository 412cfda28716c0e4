// SPDX-License-Identifier: MIT
#include "driver/network/rtp_card.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "driver/base/printable.h"
#include "offhook/modem_card.h"

namespace offhook {

namespace {

constexpr std::uint32_t kRateHz = OH_MODEM_RATE_HZ;
constexpr std::uint64_t kReportEvery = 5 * kRateHz;  // RFC 3550 6.2
constexpr std::uint64_t kReadReportsEvery = kRateHz / 100;
constexpr std::uint64_t kShowEvery = kRateHz / 10;
constexpr std::uint32_t kBurst = kRateHz / 200;  // 5 ms, a quarter of a usual packet; this is the jitter that it adds
constexpr std::uint32_t kWholeBlock = OH_MODEM_RING_SAMPLES;  // without a far end
constexpr int kAtOnce = 64;                                   // packets read in one exchange
constexpr std::size_t kMostOctets = 2048;                     // of a packet
constexpr int kPairs = 100;                                   // attempts to find an even port with a free neighbour
constexpr std::uint8_t kComfortNoise = 13;                    // RFC 3389
constexpr std::uint8_t kFirstDynamic = 96;                    // RFC 3551 6: telephone-event is one of them

oh_streams octet_streams() {
  oh_streams streams = oh_modem_streams(kRateHz);
  streams.rx.encoding = streams.tx.encoding = OH_MULAW;
  return streams;
}

int bind_to(const InternetAddress& address) {
  const int fd = socket(address.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, address.get(), address.length) == 0) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return -1;
}

std::uint32_t random_number() {
  std::uint32_t n = 0;
  if (getrandom(&n, sizeof n, 0) != sizeof n) n = static_cast<std::uint32_t>(monotonic_ns());
  return n;
}

/// Seconds since 1900: 32 bits before the point and 32 after it.
std::uint64_t ntp_now() {
  constexpr std::uint64_t k1970 = 2'208'988'800;
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (static_cast<std::uint64_t>(t.tv_sec) + k1970) << 32 |
         (static_cast<std::uint64_t>(t.tv_nsec) << 32) / 1'000'000'000;
}

}  // namespace

RtpCard::RtpCard(const RtpConfig& config)
    : TimerCard({[](void* self, const void* played, void* captured, std::size_t n) {
                   static_cast<RtpCard*>(self)->exchange(static_cast<const std::uint8_t*>(played),
                                                         static_cast<std::uint8_t*>(captured), n);
                 },
                 this},
                octet_streams()),
      config_(config),
      buffer_(config.buffer_samples) {
  set_burst(kWholeBlock);
  next_.ssrc = random_number();
  next_.sequence = static_cast<std::uint16_t>(random_number());
  next_.timestamp = random_number();
  open_sockets();
  if (config.media) {
    set_media(config.media);
    adopt_media();
  }
}

RtpCard::~RtpCard() {
  for (const int fd : {socket_, control_})
    if (fd >= 0) close(fd);
}

void RtpCard::open_sockets() {
  for (int k = 0; k < kPairs; ++k) {
    socket_ = bind_to(config_.local);
    if (socket_ < 0) break;
    local_ = address_of_socket(socket_);
    InternetAddress above = local_;
    above.set_port(static_cast<std::uint16_t>(local_.port() + 1));
    if (config_.local.port() != 0 || local_.port() % 2 == 0) control_ = bind_to(above);
    if (control_ >= 0) return;
    const int error = errno;
    close(socket_);
    socket_ = -1;
    errno = error;
    if (config_.local.port() != 0) break;
  }
  throw std::runtime_error(config_.local.text() + ", or the port above it: " + std::generic_category().message(errno));
}

void RtpCard::set_media(const std::optional<RtpMedia>& media) {
  std::unique_ptr<SrtpStreams> srtp;  // created, and the old one freed, outside of the card's thread
  if (media && media->keys) srtp = std::make_unique<SrtpStreams>(*media->keys, next_.ssrc);
  const std::lock_guard lock(mutex_);
  new_srtp_.swap(srtp);
  new_media_ = media;
  has_new_media_ = true;
  if (media) law_.store(media->law, std::memory_order_relaxed);
  foreign_type_.store(-1, std::memory_order_relaxed);
}

/// @pre the mutex is held, or the card has not begun
void RtpCard::adopt_media() {
  has_new_media_ = false;
  connected_ = false;
  set_burst(kWholeBlock);
  show();
  if (!new_media_) return;  // the counts of the last call are kept
  srtp_.swap(new_srtp_);
  buffer_ = JitterBuffer(config_.buffer_samples);
  counters_ = {};
  expected_before_ = received_before_ = foreign_in_a_row_ = 0;
  has_source_ = false;
  filled_ = 0;
  std::array<std::uint8_t, kMostOctets> old;
  for (const int fd : {socket_, control_})
    while (recv(fd, old.data(), old.size(), 0) >= 0) {
    }
  InternetAddress control = new_media_->remote;
  control.set_port(static_cast<std::uint16_t>(control.port() + 1));
  // From here on, the kernel passes only packets from this address.
  connected_ = connect(socket_, new_media_->remote.get(), new_media_->remote.length) == 0 &&
               connect(control_, control.get(), control.length) == 0;
  if (connected_) set_burst(kBurst);
  packet_samples_ = new_media_->packet_samples;
  next_.payload_type = payload_type_of(new_media_->law);
  next_.marker = true;
  report_at_ = position_ + kReportEvery;
}

void RtpCard::exchange(const std::uint8_t* played, std::uint8_t* captured, std::size_t n) {
  if (mutex_.try_lock()) {
    if (has_new_media_) adopt_media();
    if (position_ >= show_at_) show();
    mutex_.unlock();
  }
  const std::uint8_t silence = oh_silence(law_.load(std::memory_order_relaxed));
  if (!connected_) {
    std::fill_n(captured, n, silence);
    position_ += n;
    return;
  }
  receive();
  for (std::size_t done = 0; done < n;) {
    JitterBuffer::Kind kind;
    const std::size_t k = buffer_.take(captured + done, n - done, &kind);
    if (kind != JitterBuffer::Kind::kSamples) std::fill_n(captured + done, k, silence);
    if (kind == JitterBuffer::Kind::kLost) lost_.add(position_ + done, static_cast<std::uint32_t>(k));
    done += k;
  }
  for (std::size_t i = 0; i < n; ++i) {
    packet_[kRtpHeaderOctets + filled_++] = played[i];
    if (filled_ >= packet_samples_) send_packet();
  }
  position_ += n;
  if (position_ >= read_reports_at_) receive_reports();
  if (position_ >= report_at_) send_report();
}

void RtpCard::receive() {
  std::array<std::uint8_t, kMostOctets> octets;
  for (int k = 0; k < kAtOnce; ++k) {
    const ssize_t n = recv(socket_, octets.data(), octets.size(), MSG_TRUNC);
    if (n < 0 && errno != ECONNREFUSED) return;  // no more packets; an error refers to a sent packet
    if (n < 0) continue;
    auto length = static_cast<std::size_t>(n);
    if (length > octets.size()) {
      ++counters_.malformed;
    } else if (!srtp_ || opened(srtp_->unprotect(octets.data(), &length))) {
      receive_packet({octets.data(), length});
    }
  }
}

/// Counts a packet that is not from the far end.
bool RtpCard::opened(SrtpStreams::Result result) {
  if (result == SrtpStreams::Result::kReplayed) ++counters_.replayed;
  if (result == SrtpStreams::Result::kNotAuthentic) ++counters_.not_authentic;
  return result == SrtpStreams::Result::kGood;
}

void RtpCard::receive_packet(std::span<const std::uint8_t> octets) {
  const std::optional<RtpPacket> packet = parse_rtp(octets);
  if (!packet) {
    ++counters_.malformed;
    return;
  }
  if (packet->payload_type != next_.payload_type) {
    ++counters_.foreign;
    const bool is_media = packet->payload_type != kComfortNoise && packet->payload_type < kFirstDynamic;
    if (is_media && ++foreign_in_a_row_ >= kForeignPackets) foreign_type_.store(packet->payload_type);
    return;
  }
  if (!has_source_ || (packet->ssrc != source_ && packet->ssrc == other_source_)) {
    if (has_source_) buffer_.expect_restart();
    has_source_ = true;
    source_ = packet->ssrc;
  }
  other_source_ = packet->ssrc;
  if (packet->ssrc != source_) return;
  foreign_in_a_row_ = 0;
  buffer_.put(packet->sequence, packet->timestamp, packet->payload);
}

void RtpCard::send_packet() {
  write_rtp_header(next_, packet_.data());
  std::size_t octets = kRtpHeaderOctets + filled_;
  if (srtp_) octets = srtp_->protect(packet_.data(), octets);
  const bool sent = octets > 0 && send(socket_, packet_.data(), octets, 0) == static_cast<ssize_t>(octets);
  ++(sent ? counters_.sent : counters_.unsent);
  sent_octets_ += filled_;
  ++next_.sequence;
  next_.timestamp += static_cast<std::uint32_t>(filled_);
  next_.marker = false;
  filled_ = 0;
}

void RtpCard::receive_reports() {
  read_reports_at_ = position_ + kReadReportsEvery;
  std::array<std::uint8_t, kMostOctets> octets;
  for (int k = 0; k < kAtOnce; ++k) {
    const ssize_t n = recv(control_, octets.data(), octets.size(), 0);
    if (n < 0 && errno != ECONNREFUSED) return;
    if (n < 0) continue;
    auto length = static_cast<std::size_t>(n);
    if (srtp_ && !opened(srtp_->unprotect_report(octets.data(), &length))) continue;
    const auto report = parse_rtcp({octets.data(), length});
    if (!report) {
      ++counters_.malformed;
      continue;
    }
    if (report->ntp != 0) {
      last_report_ = static_cast<std::uint32_t>(report->ntp >> 16);
      last_report_ns_ = monotonic_ns();
    }
    if (!report->reception || report->reception->ssrc != next_.ssrc) continue;
    counters_.far = report->reception;
    if (report->reception->last_report == 0) continue;
    const auto now = static_cast<std::uint32_t>(ntp_now() >> 16);
    const std::uint32_t passed = now - report->reception->last_report - report->reception->since_report;
    counters_.round_trip_ms = static_cast<std::int32_t>(passed) * 1000. / 65536;
  }
}

void RtpCard::send_report() {
  report_at_ = position_ + kReportEvery;
  RtcpReport report;
  report.ssrc = next_.ssrc;
  report.ntp = ntp_now();
  report.timestamp = next_.timestamp;
  report.packets = static_cast<std::uint32_t>(counters_.sent);
  report.octets = static_cast<std::uint32_t>(sent_octets_);
  if (has_source_) {
    const JitterCounters& j = buffer_.counters();
    const auto received = static_cast<std::uint32_t>(j.received),
               expected = static_cast<std::uint32_t>(j.received + j.lost);
    const std::uint32_t more = expected - expected_before_, came = received - received_before_;
    ReceptionReport r;
    r.ssrc = source_;
    r.fraction_lost = static_cast<std::uint8_t>(more > came ? std::min(255u, 256 * (more - came) / more) : 0);
    r.lost = static_cast<std::int32_t>(std::min<std::uint64_t>(j.lost, 0x7fffff));
    r.highest = j.highest;
    r.jitter_samples = j.jitter_samples;
    r.last_report = last_report_;
    if (last_report_ != 0)
      r.since_report = static_cast<std::uint32_t>((monotonic_ns() - last_report_ns_) * 65536 / 1'000'000'000);
    report.reception = r;
    expected_before_ = expected;
    received_before_ = received;
  }
  std::array<std::uint8_t, kRtcpOctets + kSrtpTrailerOctets> octets;
  std::size_t n = write_rtcp(report, octets.data());
  if (srtp_) n = srtp_->protect_report(octets.data(), n);
  if (n == 0) return;
  [[maybe_unused]] const ssize_t sent = send(control_, octets.data(), n, 0);
}

void RtpCard::show() {
  show_at_ = position_ + kShowEvery;
  counters_.jitter = buffer_.counters();
  shown_ = counters_;
}

LiveCard::Wait RtpCard::wait() {
  const Wait why = TimerCard::wait();
  return why == Wait::kInterrupt && config_.media && foreign_type() >= 0 ? Wait::kGone : why;
}

std::string RtpCard::failure() const {
  const int type = foreign_type();
  if (type < 0) return "";
  return fmt::format(
      "the far end sends RTP payload type {}; expected {}, G.711 {}: a path with another codec does not carry a modem",
      type, payload_type_of(encoding()), encoding() == OH_ALAW ? "A-law" : "mu-law");
}

std::vector<CardFigure> RtpCard::figures() const {
  const std::lock_guard lock(mutex_);
  const Counters& c = shown_;
  const JitterCounters& j = c.jitter;
  const auto n = [](auto x) { return static_cast<std::int64_t>(x); };
  std::vector<CardFigure> all = {{"packets_sent", n(c.sent)},
                                 {"packets_unsent", n(c.unsent)},
                                 {"packets_received", n(j.received)},
                                 {"packets_lost", n(j.lost)},
                                 {"packets_duplicate", n(j.duplicates)},
                                 {"packets_reordered", n(j.reordered)},
                                 {"packets_late", n(j.late)},
                                 {"packets_strange", n(j.strange)},
                                 {"packets_foreign", n(c.foreign)},
                                 {"packets_malformed", n(c.malformed)},
                                 {"packets_replayed", n(c.replayed)},
                                 {"packets_not_authentic", n(c.not_authentic)},
                                 {"samples_lost", n(j.lost_samples)},
                                 {"timestamp_jumps", n(j.jumps)},
                                 {"stream_restarts", n(j.restarts)},
                                 {"slips", n(j.slips)},
                                 {"samples_slipped", n(j.slipped_samples)},
                                 {"jitter_ms", j.jitter_samples * 1000. / kRateHz},
                                 {"far_clock_ppm", j.clock_ppm}};
  if (c.far) {
    all.push_back({"far_end_packets_lost", n(c.far->lost)});
    all.push_back({"far_end_jitter_ms", c.far->jitter_samples * 1000. / kRateHz});
    all.push_back({"network_round_trip_ms", c.round_trip_ms});
  }
  return all;
}

RtpConfig parse_rtp_place(std::string_view place) {
  constexpr std::uint32_t kPerMs = kRateHz / 1000;
  const CardPlace parts = card_place(place);
  if (parts.words.size() != 2)
    throw std::runtime_error(
        fmt::format("rtp:{}: expected rtp:LOCAL,REMOTE, such as rtp::4000,192.0.2.1:4000", printable(place)));
  RtpConfig config;
  RtpMedia media;
  for (const CardOption& option : parts.options) {
    if (option.name == "law" && (option.value == "pcmu" || option.value == "pcma")) {
      media.law = option.value == "pcma" ? OH_ALAW : OH_MULAW;
    } else if (option.name == "ptime" && (option.value == "10" || option.value == "20" || option.value == "30")) {
      media.packet_samples = kPerMs * option_number(option, 10, 30);
    } else if (option.name == "buffer") {
      config.buffer_samples = kPerMs * option_number(option, 1, RtpCard::kMostBufferSamples / kPerMs);
    } else {
      throw std::runtime_error(
          fmt::format("rtp: \"{}={}\" is not an option; expected law=pcmu or pcma, ptime=10, 20 or 30, or buffer=MS",
                      printable(option.name), printable(option.value)));
    }
  }
  config.local = internet_address(parts.words[0]);
  media.remote = internet_address(parts.words[1]);
  config.media = media;
  return config;
}

const CardKind kRtpCards = {"rtp", "rtp:LOCAL,REMOTE", true,
                            [](const std::string& place, const CardRates&) -> std::unique_ptr<LiveCard> {
                              return std::make_unique<RtpCard>(parse_rtp_place(place));
                            },
                            [] {
                              return std::vector<CardDevice>{
                                  {"network", "rtp:LOCAL,REMOTE",
                                   "G.711 in RTP packets between two addresses; options ,law=pcma ,ptime=MS ,buffer=MS",
                                   "8000 octets/s, by the clock; V.90's digital side", true}};
                            }};

}  // namespace offhook
