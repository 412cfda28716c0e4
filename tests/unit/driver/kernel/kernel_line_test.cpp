// SPDX-License-Identifier: MIT
#include "driver/kernel/kernel_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "driver/kernel/kernel_modem.h"
#include "driver/tty/modulation.h"
#include "tests/unit/driver/kernel/kernel_stand_in.h"

namespace offhook {
namespace {

const KernelLineConfig kConfig{{105, 105, 90}, 204, OH_SERVICE_DRAIN_ALL};

/// A request of +MS becomes a call of the kernel's modem.
oh_kernel_call by_command(const char* carrier, int automode, int min_rate = 0, int max_rate = 0) {
  modem::AtSettings settings;
  settings.modulation = carrier;
  settings.automode = automode;
  settings.min_rate = min_rate;
  settings.max_rate = max_rate;
  return kernel_call(modem::choose_modem(settings, kernel_modulations()), kConfig);
}

TEST(KernelLine, TakesTheFastestModulationThatMsAllows) {
  EXPECT_STREQ(by_command("", 1).pump, "v34");
  EXPECT_STREQ(by_command("V34", 1).pump, "v34");
  EXPECT_STREQ(by_command("V34", 0).pump, "v34");
  EXPECT_STREQ(by_command("V32B", 1).pump, "v32bis");
  EXPECT_STREQ(by_command("V32B", 0).pump, "v32bis");
  EXPECT_STREQ(by_command("V22B", 1).pump, "v22bis");
  EXPECT_STREQ(by_command("V22B", 0).pump, "v22bis");
}

TEST(KernelLine, TakesTheModulationsThatHaveTheSamplesOfTheCard) {
  KernelLineConfig config = kConfig;
  modem::CallConfig call{.pump = kV90.type(), .role = OH_PUMP_CALL, .modulations = OH_MODULATION_V90};
  for (const oh_pump_format& card : {kLinear16000To8000, kMuLaw8000, kALaw8000}) {
    config.format = card;
    call.modulations = OH_MODULATION_V90;
    EXPECT_STREQ(kernel_call(call, config).pump, "v90");
    call.modulations = OH_MODULATION_V34 | OH_MODULATION_V90;
    EXPECT_STREQ(kernel_call(call, config).pump, "v90");
    call.modulations = OH_MODULATION_V34;
    EXPECT_THROW(kernel_call(call, config), std::invalid_argument);
  }
  // AT commands with such a card.
  for (const oh_pump_format& card : {kLinear16000To8000, kMuLaw8000, kALaw8000}) {
    config.format = card;
    const modem::Offer offer = modem::offer(kernel_modulations(), card, config.transmit_lead_samples);
    EXPECT_EQ(modem::names_of(offer.carriers), "V90");
    for (const char* carrier : {"", "V90"}) {
      for (const int automode : {0, 1}) {
        modem::AtSettings settings;
        settings.modulation = carrier;
        settings.automode = automode;
        EXPECT_STREQ(kernel_call(modem::choose_modem(settings, offer.carriers), config).pump, "v90");
      }
    }
  }
  call.modulations = OH_MODULATION_V90;
  EXPECT_THROW(kernel_call(call, kConfig), std::invalid_argument);
  call.modulations = OH_MODULATION_V34 | OH_MODULATION_V90;
  EXPECT_STREQ(kernel_call(call, kConfig).pump, "v34");
}

TEST(KernelLine, AHoldIsTheKernelsModems) {
  KernelStandIn modem;
  KernelLine line(modem, kConfig);
  line.hold(OH_HOLD_REQUEST);
  EXPECT_TRUE(modem.orders.empty()) << "there is no call";
  modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL, .modulations = OH_MODULATION_V34};
  call.hold_timeout = 5;
  line.begin_call(call);
  EXPECT_EQ(modem.call.hold_timeout, 5u);
  line.hold(OH_HOLD_REQUEST);
  EXPECT_EQ(modem.orders, std::vector{OH_HOLD_REQUEST});
  modem.hold_order = OH_KERNEL_ORDER_PENDING;
  EXPECT_EQ(line.status().order, modem::OrderStatus::kPending);
  modem.hold_order = OH_KERNEL_ORDER_REFUSED;
  EXPECT_EQ(line.status().order, modem::OrderStatus::kRefused);
  modem.hold_order = OH_KERNEL_ORDER_NONE;
  modem.hold_state = OH_HOLD_AWAY;
  modem.hold_timeout = 9;
  EXPECT_EQ(line.status().order, modem::OrderStatus::kNone);
  EXPECT_EQ(line.status().pump.hold, OH_HOLD_AWAY);
  EXPECT_EQ(line.status().pump.hold_timeout, 9u);
  modem.gone = true;
  line.hold(OH_HOLD_RESUME);
  EXPECT_TRUE(line.failed());
}

TEST(KernelLine, TellsTheKernelRatesWindowAndBlocks) {
  const oh_kernel_call call = by_command("V34", 1, 0, 28'800);
  EXPECT_EQ(call.max_bit_rate, 28'800u);
  EXPECT_EQ(call.link.window, 64u);
  EXPECT_EQ(call.transmit_lead_samples, 204u);
  ASSERT_EQ(call.block_plan_length, 3u);
  EXPECT_EQ(call.block_plan[2], 90u);
}

TEST(KernelLine, TellsTheKernelWhatV42IsToOffer) {
  modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_ANSWER};
  call.link.compression = 3;
  call.link.codewords = 1024;
  call.link.max_string = 20;
  call.link.skip_detection = 1;
  const oh_kernel_call k = kernel_call(call, kConfig);
  EXPECT_EQ(k.role, OH_PUMP_ANSWER);
  EXPECT_EQ(k.link.compression, 3u);
  EXPECT_EQ(k.link.codewords, 1024u);
  EXPECT_EQ(k.link.max_string, 20u);
  EXPECT_EQ(k.link.skip_detection, 1u);
  EXPECT_EQ(k.link.error_control, OH_ERROR_CONTROL_REQUIRED);
}

TEST(KernelLine, TellsTheKernelWhetherThereIsErrorControl) {
  modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL};
  call.link.error_control = OH_ERROR_CONTROL_NONE;
  EXPECT_EQ(kernel_call(call, kConfig).link.error_control, OH_ERROR_CONTROL_NONE);
  call.link.error_control = OH_ERROR_CONTROL_OPTIONAL;
  EXPECT_EQ(kernel_call(call, kConfig).link.error_control, OH_ERROR_CONTROL_OPTIONAL);
}

TEST(KernelLine, ACallWithoutErrorControlStandsInDataModeAndIsToldThatItEnds) {
  KernelStandIn device;
  device.direct = true;
  KernelLine line(device, kConfig);
  modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL};
  call.link.error_control = OH_ERROR_CONTROL_NONE;
  line.begin_call(call);
  EXPECT_FALSE(line.status().connected());
  device.wait(0);
  while (device.status().pump != OH_PUMP_DATA) device.wait(0);
  EXPECT_TRUE(line.status().connected());
  EXPECT_TRUE(line.status().failure().empty()) << "no link is missed";
  line.end_call();
  EXPECT_TRUE(device.hung_up);
  EXPECT_FALSE(device.running);
}

TEST(KernelLine, TellsTheKernelOfV44) {
  modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL};
  EXPECT_EQ(kernel_call(call, kConfig).link.v44, 0u);
  constexpr std::uint8_t kBoth = OH_LAPM_COMPRESS_SENT | OH_LAPM_COMPRESS_RECEIVED;
  call.link.v44 = kBoth;
  call.link.v44_tx = {.codewords = 1'024, .history = 3'072, .max_string = 64};
  call.link.v44_rx = {.codewords = 512, .history = 1'536, .max_string = 32};
  const oh_kernel_call k = kernel_call(call, kConfig);
  EXPECT_EQ(k.link.v44, kBoth);
  EXPECT_EQ(k.link.v44_tx.codewords, 1'024u);
  EXPECT_EQ(k.link.v44_tx.history, 3'072u);
  EXPECT_EQ(k.link.v44_tx.max_string, 64u);
  EXPECT_EQ(k.link.v44_rx.codewords, 512u);
  EXPECT_EQ(k.link.v44_rx.history, 1'536u);
  EXPECT_EQ(k.link.v44_rx.max_string, 32u);
}

TEST(KernelLine, RefusesWhatTheKernelLacks) {
  const modem::CallConfig plain{.pump = kV34.type(), .role = OH_PUMP_CALL};
  modem::CallConfig digits = plain, v23 = plain, slow = plain;
  digits.digits = "5551234";
  v23.modulations = OH_MODULATION_V23;
  slow.max_bit_rate = 1'200;
  for (const modem::CallConfig& call : {digits, v23, slow})
    EXPECT_THROW(kernel_call(call, kConfig), std::invalid_argument);
  EXPECT_THROW(kernel_call(plain, {{}, 204, OH_SERVICE_DRAIN_ALL}), std::invalid_argument);
  EXPECT_THROW(kernel_call(plain, {std::vector<std::uint32_t>(9, 80), 204, OH_SERVICE_DRAIN_ALL}),
               std::invalid_argument);
}

TEST(KernelLine, ACallThatTheKernelRefusesFailsAndTheNextOneMayBegin) {
  KernelStandIn device;
  device.refusal = "/dev/offhook0: the call cannot start: Cannot allocate memory";
  KernelLine line(device, kConfig);
  const modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL};
  line.begin_call(call);
  EXPECT_FALSE(line.status().failure().empty());
  EXPECT_EQ(line.take_refusal(), device.refusal);
  EXPECT_EQ(line.take_refusal(), "");
  EXPECT_FALSE(line.failed()) << "the device is there";
  line.end_call();
  EXPECT_TRUE(line.status().failure().empty());
  device.refusal = nullptr;
  line.begin_call(call);
  EXPECT_TRUE(device.running);
  EXPECT_TRUE(line.status().failure().empty());
}

TEST(KernelLine, ADeviceThatIsGoneWhenACallBeginsFailsThatLineAlone) {
  KernelStandIn device, other;
  KernelLine line(device, kConfig), beside(other, kConfig);
  const modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL};
  device.gone = true;
  line.begin_call(call);
  beside.begin_call(call);
  EXPECT_TRUE(line.failed());
  EXPECT_FALSE(beside.failed());
  EXPECT_TRUE(other.running);
}

TEST(KernelLine, ASuspendedMachineEndsTheCallAndNotTheLine) {
  KernelStandIn device;
  KernelLine line(device, kConfig);
  const modem::CallConfig call{.pump = kV34.type(), .role = OH_PUMP_CALL};
  line.begin_call(call);
  EXPECT_TRUE(line.status().failure().empty());
  device.suspended_at = 0;
  EXPECT_FALSE(line.status().failure().empty());
  EXPECT_FALSE(line.failed());
  line.end_call();
  device.suspended_at = ~std::uint64_t{};
  line.begin_call(call);
  EXPECT_TRUE(line.status().failure().empty());
}

/// Messages for a path that is not a modem of the kernel.
std::string refusal(const std::string& path) {
  try {
    KernelModem modem(path);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(KernelModem, ThatIsNoneIsNamedWithWhatItIs) {
  const std::string expected = "; expected a device of the module offhook";
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("modem-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = folder / "file", fifo = folder / "fifo", none = folder / "none";
  std::ofstream(file) << "precious";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(refusal(file), file + ": is a file" + expected);
  EXPECT_EQ(refusal(folder), folder.string() + ": is a folder" + expected);
  EXPECT_EQ(refusal(fifo), fifo + ": is a FIFO" + expected);
  EXPECT_EQ(refusal(none), none + ": cannot be opened" + expected + ": No such file or directory");
  EXPECT_EQ(refusal("/dev/null"),
            "/dev/null: belongs to another driver, or to another version of the module" + expected);
  std::filesystem::remove_all(folder);
}

TEST(KernelModem, NothingIsLeftOpenOfWhatIsNone) {
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  refusal("/dev/null");
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace offhook
