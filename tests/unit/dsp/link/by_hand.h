// SPDX-License-Identifier: MIT
// One LAPM end, and frames for it that are written by hand.
#ifndef OFFHOOK_TESTS_UNIT_DSP_V42_BY_HAND_H
#define OFFHOOK_TESTS_UNIT_DSP_V42_BY_HAND_H

#include "dsp/link/hdlc.h"
#include "dsp/link/xid.h"
#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::test {

using namespace offhook::v42;

/// One end under test, by default the answerer; the other's frames are written by hand. Collects its frames.
class ByHand : public testing::Test {
 protected:
  using Octets = std::vector<uint8_t>;
  ByHand() { restart(); }
  void restart(oh_pump_role role = OH_PUMP_ANSWER) {
    oh_lapm_config c = default_config(role, 2400);
    c.link.skip_detection = 1;
    c.t401_ms = 1000;
    c.link.compression = compression;
    c.link.v44 = v44;
    c.srej = srej;
    c.buffer_bytes = buffer_bytes;
    end_ = std::make_unique<End>(c);
    sender_.init(tx_);
    receiver_.init(rx_, sizeof rx_);
  }
  /// Sends one frame, then flags for `bits`, and returns all frames received meanwhile.
  std::vector<Octets> send(const Octets& frame, int bits = 600, bool corrupt = false) {
    std::vector<Octets> answers;
    bool loaded = false;
    for (int i = 0; i < bits || !loaded; ++i) {
      if (!loaded && sender_.ready()) {
        std::copy(frame.begin(), frame.end(), sender_.buffer());
        sender_.load(frame.size(), false);
        if (corrupt) sender_.buffer()[0] ^= 0x40;
        loaded = true;
      }
      bit(answers);
    }
    return answers;
  }
  void connect() {
    ASSERT_EQ(send({0x03, 0x7F}), (std::vector<Octets>{{0x03, 0x73}})) << "SABME with P is answered by UA with F";
    ASSERT_EQ(end_->status().state, OH_LAPM_CONNECTED);
  }
  /// An XID from the far end that requests V.42bis.
  static Octets offer(uint8_t compress, uint16_t codewords, uint8_t max_string, bool response = false) {
    Xid xid;
    xid.v42bis = true, xid.compress = compress, xid.codewords = codewords, xid.max_string = max_string;
    return framed(xid, response);
  }
  static Octets framed(Xid xid, bool response = false) {
    xid.n401_tx = xid.n401_rx = 128, xid.k_tx = xid.k_rx = 15;
    Octets frame{0x03, 0xAF};
    frame.resize(2 + kXidSize);
    frame.resize(2 + write_xid(xid, response, frame.data() + 2));
    return frame;
  }
  /// An octet of data of the end under test in a separate frame. @return the frame that it sent
  std::vector<Octets> write(uint8_t octet) {
    EXPECT_EQ(oh_lapm_write(end_->lapm, &octet, 1), 1u);
    return flags();
  }
  /// Flags for the duration of a short frame. @return all frames received meanwhile
  std::vector<Octets> flags(int bits = 300) {
    std::vector<Octets> answers;
    while (bits-- > 0) bit(answers);
    return answers;
  }
  /// XID: both ends have selective retransmission; then SABME.
  void connect_with_srej() {
    Xid xid;
    xid.srej = true, xid.n401_tx = xid.n401_rx = 128, xid.k_tx = xid.k_rx = 15;
    Octets frame{0x03, 0xAF};
    frame.resize(2 + kXidSize);
    frame.resize(2 + write_xid(xid, false, frame.data() + 2));
    ASSERT_EQ(send(frame, 1000).size(), 1u);
    connect();
    ASSERT_TRUE(end_->status().srej);
  }
  uint8_t compression = 0, v44 = 0, srej = 1;
  uint32_t buffer_bytes = 8192;
  std::unique_ptr<End> end_;

 private:
  void bit(std::vector<Octets>& answers) {
    oh_port_put_bit(&end_->port, sender_.next());
    if (receiver_.put(oh_port_get_bit(&end_->port)) == HdlcReceiver::kFrame)
      answers.emplace_back(rx_, rx_ + receiver_.size() - 2);
  }
  uint8_t tx_[512], rx_[512];
  HdlcSender sender_;
  HdlcReceiver receiver_;
};

}  // namespace offhook::test
#endif
