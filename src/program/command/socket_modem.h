// SPDX-License-Identifier: MIT
//
// A foreign modem at the far end of the simulated line: another program at the other end of a UNIX stream socket.
//
// Samples are 16-bit signed, little-endian, mono. Offhook writes n of them and the peer writes n back, as fast as both
// can; there is no other clock. The peer may answer with samples that it computed before it read these: that is its own
// delay. A peer that works in frames needs n to be a multiple of its frame.
//
// Some programs fill the queue of a sound card first: they write samples before they read any, and count these as their
// delay. `ahead` is their number. They are played while the first n are heard. Such a queue may change its length: we
// wait for no more of the peer's samples than are played until the next exchange, so the peer may read up to ahead - n
// samples without an answer.
//
// V.90's analogue modem needs the line card's band around 4000 Hz. Its samples are taken at twice the line's rate.
// If the peer's own rate differs, they are flat to 7 kHz.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostsim/call/connection.h"
#include "hostsim/call/scenario.h"
#include "hostsim/channel/resampler.h"

namespace offhook {

/// `unix:PATH[,rate=8000|9600][,block=SAMPLES][,ahead=SAMPLES][,patience=SECONDS]`
struct FarEndAddress {
  std::string path;
  std::uint32_t rate_hz = hostsim::kLineRateHz;
  std::uint32_t block_samples = 0;  ///< samples at rate_hz; 0 in the text: 20 ms
  std::uint32_t ahead_samples = 0;  ///< samples that the peer writes before it reads
  int patience_s = 30;              ///< s of real time that the peer has for one block; then the call is abandoned

  /// @throws std::runtime_error with the expected form
  static FarEndAddress parse(std::string_view text);
};

class SocketModem final : public hostsim::ForeignModem {
 public:
  /// Connects to a socket that has a listener. Otherwise creates the socket and waits for a peer.
  /// @param keep_waiting  called ten times per second; if it returns false, stops waiting
  /// @param received_ratio  samples that the line gives to the peer for each of its own, 1 or 2
  /// @throws std::runtime_error
  SocketModem(const FarEndAddress& address, std::function<bool()> keep_waiting, std::uint32_t received_ratio = 1);
  ~SocketModem() override;
  SocketModem(const SocketModem&) = delete;
  SocketModem& operator=(const SocketModem&) = delete;

  /// @param rx [received_ratio * n]  @param tx [n], at hostsim::kLineRateHz. The peer's samples come one block (and 48
  /// samples of the resamplers) later, minus `ahead`. After a failure, silence.
  void process(const std::int16_t* rx, std::int16_t* tx, std::size_t n) override;
  std::string failure() const override { return failure_; }

 private:
  void exchange_block();
  bool receive(std::uint32_t n);
  bool transfer(bool write, void* bytes, std::size_t n);
  std::string waits_for_more() const;

  FarEndAddress address_;
  std::function<bool()> keep_waiting_;
  std::uint32_t received_ratio_;
  int socket_ = -1;
  std::string failure_;
  hostsim::Resampler to_peer_, from_peer_;
  std::uint32_t owed_ = 0;            // samples of the peer in response to those that it received
  bool has_answered_ = false;         // at least once
  std::vector<std::int16_t> block_;   // is filled at the peer's rate
  std::vector<std::int16_t> queued_;  // at kLineRateHz, from next_ onwards
  std::size_t next_ = 0;
};

/// Waits for the modem of another program at the far end of the scenario's line. @param address  see FarEndAddress
/// @throws std::runtime_error, also if the line has no far end for it
std::unique_ptr<SocketModem> make_far_end(const std::string& address, const hostsim::Scenario& scenario,
                                          std::function<bool()> keep_waiting);

}  // namespace offhook
