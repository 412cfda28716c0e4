// SPDX-License-Identifier: MIT
//
// A fax call of a device: scenario.device has the cost and the buffers of a soft fax modem (driver/fax/modems.h), and
// scenario.fax has the pages. The calling machine sends them. Only the modem's signals are work of the device. T.30
// runs outside it, at each interrupt of the card, and costs no CPU time. At the other end of scenario.line is an ideal
// fax machine, which is always on time.
//
// With scenario.fax.v34 both machines use V.34 half duplex (driver/fax/v34_modems.h).
//
// With scenario.fax.gateway the device is a T.38 gateway, and its fax machine is behind a packet network
// (fax_machine.h).
//
// T.30 repairs what a late block breaks: it repeats frames, trains again, refuses a page, or ends the call. The
// result counts each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"

namespace offhook::hostsim {

struct FaxStatus {
  /// A page that the receiving machine received, even if it then refused it.
  struct Page {
    std::uint32_t page = 0;  ///< its number among the received pages, from 1
    double taken_s = 0;      ///< from the start
    std::string modulation;
    std::uint32_t bit_rate = 0;      ///< bit/s
    std::uint32_t frames_again = 0;  ///< frames that were repeated for it, with error correction
    std::uint32_t bad_lines = 0;     ///< lines that could not be decoded, without error correction
  };
  std::uint32_t due = 0;        ///< pages
  std::uint32_t confirmed = 0;  ///< pages, according to the sending machine
  std::uint32_t whole = 0;      ///< pages whose pixels all arrived
  std::uint32_t lost() const { return due - whole; }
  bool error_correction = false;
  std::uint32_t trainings = 0;          ///< test signals announced by DCS
  std::uint32_t failed_trainings = 0;   ///< test signals refused by FTT
  std::uint32_t refused_pages = 0;      ///< RTN
  std::uint32_t frames_again = 0;       ///< frames that the receiving machine requested again by PPR
  std::uint32_t bad_lines = 0;          ///< lines that it could not decode, without error correction
  std::uint64_t starved_bits = 0;       ///< of the device: sent as zeros because T.30 was late
  std::uint64_t packets_sent = 0;       ///< packets of T.38, with a gateway; a packet is sent once or more often
  std::uint64_t packets_recovered = 0;  ///< packets that were lost, and received as copies
  std::uint64_t packets_lost = 0;       ///< packets that were lost with all copies
  double lasted_s = 0;                  ///< from the start until both machines had ended
  bool over = false;                    ///< both have
  bool complete = false;                ///< every page confirmed to the sender, which ended without an error
  std::string failure;                  ///< T.30's reason otherwise
  std::vector<Page> pages;
  bool intact() const { return complete && whole == due; }
};

/// @throws std::invalid_argument for a device or line that cannot carry fax, naming the expected value
void check_fax(const Scenario& scenario);

/// The fax call, for make_device_connection(). Done when both machines have ended and every page is whole. It fails
/// otherwise, and after scenario.device_s. With scenario.stop_at_loss, only lost samples decide.
/// @param tap  may be empty  @pre scenario.fax.pages > 0  @throws std::invalid_argument as check_fax(),
/// std::runtime_error if the files of the pages cannot be made
std::unique_ptr<Connection> make_fax_connection(const Scenario& scenario, oh_event_log* log, LineTap tap);

}  // namespace offhook::hostsim
