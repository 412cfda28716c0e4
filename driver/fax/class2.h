// SPDX-License-Identifier: MIT
//
// A fax modem of class 2.0 (TIA-592), for programs without T.30, such as sendfax and mgetty: phases A, B, D and E of
// T.30 run here, on the operations of class 1. The program sends and receives the coded lines of pages.
//
//      AT commands (driver/tty) -> operations here -> operations of class 1 (class1.h) -> pump
//      program                  <- lines and results <- frames and bits                <-
//
// Calling:    call()    DIS -> +FCO +FCI +FIS, kOk     send_page()  DCS, TCF, CFR -> +FCS, kConnect, page, kOk or
// kError Answering:  answer()  DCS, TCF -> +FCO +FTI +FCS, kOk   receive_page()  kConnect, page -> +FPS +FET, kOk
//
// A page is confirmed (MCF) or refused (RTN) when the program asks for the next one. There is no error correction.
// Pages are not decoded, so +FPS has no counts of lines.
//
// Source: the texts of TIA-592 and T.30 were not available. What mgetty 1.2.1 sends and expects, manuals of modems, and
// spandsp's T.30 are the source.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/fax/class1.h"
#include "driver/fax/page_lines.h"
#include "driver/fax/service_class.h"
#include "driver/fax/t30_frames.h"

namespace offhook::fax {

struct Class2Config {
  SessionParameters own;       ///< +FCC
  std::string ident;           ///< +FLI
  bool reversed = false;       ///< +FBO=1: the first bit of an octet is in the most significant place
  bool tells_far = false;      ///< +FNR: +FIS
  bool tells_session = false;  ///< +FNR: +FCS
  bool tells_ident = false;    ///< +FNR: +FCI and +FTI
};

class Class2 final : public ServiceClass {
 public:
  /// +FHS: why the call has ended.
  enum class End {
    kNormal = 0,
    kAborted = 2,
    kNoAnswer = 11,
    kNotAFax = 21,
    kNoReplyToDcs = 25,
    kNoTraining = 27,
    kNoData = 43,
    kNoReplyToPage = 52,
    kRefused = 53,
    kNoCommand = 71,
    kNoPage = 73
  };

  /// @param pump  memory of a pump of pump_type(), in a call that begins; outlives this
  Class2(void* pump, Class2Config config);

  // Operations. @pre !busy()
  void call() override;
  void answer() override;
  void send_page();     ///< +FDT
  void receive_page();  ///< +FDR
  void hang_up();       ///< +FK
  /// +FPS: quality of the received page. @param status  1 good, 2 bad: it is refused
  void judge_page(int status) { refuses_ = status == 2; }

  /// @pre kOver was reported
  End end() const { return end_; }

  bool busy() const override { return busy_; }
  bool sends() const override { return step_ == Step::kPage && connected_ && !page_complete_; }
  std::size_t room() const override;
  void put(std::string_view octets) override;
  void poll() override;

 private:
  enum class Step {
    kNone,
    kAwaitDis,      // calling: CNG until frames are heard
    kReady,         // DIS was received; the program decides
    kAwaitNextDis,  // the last one is too old for a reply
    kTest,          // TCF
    kAwaitCfr,
    kPage,
    kAwaitReply,  // to a page
    kConfirmed,   // the program may send the next page
    kAwaitCommand,
    kAwaitTest,
    kAwaitPage,
    kPageHeld,  // the program has not taken it, or has not asked for the next one
    kRepeated,  // the far end repeats its command, which is replied to then
    kOver
  };
  struct Pending {
    std::vector<std::string> frames;  // in reverse
    std::function<void()> then;
  };

  void enter(Step step) { step_ = step; }
  void say_line(const std::string& text);
  void finish(Outcome outcome);
  void end_call(End end);
  void leave(End end);

  void send(std::vector<std::string> frames, std::function<void()> then);
  void send_next_frame();
  void await(Step step, int wait_s);
  void await_again();
  void pause_then(std::function<void()> then);

  void take(Outcome outcome);
  void take_page_result(Outcome outcome);
  void take_octets(const std::string& octets);
  void take_frame();
  void take_message(const T30Frame& last);
  void on_silence();
  bool may_try_again(End end);

  void send_dis();
  void train();
  void send_test();
  void begin_page();
  void feed();
  void send_post_page();
  void on_reply(const T30Frame& reply);
  void on_command(const T30Frame& command);
  void take_dis(const T30Frame& dis);
  void take_dcs(const T30Frame& dcs);
  void judge_test();
  void await_page();
  void serve_page();
  void reply();
  bool lower_rate();
  double seconds_since(std::uint64_t when) const;

  void* pump_;
  Class1 modem_;
  Class2Config config_;
  Step step_ = Step::kNone;
  bool busy_ = false, connected_ = false;
  bool calls_ = true;
  End end_ = End::kNormal;  // of the call, if it is over

  // Frames
  std::optional<Pending> sending_;
  std::function<void()> after_pause_;
  Unstuffer unstuffer_;
  std::string frame_;               // that is being received
  std::vector<T30Frame> received_;  // of one carrier
  int tries_ = 0;
  std::uint64_t heard_at_ = 0;  // the end of the last message
  std::uint64_t began_at_ = 0;  // the call

  // Session
  SessionParameters session_;
  Modulations modulations_;
  Carrier carrier_;
  std::string far_ident_;
  bool trains_ = true;  // before the next page

  // A page that is sent
  PageLines lines_;
  Unstuffer page_unstuffer_;
  std::string page_;  // unstuffed octets on their way to the modem
  bool page_complete_ = false, fed_ = false;
  int post_page_ = 0;  // MPS, EOM or EOP

  // A page that is received
  std::string got_;  // octets for the program, stuffed
  bool carrier_up_ = false, page_begun_ = false, page_over_ = false;
  bool told_ = false;  // the program has it, and how it ended
  int command_ = 0;    // that ended it; 0: none yet
  bool refuses_ = false;
  std::uint32_t test_zeros_ = 0, longest_zeros_ = 0;
};

/// For people, such as "no reply to three DCS".
std::string_view reason_of(Class2::End end);

}  // namespace offhook::fax
