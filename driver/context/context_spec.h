// SPDX-License-Identifier: MIT
//
// The names of contexts: one grammar for scenarios, grids, command lines and reports.
//
//   INT                     the interrupt routine
//   THREADED                the interrupt's handler as a thread               Linux
//   DPC                     a deferred procedure call                         Windows NT
//   SOFTIRQ                 deferred work                                     Linux
//   THR 24                  a thread at this priority                         Windows NT
//   FIFO 50, RR 10          SCHED_FIFO and SCHED_RR                           Linux
//   WORKER                  a worker thread of normal priority
//   OTHER, OTHER -16        SCHED_OTHER, at this nice value                   Linux
//   RES 2/8, RES 2/8 strict 2 of every 8 clock interrupts of the host
//   RES 2ms/8ms             2 ms of every 8 ms, decimals allowed
//
// The host decides which of them it can run. A clock interrupt (tick) is a simulated host's host.tick_hz; on live
// Linux it is the kernel's: 4 ms with CONFIG_HZ=250. A reservation on live Linux is always strict.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "offhook/context.h"

namespace offhook {

struct ContextSpec : oh_context_spec {
  ContextSpec() : oh_context_spec{sizeof(oh_context_spec), OH_CONTEXT_INTERRUPT, 24, 0, 2, 8, 0, 0, false} {}
  explicit ContextSpec(const oh_context_spec& spec) : oh_context_spec(spec) {}

  /// @throws std::invalid_argument with the position of the error and the expected text
  static ContextSpec parse(std::string_view text);
  /// The text in the grammar. parse(str()) gives the same context.
  std::string str() const;

  bool in_ticks() const { return period_ns == 0; }
  /// X / Y of a reservation.
  double share() const;
};

enum class ContextArgument { kNone, kPriority, kNice, kReservation };

/// Description of one kind of context.
struct ContextForm {
  std::string word;   ///< "FIFO"
  std::string key{};  ///< "fifo": context.kind of a scenario
  ContextArgument argument = ContextArgument::kNone;
  int least = 0, most = 0;    ///< of a priority or a nice value
  std::string system{};       ///< the only one that has it; empty: all have it
  std::string what{};         ///< in a few words
  std::string usage() const;  ///< "FIFO 1..99"
};

/// Adds a program's own context, at start-up. @return its kind. @throws std::invalid_argument for a word or a key that
/// is taken or is not one word of capital letters, std::length_error
oh_context_kind add_context_form(ContextForm form);
/// @return the kind with this word; -1: none
int find_context_form(std::string_view word);
const ContextForm& context_form(oh_context_kind kind);
/// The keys of all kinds, each at the place of its number.
std::span<const std::string_view> context_keys();
/// "INT, DPC, THR 1..255 ...": contexts of these kinds, or of all.
std::string context_usage(std::span<const oh_context_kind> kinds = {});
/// Why a host cannot run it: "THR 24 is Windows NT's; this host is Linux: FIFO 1..99 ...".
std::string not_of_this_host(const ContextSpec& spec, std::string_view host, std::span<const oh_context_kind> runs);

}  // namespace offhook
