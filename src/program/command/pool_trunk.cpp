// SPDX-License-Identifier: MIT
#include "src/program/command/pool_trunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "driver/base/printable.h"
#include "driver/network/audiosocket_card.h"
#include "driver/network/audiosocket_listener.h"
#include "driver/network/dahdi_group.h"
#include "driver/sip/sip_line.h"

namespace offhook::command {
namespace {

using Say = std::function<void(const std::string&)>;

/// The lines of an account. Its phone refuses further calls as busy.
class SipTrunk final : public PoolTrunk {
 public:
  SipTrunk(const sip::SipPlace& place, std::size_t lines) : account_(place.account) {
    RtpConfig media;
    media.local = account_.local;
    media.local.set_port(0);
    media.buffer_samples = place.buffer_samples;
    for (std::size_t k = 0; k < lines; ++k) cards_.push_back(std::make_unique<RtpCard>(media));
  }
  std::size_t lines() const override { return cards_.size(); }
  LiveCard& card(std::size_t line) override { return *cards_[line]; }
  std::string address(std::size_t) const override { return fmt::format("sip:{}@{}", account_.user, account_.host); }
  void begin(const std::vector<modem::Session*>& sessions) override {
    std::vector<sip::LinePorts> ports;
    for (const auto& card : cards_) ports.push_back({.media = card->local_port()});
    phone_ = sip::make_phone(account_, ports);
    for (std::size_t k = 0; k < cards_.size(); ++k)
      lines_.push_back(std::make_unique<sip::SipLine>(*phone_, k, *cards_[k], *sessions[k]));
  }
  modem::CallLine& line(std::size_t line) override { return *lines_[line]; }
  void end() override {
    lines_.clear();
    phone_.reset();
  }
  void work(std::int64_t, const Say&) override {}
  bool rings(std::size_t line) const override { return phone_->call(line).state == sip::CallState::kRinging; }
  std::string caller(std::size_t line) const override { return phone_->call(line).caller.number; }
  bool refuse(std::size_t line) override {
    phone_->hang_up(line);
    return false;
  }
  void close(std::size_t line) override { phone_->accept(line, false); }
  std::string news() const override { return "SIP: " + phone_->registration(); }

 private:
  sip::Account account_;
  std::vector<std::unique_ptr<RtpCard>> cards_;
  std::unique_ptr<sip::Phone> phone_;
  std::vector<std::unique_ptr<sip::SipLine>> lines_;
};

/// A port. Each connection that has named its call goes to a free line. If there is none, the connection is closed.
class AudioSocketTrunk final : public PoolTrunk {
 public:
  AudioSocketTrunk(AudioSocketConfig config, std::size_t lines) : listener_(config.address) {
    config.shares_listener = true;
    lines_.resize(lines);
    for (Line& line : lines_) line.card = std::make_unique<AudioSocketCard>(config);
  }
  ~AudioSocketTrunk() override {
    for (const Line& line : lines_)
      if (line.offered >= 0) refuse_audiosocket(line.offered);
  }
  std::size_t lines() const override { return lines_.size(); }
  LiveCard& card(std::size_t line) override { return *lines_[line].card; }
  std::string address(std::size_t) const override { return "audiosocket:" + listener_.address().text(); }
  void begin(const std::vector<modem::Session*>& sessions) override { sessions_ = sessions; }
  modem::CallLine& line(std::size_t line) override { return *sessions_[line]; }
  void end() override { sessions_.clear(); }
  void work(std::int64_t now_ms, const Say& say) override {
    for (Line& line : lines_)
      if (line.state == State::kRings && line.offered < 0 && (off_hook(line) || !line.card->has_connection()))
        line.state = State::kInProgress;
    for (const AudioSocketListener::Connection& call : listener_.arrived(now_ms)) give(call, say);
  }
  bool rings(std::size_t line) const override { return lines_[line].state == State::kRings; }
  std::string caller(std::size_t line) const override { return lines_[line].caller; }
  void answer(std::size_t line) override { lines_[line].card->take(std::exchange(lines_[line].offered, -1)); }
  bool refuse(std::size_t line) override {
    if (lines_[line].offered >= 0) refuse_audiosocket(std::exchange(lines_[line].offered, -1));
    lines_[line].state = State::kFree;
    return true;
  }
  void ended(std::size_t line) override { lines_[line].state = State::kFree; }
  void close(std::size_t line) override {
    refuse(line);
    lines_[line].state = State::kClosed;
  }

 private:
  enum class State : std::uint8_t { kFree, kRings, kInProgress, kClosed };
  struct Line {
    std::unique_ptr<AudioSocketCard> card;
    State state = State::kFree;
    int offered = -1;  // socket of a ringing call, until it is answered
    std::string caller;
  };
  static bool off_hook(const Line& line) { return oh_card_off_hook(&line.card->state()) != 0; }
  /// The card may not have ended the previous call yet.
  static bool is_free(const Line& line) {
    return line.state == State::kFree && !off_hook(line) && !line.card->has_connection();
  }
  void give(const AudioSocketListener::Connection& call, const Say& say) {
    const auto line = std::find_if(lines_.begin(), lines_.end(), is_free);
    if (!call.uuid.empty() && line != lines_.end()) {
      line->state = State::kRings;
      line->offered = call.socket;
      line->caller = call.uuid;
      return;
    }
    refuse_audiosocket(call.socket);
    const bool closed =
        std::any_of(lines_.begin(), lines_.end(), [](const Line& l) { return l.state == State::kClosed; });
    say(fmt::format("caller {} refused: {}", call.uuid.empty() ? "unknown" : call.uuid,
                    call.uuid.empty() ? "its first message is not a UUID"
                    : closed          ? "no further calls"
                                      : fmt::format("no line of {} is free", lines_.size())));
  }

  AudioSocketListener listener_;
  std::vector<Line> lines_;
  std::vector<modem::Session*> sessions_;
};

/// Channels. Their callers have no names. A call that is not answered continues to ring.
class DahdiTrunk final : public PoolTrunk {
 public:
  DahdiTrunk(const std::vector<DahdiGroupChannel>& channels, std::size_t most, const Say& say) {
    for (const DahdiGroupChannel& channel : channels) {
      if (lines_.size() == most) break;
      try {
        lines_.push_back({open_ringing_channel(channel.config), channel.config.name, {}, false});
      } catch (const std::runtime_error& e) {
        if (!channel.of_whole_span) throw;
        say(fmt::format("without {}", e.what()));
        last_refusal_ = e.what();
      }
    }
    if (lines_.empty()) throw std::runtime_error("no channel can be used: " + last_refusal_);
  }
  std::size_t lines() const override { return lines_.size(); }
  LiveCard& card(std::size_t line) override { return *lines_[line].card; }
  std::string address(std::size_t line) const override { return lines_[line].name; }
  void begin(const std::vector<modem::Session*>& sessions) override { sessions_ = sessions; }
  modem::CallLine& line(std::size_t line) override { return *sessions_[line]; }
  void end() override { sessions_.clear(); }
  void work(std::int64_t now_ms, const Say&) override {
    for (Line& line : lines_) {
      const oh_card_state& state = line.card->state();
      line.bursts.follow(oh_card_ringing(&state) != 0, oh_card_off_hook(&state) != 0, now_ms);
    }
  }
  bool rings(std::size_t line) const override { return !lines_[line].closed && lines_[line].bursts.rings(); }
  std::string caller(std::size_t) const override { return {}; }
  bool names_callers() const override { return false; }
  void close(std::size_t line) override { lines_[line].closed = true; }

 private:
  struct Line {
    std::unique_ptr<LiveCard> card;
    std::string name;
    RingBursts bursts;
    bool closed;
  };
  std::vector<Line> lines_;
  std::string last_refusal_;
  std::vector<modem::Session*> sessions_;
};

}  // namespace

std::unique_ptr<PoolTrunk> open_pool_trunk(const std::string& address, std::size_t lines, const Say& say) {
  const std::size_t colon = address.find(':');
  const std::string_view kind = std::string_view(address).substr(0, colon);
  const std::string_view place = colon == std::string::npos ? "" : std::string_view(address).substr(colon + 1);
  const std::size_t usual = lines > 0 ? lines : kUsualLines;
  if (kind == "sip" && !place.empty()) return std::make_unique<SipTrunk>(sip::parse_sip_place(place), usual);
  if (kind == "audiosocket" && !place.empty()) {
    const AudioSocketConfig config = parse_audiosocket_place(place);
    if (!config.listens)
      throw std::runtime_error(
          fmt::format("{}: a pool takes calls; expected audiosocket:HOST:PORT,listen", printable(address)));
    return std::make_unique<AudioSocketTrunk>(config, usual);
  }
  if (kind == "dahdi" && !place.empty())
    return std::make_unique<DahdiTrunk>(parse_dahdi_group(place), lines > 0 ? lines : kMostLines, say);
  throw std::runtime_error("\"" + printable(address) +
                           "\": expected sip:USER@HOST, audiosocket:HOST:PORT,listen or dahdi:SPAN");
}

}  // namespace offhook::command
