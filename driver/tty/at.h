// SPDX-License-Identifier: MIT
//
// The AT interpreter: command lines in, responses out, actions to the modem behind it (ITU-T V.250 and common
// extensions). It handles bytes and commands; lines, calls and time belong to its host.
//
// In the command state every character from the DTE goes through put(). In the online state data go past it, and the
// EscapeDetector watches them for S2 S2 S2 between two pauses.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/tty/at_line.h"
#include "offhook/link.h"
#include "offhook/loop.h"

namespace offhook::modem {

/// Result codes; the numbers are those of ATV0.
enum class Result {
  kOk = 0,
  kConnect = 1,
  kRing = 2,
  kNoCarrier = 3,
  kError = 4,
  kNoDialtone = 6,
  kBusy = 7,
  kNoAnswer = 8,
  kOtherCarrier = 9,  ///< +FCERROR of class 1; its number is +F4
  kFax = 33,          ///< +FAE: the caller is a fax machine
  kData = 35          ///< +FAE: the caller is a data modem
};

/// Operations of a fax modem: those of class 1 (T.31), then those of class 2.0 (TIA-592).
enum class FaxOrder {
  kSendSilence,
  kAwaitSilence,
  kSendFrames,
  kReceiveFrames,
  kSendPage,
  kReceivePage,
  kSendCodedPage,     ///< +FDT
  kReceiveCodedPage,  ///< +FDR
  kJudgePage,         ///< +FPS
  kEndSession         ///< +FK
};
inline constexpr int kFaxClass2 = 2;  ///< value of AtSettings::service_class

/// The words after the rate of CONNECT, with "/" before each: of &A (USR) the first four, of \V (Microcom) the last.
enum ConnectWords {
  kRateAlone,      ///< CONNECT 14400
  kArq,            ///< CONNECT 14400/ARQ, with error control
  kArqModulation,  ///< CONNECT 14400/ARQ/V32B
  kAllWords,       ///< CONNECT 14400/ARQ/V32B/LAPM/V42BIS
  kProtocol        ///< CONNECT 14400/LAPM/V42BIS
};

/// All numbers are int, so that any row of a command table can name any of them.
struct AtSettings {
  std::array<std::uint8_t, 13> s{};  ///< S-registers
  int echo = 1;                      ///< E
  int quiet = 0;                     ///< Q
  int verbose = 1;                   ///< V
  int extended = 4;                  ///< X
  int dcd = 1;                       ///< &C
  int dtr = 2;                       ///< &D
  int guard_tone = 0;                ///< &G: 0 none, 1 550 Hz, 2 1800 Hz
  int bell = 0;                      ///< B: 1 selects Bell 212A and 103 instead of V.22 and V.21
  /// +IFC, &K: 0 none, 1 XON/XOFF, 2 RTS/CTS (an unread or full terminal). By the DTE also 3:
  /// XON/XOFF, which the far end also gets.
  int flow_by_dte = 2, flow_by_dce = 2;
  int speaker = 1, volume = 1;           ///< M, L: accepted without effect, because there is no speaker
  std::string modulation;                ///< +MS carrier, empty: the best
  int automode = 1;                      ///< +MS, N
  int min_rate = 0, max_rate = 0;        ///< bit/s, +MS; 0: no limit
  int min_rx_rate = 0, max_rx_rate = 0;  ///< limits for the other direction; a pump with one uses the stricter
  /// +ES, \N: 0 direct mode, 1 normal mode (here equal to 0), 2 V.42 without, 3 with detection, 4 MNP. The originator
  /// requires: 0 and 1 no error control, 2 V.42 or MNP, 3 V.42, 4 MNP. An answerer: 0 and 1 no error control at all, 2
  /// and 3 V.42, MNP or none, 4 V.42 or MNP, 5 V.42, 6 MNP.
  int es_request = 3, es_originator = 0, es_answerer = 2;
  oh_link_config link{.compression = 3};  ///< +DS and +DS44
  int compression_required = 0;           ///< +DS
  int v44_required = 0;                   ///< +DS44
  int v44_method = 0;                     ///< +DS44: 0, streams, alone
  int report_modulation = 0;              ///< +MR
  int report_error_control = 0;           ///< +ER
  int report_compression = 0;             ///< +DR
  int connect_words = kRateAlone;         ///< &A, \V
  int report_local_rate = 0;              ///< +ILRR
  int dte_rate = 0;                       ///< +IPR, 0: automatic
  int service_class = 0;                  ///< +FCLASS: 0 data, 1 fax of class 1, 2 of class 2.0
  int adaptive_answer = 0;                ///< +FAE: the caller determines data or fax
  int adaptive_answer_2 = 0;              ///< +FAA: the same for class 2.0
  /// +FCC: the capabilities of fax::SessionParameters
  int fax_resolution = 1, fax_rate = 5, fax_width = 0, fax_length = 2, fax_format = 0, fax_correction = 0;
  int fax_files = 0, fax_scan_time = 0;
  std::string fax_ident;                                                                   ///< +FLI
  int fax_reversed = 0;                                                                    ///< +FBO
  int fax_least_rate = 0;                                                                  ///< +FMS: no effect
  int fax_receives = 1;                                                                    ///< +FCR: no effect
  int fax_tells_far = 0, fax_tells_session = 0, fax_tells_ident = 0, fax_tells_other = 0;  ///< +FNR
  int adaptive_reception = 0;                                                              ///< +FAR
  int parity_format = 3, parity = 3;                          ///< +ICF: accepted; a pseudo-terminal has no parity
  int break_handling = 0, break_timed = 0, break_length = 0;  ///< +EB: accepted
  int answer_delay = 0;                                       ///< +ADLY: 0.1 s
  int caller_id = 0;                                          ///< +VCID: the caller's number after the first RING
  int report_end = 0;                                         ///< +WHY: a line after a call with the reason for its end
  int loop_allowed = 0;                                       ///< &T4, &T5: whether the far end may request a loop
  std::array<std::uint8_t, 98> other_s{};                     ///< S13 to S110: stored, no effect
  int hold_disabled = 1;                                      ///< +PMH: 0 enables modem-on-hold, 1 disables it
  int pcm_upstream_ignored = 1;                               ///< +PIG: 0 permits V.92's PCM upstream
  int quick_connect = 3;   ///< +PQC: 0 short Phases 1 and 2, 1 short Phase 1, 2 short Phase 2, 3 neither
  int short_sequence = 0;  ///< +PSS: 2 a full start-up in spite of +PQC
  int hold_timeout = 0;    ///< +PMHT: 0 denies a far end's request, otherwise code of T1 (V.92, Table 33)

  AtSettings();
};

/// The interpreter's requests to the modem. Calls come from within put().
class AtHost {
 public:
  virtual ~AtHost() = default;
  virtual std::string_view carriers() const = 0;               ///< carriers of +MS, the fastest last: "V22B,V34"
  virtual std::string_view not_offered() const { return {}; }  ///< for people: missing modulations, with the reason
  /// Reports by AtInterpreter::report(). @param stay  after the digits, stay off hook in the command state
  virtual void dial(std::string_view digits, bool stay) = 0;
  virtual void answer() = 0;
  virtual bool go_online() = 0;  ///< O  @return false if there is no call
  virtual void hang_up() = 0;    ///< complete when it returns
  /// +PMHR: requests that the far end hold the call. Answers by AtInterpreter::information() and report().
  /// @return false if there is no call
  virtual bool request_hold() { return false; }
  /// &T3, &T6: begins a test loop. Answers by report().  @return false if no call supports one
  virtual bool test_loop(oh_loop_order) { return false; }
  virtual void end_test() {}                      ///< &T0
  virtual bool can_fax() const { return false; }  ///< whether +FCLASS may be 1 or 2.0
  /// Answers by report(). @param value  10 ms, or the number of a modulation  @return false if there is no such call
  virtual bool fax(FaxOrder, int /*value*/) { return false; }
  /// The last call. @param objects  in V.59's form, otherwise for people
  virtual std::vector<std::string> last_call(bool objects) const = 0;
};

class AtInterpreter {
 public:
  /// @param dte  takes the output for the DTE
  AtInterpreter(AtHost& host, std::function<void(std::string_view)> dte);

  /// One character in the command state. Any byte is safe.
  void put(char c);
  /// An unsolicited result, or the result of a dial or answer command.
  /// @param rate, words  for kConnect: bit/s, and the words after it, such as "/LAPM"
  void report(Result result, std::uint32_t rate = 0, std::string_view words = {});
  /// Information text, such as "+MCR: V34".
  void information(std::string_view text);
  const AtSettings& settings() const { return settings_; }
  /// Sets +FCLASS to the kind of an answered call.
  void set_service_class(int value) { settings_.service_class = value; }
  /// @pre 0 <= n < 13
  std::uint8_t& s(int n) { return settings_.s[static_cast<std::size_t>(n)]; }

 private:
  struct Commands;  // the tables: at_commands.cpp
  enum class Outcome { kOk, kError, kSilent };
  void run(std::string_view line);

  AtHost& host_;
  std::function<void(std::string_view)> dte_;
  AtSettings settings_;
  AtSettings stored_;                   // stored by &W, restored by Z; not kept after the program ends
  std::array<std::string, 4> numbers_;  // by &Z
  std::string last_digits_;
  AtLine line_;
  int last_s_ = 0;
};

/// Watches the data that the DTE sends for the escape sequence: three S2 characters with a pause of S12/50 s before and
/// after (as "Hayes" modems do).
class EscapeDetector {
 public:
  /// @return whether the pause after the sequence is over. Call it at least every 50 ms, also without characters.
  bool process(std::string_view characters, std::int64_t now_ms, const AtSettings& settings);

 private:
  int seen_ = 0;
  std::int64_t last_ms_ = -1'000'000;
};

}  // namespace offhook::modem
