// SPDX-License-Identifier: MIT
//
// The operations of a fax modem of class 1 (T.31, TIA-578), in which T.30 runs in the user's program. The program sends
// and receives single signals: frames of HDLC at 300 bit/s, pages without framing, silence. This class turns the
// octets of the program into messages for the pump, and the pump's reports into octets and results for the program.
//
//      AT commands (driver/tty) -> operations here -> orders, frames, bits -> pump (modems.h)
//      program                  <- octets, results <- reports              <-
//
// In both directions DLE (0x10) introduces a pair: DLE ETX ends a frame or a page, DLE DLE is one octet DLE, and from
// the program DLE SUB is two of them. The least significant bit of an octet is the first one on the line.
//
// It runs in the owner's thread, outside the service routine. Its clock is the pump's count of samples, so that equal
// inputs give equal results.
//
// Source: the texts of T.31 and TIA-578 were not available. Manuals of modems that implement them (U.S. Robotics,
// Rockwell, Tainet) and the behaviour of spandsp 0.0.6 are the source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "driver/fax/modems.h"
#include "driver/fax/service_class.h"

namespace offhook::fax {

/// A modulation of a page by its number in +FTM and +FRM.
struct PageModulation {
  int code;
  Signal signal;
  int bit_rate;
  bool short_training;
};
std::span<const PageModulation> page_modulations();
/// @return null: no such number
const PageModulation* page_modulation(int code);

class Class1 final : public ServiceClass {
 public:
  /// @param pump  memory of a pump of pump_type(), in a call that begins; outlives this
  explicit Class1(void* pump);

  // Operations. @pre !busy(). The functions that return bool return false for a code without modulation.
  void call() override;    ///< CNG until frames are heard, then as receive_frames(). Without a time limit of its own
  void answer() override;  ///< CED, then as send_frames()
  void send_frames();
  /// @param wait_s  time until kNoCarrier if no frame is heard, here and below
  void receive_frames(int wait_s);
  bool send_page(int code);
  /// @param adaptive  +FAR: if frames arrive instead, they are received, as by receive_frames()
  bool receive_page(int code, int wait_s, bool adaptive = false);
  void send_silence(int ms);
  void await_silence(int ms);

  bool busy() const override { return operation_ != Operation::kNone; }
  /// Otherwise a character aborts the operation.
  bool sends() const override { return operation_ == Operation::kSendFrames || operation_ == Operation::kSendPage; }
  std::size_t room() const override;
  /// Octets between DLE ETX and the result are ignored.
  void put(std::string_view octets) override;
  void poll() override;

 private:
  enum class Operation : std::uint8_t {
    kNone,
    kCall,
    kAnswer,
    kSendFrames,
    kReceiveFrames,
    kSendPage,
    kReceivePage,
    kSendSilence,
    kAwaitSilence
  };
  struct Frame {
    std::string octets;  // including the two octets of its check
    bool good;
  };

  void begin(Operation operation);
  void order_sending(Signal signal, std::int32_t value, bool frames = false, bool at_once = true,
                     bool short_training = false);
  void order_receiving(Signal signal, std::int32_t value = 0, bool short_training = false);
  void take(const Message& report);
  void take_frame(const Message& report);
  void take_frame_status(int status);
  void take_bits(const Message& report);
  void take_bit_status(int status);
  void sending_ended();
  void deliver_frame();
  void end_reception(Outcome outcome);
  void put_frame_octet(char c);
  void put_page_octet(char c);
  void end_frame();
  void finish_sending(Outcome outcome);
  void flush();
  void follow_time();
  void result(Outcome outcome);
  std::uint64_t now() const { return counters_of(pump_).samples; }

  void* pump_;
  Rings rings_;
  Operation operation_ = Operation::kNone;
  std::deque<Message> orders_;  // messages that found no room
  std::uint8_t send_turn_ = 0, receive_turn_ = 0;
  std::uint64_t lost_reports_ = 0;

  // Transmit direction
  std::string page_;            // unstuffed octets that are not in the ring
  std::deque<Message> frames_;  // the same for frames
  std::string frame_;           // that has begun
  Unstuffer unstuffer_;
  bool ending_ = false;  // no more data arrive; `at_end_` is the result
  bool end_queued_ = false;
  Outcome at_end_ = Outcome::kOk;
  std::uint64_t active_at_ = 0;  // the last time at which there were data to send

  // Receive direction
  bool hears_frames_ = false;           // the pump listens to V.21
  bool framing_ = false;                // flags were heard, and no frame after them
  bool carrier_ = false;                // of V.21
  bool connected_ = false;              // kConnect was reported
  bool adaptive_ = false;               // of receive_page()
  std::deque<Frame> received_;          // frames received before the program's request
  std::optional<std::uint64_t> ok_at_;  // the last frame was received: kOk when its carrier has ended, or at this time
  std::optional<std::uint64_t> deadline_;
  int octet_ = 0, octet_bits_ = 0;  // of a page
};

}  // namespace offhook::fax
