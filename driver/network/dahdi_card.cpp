// SPDX-License-Identifier: MIT
#include "driver/network/dahdi_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "driver/base/printable.h"
#include "driver/network/internet_address.h"
#include "offhook/modem_card.h"

#if __has_include(<dahdi/user.h>)
#include <dahdi/user.h>
#define OFFHOOK_HAS_DAHDI
#endif

namespace offhook {

#ifdef OFFHOOK_HAS_DAHDI

namespace {

constexpr std::uint32_t kRateHz = OH_MODEM_RATE_HZ;
constexpr int kPollMs = 100;         // delay until stop() is noticed
constexpr std::uint64_t kChunk = 8;  // samples that the kernel keeps or drops together (DAHDI_CHUNKSIZE)
constexpr std::uint64_t kRingOn = 2 * kRateHz, kRingPeriod = 6 * kRateHz;
static_assert(DahdiCard::kBuffers == DAHDI_MAX_NUM_BUFS);

oh_streams streams_of(oh_encoding encoding) {
  oh_streams streams = oh_modem_streams(kRateHz);
  for (oh_stream_format* direction : {&streams.rx, &streams.tx}) {
    direction->encoding = encoding;
    direction->block_min = direction->block_max = DahdiCard::kBlock;
  }
  return streams;
}

void count(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

}  // namespace

DahdiCard::DahdiCard(std::unique_ptr<DahdiDevice> device, const DahdiConfig& config)
    : device_(std::move(device)),
      name_(config.name),
      line_{[](void* self, const void* played, void* captured, std::size_t n) {
              static_cast<DahdiCard*>(self)->exchange(static_cast<const std::uint8_t*>(played),
                                                      static_cast<std::uint8_t*>(captured), n);
            },
            this},
      watch_(kRateHz, kBlock) {
  const oh_encoding encoding = configure(config);
  width_ = oh_sample_bytes(encoding);
  played_.fill(oh_silence(encoding));
  build(streams_of(encoding));
}

void DahdiCard::must(unsigned long request, void* argument, const char* what) {
  if (const int result = device_->control(request, argument); result < 0)
    throw std::runtime_error(fmt::format("{}: {}: {}", name_, what, dahdi_reason(-result)));
}

void DahdiCard::set(unsigned long request, int value, const char* what) {
  must(request, &value, what);
}

oh_encoding DahdiCard::configure(const DahdiConfig& config) {
  if (config.channel > 0) set(DAHDI_SPECIFY, config.channel, "cannot be opened");
  dahdi_params channel{};
  must(DAHDI_GET_PARAMS, &channel, "has no parameters");
  if ((channel.sigtype & DAHDI_SIG_CLEAR) != 0 && channel.sigtype != DAHDI_SIG_CLEAR)
    throw std::runtime_error(name_ + ": carries HDLC frames; expected a channel of samples, such as clear or bchan");
  if (channel.sigtype == DAHDI_SIG_CLEAR) set(DAHDI_AUDIOMODE, 1, "cannot carry audio");
  if ((channel.sigtype & __DAHDI_SIG_FXS) != 0) signalling_ = Signalling::kExchange;
  if ((channel.sigtype & __DAHDI_SIG_FXO) != 0) signalling_ = Signalling::kSubscriber;
  if (channel.sigtype == DAHDI_SIG_EM || channel.sigtype == DAHDI_SIG_EM_E1) signalling_ = Signalling::kTrunk;
  rings_ = far_off_hook_ = channel.rxisoffhook != 0 && seizes();
  dahdi_spaninfo span{};
  span.spanno = channel.spanno;
  must(DAHDI_SPANSTAT, &span, "has no span");
  const bool analogue = span.linecompat == 0;
  const oh_encoding law = set_law(config.law);
  set_transparent(analogue);
  return analogue ? OH_LINEAR16 : law;
}

/// @return the companding law of the channel
oh_encoding DahdiCard::set_law(std::optional<oh_encoding> law) {
  if (law) set(DAHDI_SETLAW, *law == OH_ALAW ? DAHDI_LAW_ALAW : DAHDI_LAW_MULAW, "cannot have this law");
  dahdi_params channel{};
  must(DAHDI_GET_PARAMS, &channel, "has no parameters");
  const oh_encoding own = channel.curlaw == DAHDI_LAW_ALAW ? OH_ALAW : OH_MULAW;
  if (law && *law != own)
    throw std::runtime_error(fmt::format("{}: the span's law is {}: give law={} or none", name_,
                                         own == OH_ALAW ? "A-law" : "mu-law", own == OH_ALAW ? "pcma" : "pcmu"));
  return own;
}

/// The kernel must not change samples; blocks and buffers have the sizes that this card uses.
void DahdiCard::set_transparent(bool linear) {
  set(DAHDI_SETLINEAR, linear ? 1 : 0, "cannot have this format");
  set(DAHDI_ECHOCANCEL, 0, "does not turn its echo canceller off");
  dahdi_gains gains{};
  for (int k = 0; k < 256; ++k) gains.rxgain[k] = gains.txgain[k] = static_cast<unsigned char>(k);
  must(DAHDI_SETGAINS, &gains, "does not take gains of 0 dB");
  dahdi_bufferinfo buffers{};
  buffers.txbufpolicy = buffers.rxbufpolicy = DAHDI_POLICY_IMMEDIATE;
  buffers.numbufs = kBuffers;
  buffers.bufsize = kBlock;
  must(DAHDI_SET_BUFINFO, &buffers, "does not take blocks of 8 ms");
}

void DahdiCard::start() {
  oh_card_engine_start(&engine_, static_cast<std::uint64_t>(device_->now_ns()));
  position_ = passed_ = sent_to_ = engine_.position;
  set(DAHDI_FLUSH, DAHDI_FLUSH_BOTH, "does not start");
  set(DAHDI_BUFFER_EVENTS, 1, "does not report lost samples");  // discards earlier events
  watch_.restart(passed_, device_->now_ns());
  refill();
}

LiveCard::Wait DahdiCard::gone(const std::string& why) {
  failure_ = name_ + ": " + why;
  return Wait::kGone;
}

LiveCard::Wait DahdiCard::wait() {
  while (!stopped_.load(std::memory_order_relaxed)) {
    follow_hook();
    const bool at_gap = gap_ > 0 && before_gap_ == 0;
    if (!at_gap && filled_ < kBlock) {
      if (const auto outcome = fetch()) return *outcome;
    } else if (pass()) {
      return Wait::kInterrupt;
    }
  }
  return Wait::kStopped;
}

/// Samples, an event, or a wait for either. @return empty: continue; or the result of wait()
std::optional<LiveCard::Wait> DahdiCard::fetch() {
  const long n = device_->read(&block_[filled_ * width_], (kBlock - filled_) * width_);
  if (n >= static_cast<long>(width_)) {
    filled_ += static_cast<std::uint32_t>(static_cast<std::size_t>(n) / width_);
    if (filled_ < kBlock) return std::nullopt;
    passed_ += kBlock;
    count(received_, kBlock);
    watch_.seen(passed_ + gap_, device_->now_ns());
    return std::nullopt;
  }
  if (n == -ELAST) return take_events();
  if (n < 0 && n != -EAGAIN && n != -EINTR) return gone("the device is gone: " + dahdi_reason(static_cast<int>(-n)));
  if (const std::string why = watch_.verdict(device_->now_ns()); !why.empty()) return gone(why);
  if (const int result = device_->wait(kPollMs); result < 0)
    return gone("the device is gone: " + dahdi_reason(-result));
  prompt_ = true;
  return std::nullopt;
}

std::optional<LiveCard::Wait> DahdiCard::take_events() {
  for (int k = 0; k < DAHDI_MAX_EVENTSIZE; ++k) {
    int event = DAHDI_EVENT_NONE;
    if (const int result = device_->control(DAHDI_GETEVENT, &event); result < 0)
      return gone("the device is gone: " + dahdi_reason(-result));
    if (event == DAHDI_EVENT_REMOVED) return gone("the device is gone: its span was removed");
    if (event == DAHDI_EVENT_NONE) break;
    take_event(event);
  }
  return std::nullopt;
}

void DahdiCard::take_event(int event) {
  switch (event) {
    case DAHDI_EVENT_RINGBEGIN:
      ring_end_ = position_ + kRingOn;
      break;
    case DAHDI_EVENT_RINGOFFHOOK:  // the far end went off hook, or a ring from an exchange ended
      ring_end_ = position_;
      if (!seizes()) break;
      far_off_hook_ = true;
      rings_ = !was_off_hook_;
      ring_begin_ = position_;
      if (was_off_hook_ && signalling_ == Signalling::kSubscriber) {
        int off_hook = DAHDI_OFFHOOK;
        device_->control(DAHDI_HOOK, &off_hook);
      }
      break;
    case DAHDI_EVENT_ONHOOK:
      rings_ = far_off_hook_ = false;
      if (was_off_hook_) end_.store(End::kHungUp);
      break;
    case DAHDI_EVENT_ALARM:
      if (was_off_hook_) end_.store(End::kAlarm);
      break;
    case DAHDI_EVENT_READ_OVERRUN:
      note_overrun();
      break;
    case DAHDI_EVENT_WRITE_UNDERRUN:
      count(underruns_, 1);
      dry_ = true;
      prompt_ = false;
      break;
    default:  // pulses, tones, polarity: samples do not depend on them
      break;
  }
}

/// All buffers are full, so later samples are lost until a buffer is read, which happens next.
void DahdiCard::note_overrun() {
  const std::uint64_t kept = passed_ + gap_ + kBuffers * kBlock;
  const std::uint64_t expected = std::max(watch_.expected(device_->now_ns()), kept + kChunk);
  const std::uint64_t dropped = (expected - kept + kChunk / 2) / kChunk * kChunk;
  before_gap_ = kBuffers * kBlock;
  gap_ += dropped;
  count(overruns_, 1);
  count(lost_samples_, dropped);
}

/// Writes available or lost samples into the rings. @return whether a block of the card has ended
bool DahdiCard::pass() {
  losing_ = gap_ > 0 && before_gap_ == 0;
  const std::uint64_t most = losing_ ? gap_ : kBlock - at_;
  const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, oh_card_engine_left(&engine_)));
  const bool ended = oh_card_engine_run(&engine_, &line_, n, static_cast<std::uint64_t>(device_->now_ns())) > 0;
  if (losing_) {
    gap_ -= n;
    passed_ += n;
  } else {
    before_gap_ -= std::min<std::uint64_t>(before_gap_, n);
  }
  if (at_ == kBlock) {
    at_ = filled_ = 0;
    send();
  }
  follow_ringing();
  return ended;
}

void DahdiCard::exchange(const std::uint8_t* played, std::uint8_t* captured, std::size_t n) {
  const std::size_t octets = n * width_, all = kQueuedBlocks * kBlock * width_;
  std::memmove(played_.data(), played_.data() + octets, all - octets);
  std::memcpy(played_.data() + all - octets, played, octets);
  if (losing_) {
    std::memset(captured, oh_silence(encoding()), octets);
    lost_.add(position_, static_cast<std::uint32_t>(n));
  } else {
    std::memcpy(captured, &block_[at_ * width_], octets);
    at_ += static_cast<std::uint32_t>(n);
  }
  position_ += n;
}

/// After each received block as many samples are queued. If the queue ran out, it is filled again when the thread has
/// waited for a block, because then the queue's delay is unchanged.
void DahdiCard::send() {
  if (!dry_) return put(kBlock);
  if (prompt_) refill();
}

void DahdiCard::refill() {
  int queue = DAHDI_FLUSH_WRITE;
  device_->control(DAHDI_FLUSH, &queue);
  dry_ = false;
  if (position_ > sent_to_ + kQueuedBlocks * kBlock) count(unsent_, position_ - kQueuedBlocks * kBlock - sent_to_);
  put(kQueuedBlocks * kBlock);
}

/// Queues the latest samples that were played. @param samples  a multiple of a block, at most those that are kept
void DahdiCard::put(std::uint32_t samples) {
  std::size_t from = (kQueuedBlocks * kBlock - samples) * width_;
  const std::size_t end = kQueuedBlocks * kBlock * width_;
  while (from < end && !dry_) {
    const long n = device_->write(&played_[from], std::min(end - from, kBlock * width_));
    if (n > 0) {
      from += static_cast<std::size_t>(n);
    } else if (n == -ELAST) {
      if (take_events()) break;  // the next read returns the reason
    } else if (n != -EINTR) {
      count(unsent_, (end - from) / width_);
      break;
    }
  }
  sent_to_ = position_;
}

void DahdiCard::follow_hook() {
  const bool off_hook = oh_card_off_hook(&state()) != 0;
  if (off_hook == was_off_hook_) return;
  if (signalling_ != Signalling::kNone) {
    int hook = DAHDI_ONHOOK;
    if (off_hook) hook = signalling_ == Signalling::kSubscriber && !far_off_hook_ ? DAHDI_RING : DAHDI_OFFHOOK;
    const int result = device_->control(DAHDI_HOOK, &hook);
    if (result == -EBUSY) return;  // the last call is still being released: try in the next block
    end_.store(off_hook && result < 0 && result != -EINPROGRESS ? End::kRefused : End::kNone);
  } else {
    end_.store(End::kNone);
  }
  was_off_hook_ = off_hook;
  rings_ = false;
  ring_end_ = position_;
}

void DahdiCard::follow_ringing() {
  bool rings = false;
  if (!was_off_hook_) rings = rings_ ? (position_ - ring_begin_) % kRingPeriod < kRingOn : position_ < ring_end_;
  oh_card_set_ringing(&state(), rings);
}

std::string_view DahdiCard::line_failure() const {
  switch (end_.load()) {
    case End::kNone:
      return "";
    case End::kRefused:
      return "the DAHDI channel does not go off hook";
    case End::kHungUp:
      return "the far end hung up";
    case End::kAlarm:
      return "the DAHDI span is in alarm";
  }
  return "";
}

std::vector<CardFigure> DahdiCard::figures() const {
  const auto n = [](const std::atomic<std::uint64_t>& x) { return static_cast<std::int64_t>(x.load()); };
  return {{"samples_received", n(received_)},
          {"samples_lost", n(lost_samples_)},
          {"samples_unsent", n(unsent_)},
          {"overruns", n(overruns_)},
          {"underruns", n(underruns_)}};
}

#endif

DahdiConfig parse_dahdi_place(std::string_view place) {
  const CardPlace parts = card_place(place);
  DahdiConfig config;
  for (const CardOption& option : parts.options) {
    if (option.name != "law" || (option.value != "pcmu" && option.value != "pcma"))
      throw std::runtime_error(fmt::format("dahdi: \"{}={}\" is not an option; expected law=pcmu or pcma",
                                           printable(option.name), printable(option.value)));
    config.law = option.value == "pcma" ? OH_ALAW : OH_MULAW;
  }
  const std::string_view word = parts.words.size() == 1 ? parts.words[0] : "";
  const auto number = [](std::string_view text) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    return error == std::errc() && end == text.data() + text.size() ? n : 0;
  };
  const std::size_t slash = word.find('/');
  if (!word.empty() && slash == 0) {
    config.device = word;
  } else if (const int channel = number(word); channel > 0) {
    config.device = "/dev/dahdi/channel";
    config.channel = channel;
  } else if (slash != std::string_view::npos && number(word.substr(0, slash)) > 0 &&
             number(word.substr(slash + 1)) > 0) {
    config.device =
        fmt::format("/dev/dahdi/chan/{:03}/{:03}", number(word.substr(0, slash)), number(word.substr(slash + 1)));
  } else {
    throw std::runtime_error(
        fmt::format("dahdi:{}: expected the number of a channel, SPAN/CHANNEL or a device: dahdi:1, dahdi:1/1 or "
                    "dahdi:/dev/dahdi/1",
                    printable(place)));
  }
  config.name = "dahdi:" + printable(word);
  return config;
}

namespace {

#ifdef OFFHOOK_HAS_DAHDI
std::unique_ptr<DahdiCard> open_card_of(const DahdiConfig& config) {
  return std::make_unique<DahdiCard>(open_dahdi_device(config.device), config);
}
#else
std::unique_ptr<LiveCard> open_card_of(const DahdiConfig& config) {
  throw std::runtime_error(config.name +
                           ": this build has no DAHDI: dahdi/user.h (dahdi-source) was not installed when it was "
                           "configured");
}
#endif

std::unique_ptr<LiveCard> open_channel(const std::string& place, const CardRates&) {
  return open_card_of(parse_dahdi_place(place));
}

/// Channels are not opened: that would hang them up.
std::vector<CardDevice> channels() {
  std::vector<CardDevice> all;
#ifdef OFFHOOK_HAS_DAHDI
  constexpr const char* kFormat = "8000 octets/s by the span's clock, V.90's digital side; analogue ports: 16 bits";
  std::error_code none;
  for (const auto& span : std::filesystem::directory_iterator("/dev/dahdi/chan", none))
    for (const auto& channel : std::filesystem::directory_iterator(span, none)) {
      const int s = std::atoi(span.path().filename().c_str()), c = std::atoi(channel.path().filename().c_str());
      all.push_back(
          {"DAHDI", fmt::format("dahdi:{}/{}", s, c), fmt::format("Channel {} of DAHDI span {}", c, s), kFormat, true});
    }
  std::sort(all.begin(), all.end(), [](const CardDevice& a, const CardDevice& b) { return a.address < b.address; });
  if (all.empty())
    all.push_back({"DAHDI", "dahdi:CHANNEL", "A channel of a T1, an E1 or an analogue port; option ,law=pcma",
                   "no channel: is the kernel module dahdi loaded?", false});
#else
  all.push_back({"DAHDI", "dahdi:CHANNEL", "A channel of a T1, an E1 or an analogue port",
                 "this build has no DAHDI: dahdi/user.h (dahdi-source) was not installed", false});
#endif
  return all;
}

}  // namespace

std::unique_ptr<LiveCard> open_ringing_channel(const DahdiConfig& config) {
  auto card = open_card_of(config);
#ifdef OFFHOOK_HAS_DAHDI
  if (!card->can_ring())
    throw std::runtime_error(config.name + ": never rings; expected a signalling with a ring, such as e&m or fxsks");
#endif
  return card;
}

const CardKind kDahdiCards = {"dahdi", "dahdi:CHANNEL", true, open_channel, channels};

}  // namespace offhook
