// SPDX-License-Identifier: MIT
//
// Automode and spandsp's own V.22bis, in both roles. spandsp's modem takes every signal for a carrier, AA, too, and
// stays silent while such a carrier comes and goes: whoever waits for the other must stop at some time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "driver/user_modem/automode.h"
#include "dsp/pump/pump_type.h"
#include "tests/unit/driver/user_modem/pump_pair.h"

// This include is last, because it defines std's rounding functions as macros.
#include <spandsp.h>

namespace offhook {
namespace {

constexpr double kPi = 3.14159265358979;

/// spandsp's V.22bis as supplied, without our recovery. The answerer sends V.25's answer sequence first.
class Foreign {
 public:
  explicit Foreign(bool calls, double tone_s = 3.3)
      : calls_(calls),
        begins_(calls ? 0 : static_cast<int>((2 + tone_s + 0.075) * 8000)),
        tone_until_(static_cast<int>((2 + tone_s) * 8000)),
        modem_(v22bis_init(nullptr, 2400, V22BIS_GUARD_TONE_NONE, calls, get_bit, this, put_bit, this)) {
    v22bis_tx_power(modem_, -12);
  }
  ~Foreign() { v22bis_free(modem_); }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  void process(int16_t* rx, int16_t* tx, int n) {
    for (int k = 0; k < n; ++k, ++now_) tx[k] = 0;
    if (now_ >= begins_) {
      v22bis_rx(modem_, rx, n);
      v22bis_tx(modem_, tx, n);
    } else if (!calls_ && now_ >= 2 * 8000 && now_ < tone_until_) {
      for (int k = 0; k < n; ++k) {
        tx[k] = static_cast<int16_t>(5000 * std::sin(2 * kPi * 2100 / 8000 * (now_ + k)));
      }
    }
  }
  uint64_t ones = 0, zeros = 0;  // received as data

 private:
  static int get_bit(void*) { return 1; }
  static void put_bit(void* self, int bit) {
    if (bit >= 0) ++(bit != 0 ? static_cast<Foreign*>(self)->ones : static_cast<Foreign*>(self)->zeros);
  }
  bool calls_;
  int begins_, tone_until_;
  int now_ = 0;
  v22bis_state_t* modem_;
};

struct Free {
  void operator()(void* p) const { std::free(p); }
};

/// @return seconds until Offhook's automode is in data mode; 0: never
double connect(oh_pump_role role, Foreign* far, uint32_t modulations) {
  test::BitTester bits;
  oh_pump_config c{};
  c.format = kLinear8000;
  c.role = role;
  c.tx_level_dbm0 = -12;
  c.modulations = modulations;
  c.port = bits.port();
  const oh_pump_type* type = oh_automode_v22bis_type();
  std::unique_ptr<void, Free> self(std::aligned_alloc(64, type->size(&c)));
  EXPECT_EQ(type->init(self.get(), &c), 0);
  constexpr int kBlock = 40;
  std::vector<int16_t> ours(kBlock), theirs(kBlock), rx(kBlock);
  double connected = 0;
  for (int n = 0; n < 25 * 8000 && connected == 0; n += kBlock) {
    for (int k = 0; k < kBlock; ++k)
      rx[static_cast<size_t>(k)] = static_cast<int16_t>(theirs[static_cast<size_t>(k)] / 2);
    std::vector<int16_t> heard = ours;
    for (int16_t& x : heard) x = static_cast<int16_t>(x / 2);
    type->process(self.get(), rx.data(), ours.data(), kBlock);
    far->process(heard.data(), theirs.data(), kBlock);
    oh_pump_status s{};
    s.struct_size = sizeof s;
    type->status(self.get(), &s);
    if (s.state == OH_PUMP_DATA) {
      connected = n / 8000.;
      EXPECT_EQ(s.modulation & (OH_MODULATION_V22BIS | OH_MODULATION_V22), static_cast<uint32_t>(s.modulation));
    }
    if (s.state == OH_PUMP_FAILED) break;
  }
  type->release(self.get());
  return connected;
}

TEST(AutomodeAndSpandsp, ACallerStopsAaForAnAnswererThatWaitsForItsEnd) {
  Foreign answerer(false);
  const double s = connect(OH_PUMP_CALL, &answerer, 0);
  EXPECT_GT(s, 5);
  EXPECT_LT(s, 12);
}

// ANS ends less than 800 ms after AA began, so the far end may not have detected AA (A.2.1.3, A.2.1.2).
TEST(AutomodeAndSpandsp, ACallerStopsAaBehindAShortAnswerToneToo) {
  Foreign answerer(false, 2.6);
  EXPECT_GT(connect(OH_PUMP_CALL, &answerer, 0), 5);
}

TEST(AutomodeAndSpandsp, ACallerOfV22bisConnects) {
  Foreign caller(true);
  const double s = connect(OH_PUMP_ANSWER, &caller, 0);
  EXPECT_GT(s, 5);
  EXPECT_LT(s, 15);
}

}  // namespace
}  // namespace offhook
