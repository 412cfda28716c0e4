// SPDX-License-Identifier: MIT
//
// The source of the calls of `offhook pool`: a SIP account, a port for AudioSocket, or channels of DAHDI. It has a card
// per line, and reports which line rings, and the caller. The rest of a line is the same for each kind (pool.cpp).
//
//   free -- a call arrives --> rings -- answer(), and the modem goes off hook --> in progress -- ended() --> free
//                                |
//                                +-- refuse(), or the caller gives up --> free
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driver/session/session.h"

namespace offhook::command {

/// Only from the owner's thread.
class PoolTrunk {
 public:
  virtual ~PoolTrunk() = default;
  virtual std::size_t lines() const = 0;
  virtual LiveCard& card(std::size_t line) = 0;
  /// Name of the line, for people.
  virtual std::string address(std::size_t line) const = 0;
  /// Calls may arrive from now on. @param sessions  [lines()] of the cards; they must outlive end()
  virtual void begin(const std::vector<modem::Session*>& sessions) = 0;
  /// Call it after begin(), until end().
  virtual modem::CallLine& line(std::size_t line) = 0;
  /// Releases its lines.
  virtual void end() = 0;

  /// Call it once per round of the owner, before the lines. @param say  receives lines of the log
  virtual void work(std::int64_t now_ms, const std::function<void(const std::string&)>& say) = 0;
  virtual bool rings(std::size_t line) const = 0;
  /// Caller of the ringing call; empty: unknown.
  virtual std::string caller(std::size_t line) const = 0;
  /// Whether it can name callers.
  virtual bool names_callers() const { return true; }
  /// The line's modem gets the ringing call.
  virtual void answer(std::size_t) {}
  /// Ends the ringing call. If the network cannot express this, the call is not answered.
  /// @return whether it is over. If not, it may continue to ring, and this is called in each round until rings() is
  /// false
  virtual bool refuse(std::size_t) { return false; }
  /// The call of the modem is over.
  virtual void ended(std::size_t) {}
  /// The line, which has no call, accepts no more.
  virtual void close(std::size_t line) = 0;
  /// For people, such as "SIP: registered"; empty: no state.
  virtual std::string news() const { return {}; }
};

/// Whether a line still rings if its far end does not signal the end of a ring, which comes in bursts.
class RingBursts {
 public:
  /// Longer than the pause between two bursts of a ring, which is 4 s in most countries.
  static constexpr std::int64_t kPauseMs = 6000;
  /// Call it once per round. A line that is off hook does not ring.
  void follow(bool burst, bool off_hook, std::int64_t now_ms) {
    if (burst) until_ms_ = now_ms + kPauseMs;
    if (off_hook || now_ms >= until_ms_) until_ms_ = 0;
  }
  bool rings() const { return until_ms_ > 0; }

 private:
  std::int64_t until_ms_ = 0;
};

/// @param address  sip:ACCOUNT, audiosocket:HOST:PORT,listen or dahdi:CHANNELS  @param lines  0: all channels of
/// dahdi:, or kUsualLines  @param say  receives lines of the log
/// @throws std::runtime_error with the expected form, or the reason why it cannot be opened
std::unique_ptr<PoolTrunk> open_pool_trunk(const std::string& address, std::size_t lines,
                                           const std::function<void(const std::string&)>& say);
inline constexpr std::size_t kUsualLines = 4, kMostLines = 256;

}  // namespace offhook::command
