// SPDX-License-Identifier: MIT
#include "driver/modem/modem_end.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "dsp/pump/pump_type.h"
#include "dsp/v22/pump.h"
#include "dsp/v34/session/pump.h"

namespace offhook {
namespace {

/// A pump in data mode that returns the bits that it takes, one octet per period.
struct Mirror {
  oh_bit_port port;
  bool cleared = false;

  static const oh_pump_type* type() {
    static const oh_pump_type kType = {
        .format_count = 1,
        .name = "mirror",
        .formats = &kLinear8000,
        .roles = kBothRoles,
        .fpu = kEveryOperation,
        .longest_step = 0,
        .size = [](const oh_pump_config* c) { return oh_port_is_whole(&c->port) ? sizeof(Mirror) : 0; },
        .init =
            [](void* self, const oh_pump_config* c) {
              new (self) Mirror{c->port};
              return 0;
            },
        .process =
            [](void* self, const void*, void*, std::size_t n) {
              const oh_bit_port& port = static_cast<Mirror*>(self)->port;
              std::vector<std::uint8_t> octets(n);
              oh_port_get(&port, octets.data(), 8 * n);
              oh_port_put(&port, octets.data(), 8 * n);
            },
        .report_gap = [](void*, std::size_t) {},
        .status =
            [](const void* self, oh_pump_status* s) {
              s->state = static_cast<const Mirror*>(self)->cleared ? OH_PUMP_IDLE : OH_PUMP_DATA;
              s->tx_bit_rate = s->rx_bit_rate = 64'000;
            },
        .hang_up = [](void* self) { static_cast<Mirror*>(self)->cleared = true; },
        .release = [](void*) {},
        .advance = oh_pump_advance_each};
    return &kType;
  }
};

/// Two pumps in data mode, one octet per period, each of which sends to the other. The first pump initialised is at
/// [0].
struct Joined {
  struct Pump {
    Joined* wire;
    int index;
    oh_bit_port port;
  };
  static inline Joined* newest = nullptr;

  Joined() { newest = this; }
  Pump* pump[2] = {};
  std::uint8_t sent[2] = {0xff, 0xff};
  int left = 0;           ///< octets until the next damaged one
  int damages_every = 0;  ///< octets; 0: none
  std::uint32_t good = 0, bad = 0;

  void process(Pump& p) {
    oh_port_get(&p.port, &sent[p.index], 8);
    std::uint8_t received = sent[1 - p.index];
    if (damages_every > 0 && ++left % damages_every == 0) received ^= 0x10;
    oh_port_put(&p.port, &received, 8);
  }
  static const oh_pump_type* type() {
    static const oh_pump_type kType = [] {
      oh_pump_type t = *Mirror::type();
      t.size = [](const oh_pump_config*) { return sizeof(Pump); };
      t.init = [](void* self, const oh_pump_config* c) {
        const int index = newest->pump[0] == nullptr ? 0 : 1;
        newest->pump[index] = new (self) Pump{newest, index, c->port};
        return 0;
      };
      t.process = [](void* self, const void*, void*, std::size_t n) {
        auto& p = *static_cast<Pump*>(self);
        for (std::size_t k = 0; k < n; ++k) p.wire->process(p);
      };
      t.status = [](const void*, oh_pump_status* s) {
        s->state = OH_PUMP_DATA;
        s->tx_bit_rate = s->rx_bit_rate = 64'000;
      };
      t.hang_up = [](void*) {};
      t.note_frames = [](void* self, std::uint32_t good, std::uint32_t bad) {
        auto& p = *static_cast<Pump*>(self);
        if (p.index != 1) return;
        p.wire->good += good;
        p.wire->bad += bad;
      };
      return t;
    }();
    return &kType;
  }
};

oh_modem_end_config mirrored(oh_link_kind kind, oh_error_control control = OH_ERROR_CONTROL_NONE) {
  return {.pump = Mirror::type(), .role = OH_PUMP_CALL, .kind = kind, .link = {.error_control = control}};
}

/// An end in memory of exactly its size.
class End {
 public:
  explicit End(const oh_modem_end_config& config) : size_(oh_modem_end_size(&config, nullptr)) {
    memory_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(64, size_ + kGuard)));
    std::fill_n(memory_.get(), size_ + kGuard, kPattern);
    end = oh_modem_end_init(memory_.get(), &config);
    if (end != nullptr) oh_modem_end_start(end);
  }
  ~End() {
    oh_modem_end_release(end);
    EXPECT_TRUE(std::all_of(memory_.get() + size_, memory_.get() + size_ + kGuard,
                            [](std::uint8_t octet) { return octet == kPattern; }));
  }
  void step(std::size_t periods) {
    std::vector<std::int16_t> samples(periods);
    oh_modem_end_process(end, samples.data(), samples.data(), periods);
  }
  oh_modem_end_status status() const {
    oh_modem_end_status s;
    oh_modem_end_get_status(end, &s);
    return s;
  }
  oh_modem_end* end = nullptr;

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::uint8_t kPattern = 0xa5;
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  std::size_t size_;
  std::unique_ptr<std::uint8_t, Free> memory_;
};

TEST(ModemEnd, CarriesWholeCellsAndCountsThem) {
  End e(mirrored(OH_LINK_CELLS));
  ASSERT_NE(e.end, nullptr);
  EXPECT_EQ(oh_modem_end_unit(e.end), std::size_t{OH_CELL_OCTETS});
  std::array<std::uint8_t, 2 * OH_CELL_OCTETS + 7> cells;
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = static_cast<std::uint8_t>(k + 1);
  EXPECT_EQ(oh_modem_end_write(e.end, cells.data(), OH_CELL_OCTETS - 1), 0u);
  EXPECT_EQ(oh_modem_end_write(e.end, cells.data(), cells.size()), 2u * OH_CELL_OCTETS);
  EXPECT_EQ(oh_modem_end_unsent(e.end), 2u * OH_CELL_OCTETS);
  e.step(40 * (OH_CELL_OCTETS + 1));
  EXPECT_EQ(oh_modem_end_unsent(e.end), 0u);
  std::array<std::uint8_t, 3 * OH_CELL_OCTETS> back;
  ASSERT_EQ(oh_modem_end_read(e.end, back.data(), back.size()), 2u * OH_CELL_OCTETS);
  EXPECT_TRUE(std::equal(back.begin(), back.begin() + 2 * OH_CELL_OCTETS, cells.begin()));
  const oh_modem_end_status s = e.status();
  EXPECT_TRUE(s.direct != 0 && oh_modem_end_is_connected(&s) != 0);
  EXPECT_EQ(s.cells.sent, 2u);
  EXPECT_EQ(s.cells.received, 2u);
  EXPECT_EQ(s.cells.hec_errors, 0u);
}

TEST(ModemEnd, ARawLinkIsTheOwnersPort) {
  struct Owner {
    std::uint64_t given = 0, taken = 0;
  } owner;
  oh_modem_end_config config = mirrored(OH_LINK_RAW);
  config.raw = {[](void* user) { return static_cast<int>(++static_cast<Owner*>(user)->given & 1); },
                [](void* user, int bit) { static_cast<Owner*>(user)->taken += static_cast<unsigned>(bit); }, &owner};
  End e(config);
  ASSERT_NE(e.end, nullptr);
  e.step(10);
  EXPECT_EQ(owner.given, 80u);
  EXPECT_EQ(owner.taken, 40u);
  std::uint8_t octet = 0;
  EXPECT_EQ(oh_modem_end_write(e.end, &octet, 1), 0u);
  EXPECT_EQ(oh_modem_end_read(e.end, &octet, 1), 0u);
  EXPECT_EQ(oh_modem_end_unsent(e.end), 0u);
  oh_modem_end_hang_up(e.end);
  e.step(1);
  EXPECT_TRUE(oh_modem_end_released(e.end) != 0 && oh_modem_end_ended(e.end) != 0);
}

TEST(ModemEnd, WithoutErrorControlOctetsComeBackAsCharacters) {
  End e(mirrored(OH_LINK_OCTETS));
  ASSERT_NE(e.end, nullptr);
  const std::string text = "start and stop";
  EXPECT_EQ(oh_modem_end_write(e.end, reinterpret_cast<const std::uint8_t*>(text.data()), text.size()), text.size());
  e.step(100);
  std::array<std::uint8_t, 32> back;
  const std::size_t n = oh_modem_end_read(e.end, back.data(), back.size());
  EXPECT_EQ(std::string(back.begin(), back.begin() + static_cast<std::ptrdiff_t>(n)), text);
  EXPECT_EQ(e.status().link.frames_sent, 0u);
}

TEST(ModemEnd, AnEndThatHearsItselfHasNoV42) {
  End optional(mirrored(OH_LINK_OCTETS, OH_ERROR_CONTROL_OPTIONAL)),
      required(mirrored(OH_LINK_OCTETS, OH_ERROR_CONTROL_REQUIRED));
  EXPECT_EQ(oh_modem_end_writable(optional.end), 0u);
  optional.step(8000 * 3 + 100);
  required.step(8000 * 3 + 100);
  EXPECT_NE(oh_modem_end_direct(optional.end), 0);
  EXPECT_GT(oh_modem_end_writable(optional.end), 0u);
  EXPECT_EQ(oh_modem_end_direct(required.end), 0);
  EXPECT_EQ(required.status().link.state, OH_LAPM_DETECTION);
  required.step(8000 * 18);
  const oh_modem_end_status s = required.status();
  EXPECT_STREQ(oh_modem_end_failure(&s), "found no V.42 at the other end");
  EXPECT_NE(oh_modem_end_ended(required.end), 0);
}

TEST(ModemEnd, TellsThePumpTheFramesOfItsLink) {
  Joined wire;
  oh_modem_end_config config = mirrored(OH_LINK_OCTETS, OH_ERROR_CONTROL_REQUIRED);
  config.pump = Joined::type();
  End caller(config);
  config.role = OH_PUMP_ANSWER;
  End answerer(config);
  const auto run = [&](int periods) {
    for (int k = 0; k < periods; ++k) {
      caller.step(1);
      answerer.step(1);
    }
  };
  run(8000 * 2);
  ASSERT_EQ(answerer.status().link.state, OH_LAPM_CONNECTED);
  EXPECT_EQ(wire.good, answerer.status().link.frames_received);
  EXPECT_GT(wire.good, 0u);
  EXPECT_EQ(wire.bad, 0u);
  run(8000);
  EXPECT_EQ(wire.good, answerer.status().link.frames_received) << "flags are no frames";
  wire.damages_every = 200;
  const std::vector<std::uint8_t> octets(4000, 'x');
  EXPECT_GT(oh_modem_end_write(caller.end, octets.data(), octets.size()), 1000u);
  run(4000);
  EXPECT_GT(wire.bad, 5u);
  EXPECT_EQ(wire.bad, answerer.status().link.bad_frames);
}

// V.8 8.2.1: at least 0.2 s before ANSam. The owner chooses the silence before that; a caller has none.
TEST(ModemEnd, AnAnswererIsSilentForItsDelayAndThePumpsOwn) {
  for (const std::uint32_t delay_ms : {0u, 1800u}) {
    oh_modem_end_config config{};
    config.pump = oh_v34_type();
    config.role = OH_PUMP_ANSWER;
    config.answer_delay_ms = delay_ms;
    End e(config);
    std::size_t silent = 0;
    for (std::int16_t sample = 0; sample == 0 && silent < 8 * 3000; ++silent) {
      oh_modem_end_process(e.end, &sample, &sample, 1);
    }
    EXPECT_NEAR(static_cast<double>(silent), 8. * (200 + delay_ms), 8);
  }
}

double power_at(const std::vector<std::int16_t>& samples, double hz) {
  std::complex<double> sum = 0;
  for (std::size_t n = 0; n < samples.size(); ++n)
    sum +=
        static_cast<double>(samples[n]) * std::polar(1.0, -2 * std::numbers::pi * hz * static_cast<double>(n) / 8000);
  return std::norm(sum);
}

// V.22bis 2.2: 1800 Hz 6 dB, or 550 Hz 3 dB below the data. Unscrambled ones are a tone of 2250 Hz.
TEST(ModemEnd, AnAnswererOfV22bisHasTheGuardToneOfItsOwner) {
  for (const auto& [hz, db] : {std::pair{1800u, 6.}, {550u, 3.}}) {
    oh_modem_end_config config{};
    config.pump = oh_v22bis_type();
    config.role = OH_PUMP_ANSWER;
    config.guard_tone_hz = hz;
    End e(config);
    std::vector<std::int16_t> samples(8 * 7000);
    for (std::int16_t& sample : samples) oh_modem_end_process(e.end, &sample, &sample, 1);
    samples.erase(samples.begin(), samples.end() - 4000);  // the answer tone is over
    EXPECT_NEAR(10 * std::log10(power_at(samples, 2250) / power_at(samples, hz)), db, 1) << hz;
    EXPECT_GT(power_at(samples, hz), 1e4 * power_at(samples, hz == 550 ? 1800 : 550));
  }
  oh_modem_end_config config{};
  config.pump = oh_v22bis_type();
  config.guard_tone_hz = 1000;
  EXPECT_EQ(oh_modem_end_size(&config, nullptr), 0u);
}

TEST(ModemEnd, SaysWhyItIsRefused) {
  const auto reason = [](auto change) {
    oh_modem_end_config config = mirrored(OH_LINK_OCTETS, OH_ERROR_CONTROL_REQUIRED);
    change(config);
    const char* why = nullptr;
    const std::size_t size = oh_modem_end_size(&config, &why);
    std::array<std::uint8_t, 64> nothing;
    if (size == 0) {
      EXPECT_EQ(oh_modem_end_init(nothing.data(), &config), nullptr);
    }
    EXPECT_EQ(size == 0, why != nullptr);
    return std::string(why == nullptr ? "" : why);
  };
  EXPECT_EQ(reason([](auto&) {}), "");
  static constexpr int kNoRole = 7;
  EXPECT_EQ(reason([](auto& c) { std::memcpy(&c.role, &kNoRole, sizeof c.role); }),
            "invalid role; expected call or answer");
  EXPECT_EQ(reason([](auto& c) { c.link.error_control = static_cast<oh_error_control>(3); }),
            "invalid error control; expected none, optional or required");
  const char* kV42 = "invalid V.42 window or compression parameters";
  EXPECT_EQ(reason([](auto& c) { c.link.window = 14; }), kV42);
  EXPECT_EQ(reason([](auto& c) { c.link.window = 128; }), kV42);
  EXPECT_EQ(reason([](auto& c) { c.link.compression = 3, c.link.codewords = 1 << 16; }), kV42);
  EXPECT_EQ(reason([](auto& c) { c.modulations = c.without_v42 = OH_MODULATION_V21; }),
            "V.42 is required, but no modulation supports it");
  EXPECT_EQ(reason([](auto& c) { c.kind = OH_LINK_RAW; }), "a raw link without a bit port");
}

}  // namespace
}  // namespace offhook
