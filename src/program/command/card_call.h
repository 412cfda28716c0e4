// SPDX-License-Identifier: MIT
//
// The line of `offhook line card`, and the devices at its ends. The card is a modem's on a telephone line; of the pump
// "v90", at either end of a digital trunk; of the pump "dmt", an ADSL modem's on a subscriber loop, which carries ATM
// cells.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/user_modem/modem.h"
#include "hostsim/call/line_between.h"
#include "hostsim/call/scenario.h"
#include "offhook/card_engine.h"
#include "offhook/stream.h"

namespace offhook::command {

struct CardOptions {
  std::string scenario, socket, ram, pump = "v34", role = "answer", clock = "stepped", send, receive, fault, far_card,
                                     far_end, record;
  std::vector<std::string> set;
  std::uint64_t seed = 1;  ///< of the line
  double hash_seconds = 20;
  double far_training_s = 0;          ///< additional training time of the far modem, s
  std::uint32_t block = 0, lead = 0;  ///< periods; 0: the pump's usual number
  bool in_process = false, rings = false, no_v42 = false;
  // of the scenario
  std::vector<std::uint8_t> octets;  ///< bytes that the far modem sends; in process, also the near modem
  oh_link_config link{};
};

/// whether the card's modem is for ADSL
bool on_a_loop(const hostsim::Scenario& scenario);
/// Parameters of the card.
oh_streams card_streams(const hostsim::Scenario& scenario);
/// The default numbers of sample periods per interrupt, and queued ahead.
std::uint32_t usual_block(const hostsim::Scenario& scenario);
std::uint32_t usual_lead(const hostsim::Scenario& scenario);

/// A modem with octets to send, and all octets that it received. On a loop, the octets are cells.
class Talker {
 public:
  /// @param io_delay  periods
  Talker(const CardOptions& options, const oh_pump_type* pump, const oh_pump_format& format, oh_pump_role role,
         std::uint32_t io_delay);
  /// n periods, as in oh_pump.
  void process(const void* rx, void* tx, std::size_t n);
  void report_gap(std::size_t n) { modem_.report_gap(n); }
  const std::vector<std::uint8_t>& received() const { return received_; }
  std::uint32_t retrains() const { return modem_.pump_status().retrains; }

 private:
  std::vector<std::uint8_t> octets_, received_;
  std::size_t sent_ = 0;
  modem::Modem modem_;
};
/// The modem of the card, in this process. @param scenario  has its role
std::unique_ptr<Talker> make_talker(const CardOptions& options, const hostsim::Scenario& scenario,
                                    std::uint32_t io_delay);

/// The outputs of `offhook line card` for a call.
struct CardSummary {
  std::uint64_t interrupts = 0, overrun = 0, underrun = 0;
  std::optional<std::uint64_t> near_received = {};
  double seconds = 0, hashed_seconds = 0;
  std::string hash = {}, hash_played = {};
  std::optional<std::uint64_t> far_received = {}, far_retrains = {}, far_overrun = {}, far_underrun = {};
  std::optional<std::string> far_end = {};
};

/// The modem at the other end of the line.
class FarParty {
 public:
  virtual ~FarParty() = default;
  /// n periods, as in oh_pump.
  virtual void process(const void* rx, void* tx, std::size_t n) = 0;
  /// Whether a stepped clock may continue.
  virtual bool caught_up() const { return true; }
  virtual void add_to(CardSummary&) const {}
  /// The received bytes of a modem in this process.
  virtual const std::vector<std::uint8_t>* received() const { return nullptr; }
};
/// A modem in this process or, with options.far_end, in another program, for which it waits.
std::unique_ptr<FarParty> make_far_party(const CardOptions& options, const hostsim::Scenario& scenario);

/// The line at the card, and a hash of the samples at the card's codec.
class CardCall {
 public:
  /// @param far  must outlive the call
  CardCall(const CardOptions& options, const hostsim::Scenario& scenario, FarParty& far);

  /// The handle for a card's engine; this object must outlive it.
  oh_line_end handle();
  void add_to(CardSummary& summary) const;
  /// The codec's input, if recorded: samples in the card's format.
  const std::vector<std::uint8_t>& heard() const { return heard_; }

 private:
  void exchange(const void* played, void* captured, std::size_t n);

  std::unique_ptr<hostsim::LineBetween> line_;
  oh_streams streams_;
  std::uint32_t rate_hz_;
  std::uint64_t hash_until_, periods_ = 0, hash_ = 0xcbf29ce484222325, played_hash_ = hash_;
  bool record_;
  std::vector<std::uint8_t> heard_;
};

}  // namespace offhook::command
