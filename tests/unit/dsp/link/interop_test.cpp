// SPDX-License-Identifier: MIT
//
// Our LAPM against spandsp's V.42, which nobody here wrote. Its sender stalls (it sends one window and waits), so the
// transfers are small and no rate is asserted. It also sends frames that it should not (6 or 7 a transfer); ours bears
// them and counts them in `violations`.
#include <gtest/gtest.h>
#define SPANDSP_EXPOSE_INTERNAL_STRUCTURES
#include <spandsp.h>

#include <cstring>
#include <deque>

#include "tests/unit/dsp/link/lapm_pair.h"

namespace offhook::test {
namespace {

constexpr uint32_t kBitRate = 2400;

class Spandsp {
 public:
  explicit Spandsp(bool calling) : v42_(v42_init(nullptr, calling, 1, get, put, this)) {
    v42_set_status_callback(
        v42_, [](void*, int) {}, nullptr);
    v42_restart(v42_);
  }
  ~Spandsp() { v42_free(v42_); }
  Spandsp(const Spandsp&) = delete;
  Spandsp& operator=(const Spandsp&) = delete;
  int get_bit() { return v42_tx_bit(v42_); }
  void put_bit(int bit) { v42_rx_bit(v42_, bit); }

  std::vector<uint8_t> to_send, received;

 private:
  static int get(void* user, uint8_t* message, int most) {
    auto& self = *static_cast<Spandsp*>(user);
    const size_t n = std::min(self.to_send.size() - self.sent_, size_t(most));
    if (n == 0) return 0;
    std::memcpy(message, self.to_send.data() + self.sent_, n);
    self.sent_ += n;
    return int(n);
  }
  static void put(void* user, const uint8_t* message, int n) {
    auto& self = *static_cast<Spandsp*>(user);
    if (n > 0) self.received.insert(self.received.end(), message, message + n);
  }
  v42_state_t* v42_;
  size_t sent_ = 0;
};

class Interop : public testing::TestWithParam<bool> {};

TEST_P(Interop, CarriesBytesBothWays) {
  const bool we_call = GetParam();
  oh_lapm_config config = default_config(we_call ? OH_PUMP_CALL : OH_PUMP_ANSWER, kBitRate);
  End ours(config);
  Spandsp theirs(!we_call);
  ours.to_send = random_bytes(1500, 1);
  theirs.to_send = random_bytes(700, 2);
  std::deque<int> out(40, 1), in(40, 1);
  double samples = 0;
  for (uint32_t bits = 0; bits < 120 * kBitRate; ++bits) {
    out.push_back(oh_port_get_bit(&ours.port));
    in.push_back(theirs.get_bit());
    theirs.put_bit(out.front());
    oh_port_put_bit(&ours.port, in.front());
    out.pop_front();
    in.pop_front();
    samples += 8000.0 / kBitRate;
    oh_lapm_advance(ours.lapm, uint32_t(samples));
    samples -= uint32_t(samples);
    ours.pump_bytes();
    if (ours.received.size() >= theirs.to_send.size() && theirs.received.size() >= ours.to_send.size()) break;
  }
  EXPECT_EQ(ours.status().state, OH_LAPM_CONNECTED);
  EXPECT_EQ(theirs.received, ours.to_send);
  EXPECT_EQ(ours.received, theirs.to_send);
}
INSTANTIATE_TEST_SUITE_P(Roles, Interop, testing::Values(true, false),
                         [](const auto& p) { return p.param ? "WeCall" : "WeAnswer"; });

}  // namespace
}  // namespace offhook::test
