// SPDX-License-Identifier: MIT
#include "traces/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/traces/scenario/data_folder.h"
#include "tests/unit/traces/scenario/read_text.h"
#include "traces/scenario/data.h"

namespace offhook::config {
namespace {

using hostsim::PumpKind;
using hostsim::Scenario;

class ScenarioFile : public testing::Test {
 protected:
  DataFolder data_;
};

TEST_F(ScenarioFile, EveryKindOfKeyIsRead) {
  const Scenario s = read(R"(
name = "try"
seed = 7
[context]
kind = "reservation"
x_ticks = 3
y_ticks = 16
strict = true
slot_phase = 0.25
[host]
clock_isr_us = 2.5
[load]
spinner = true
[line]
noise_dbm0 = -40
codec = "a-law"
[pump]
kind = "cost-profile"
[driver]
policy = "one-block"
block_plan_samples = [90, 90]
[transfer]
bytes = 1234
)");
  EXPECT_EQ(s.name, "try");
  EXPECT_EQ(s.seed, 7u);
  EXPECT_EQ(s.context.kind, OH_CONTEXT_RESERVATION);
  EXPECT_EQ(s.context.x_ticks, 3);
  EXPECT_EQ(s.context.y_ticks, 16);
  EXPECT_TRUE(s.context.strict);
  EXPECT_EQ(s.context.slot_phase, 0.25);
  EXPECT_EQ(s.host.clock_isr_ns, 2500);
  EXPECT_TRUE(s.load.spinner);
  EXPECT_EQ(s.line.noise_dbm0, -40);
  EXPECT_EQ(s.line.codec, "a-law");
  EXPECT_EQ(s.pump, PumpKind::kCostProfile);
  EXPECT_EQ(s.policy, OH_SERVICE_ONE_BLOCK);
  EXPECT_THAT(s.block_plan, testing::ElementsAre(90, 90));
  EXPECT_EQ(s.bytes, 1234u);
}

TEST_F(ScenarioFile, UnknownKeyNamesPositionAndNearestKey) {
  EXPECT_EQ(complaint("[context]\nkind = \"dpc\"\nx_tick = 3\n"),
            "call.toml:3:1: unknown key \"context.x_tick\"; the nearest known key is \"context.x_ticks\"");
  EXPECT_EQ(complaint("sede = 3\n"), "call.toml:1:1: unknown key \"sede\"; the nearest known key is \"seed\"");
  EXPECT_EQ(complaint("\n[lode]\nspinner = true\n"),
            "call.toml:2:2: unknown table \"lode\"; the nearest known key is \"load\"");
}

TEST_F(ScenarioFile, AFileOfAnotherKindIsNamed) {
  EXPECT_EQ(complaint("[axes]\nseed = [1, 2]\n"),
            "call.toml:1:2: unknown table \"axes\"; it belongs to a grid, for offhook sweep");
  EXPECT_EQ(complaint("name = \"a card\"\n[block]\nrate_hz = 8000\n"),
            "call.toml:2:2: unknown table \"block\"; it belongs to a device, for offhook advise");
}

TEST_F(ScenarioFile, WrongTypeNamesPositionAndExpectation) {
  EXPECT_EQ(complaint("[load]\nspinner = 1\n"), "call.toml:2:11: load.spinner is 1; expected true or false");
  EXPECT_EQ(complaint("[context]\nx_ticks = 2.5\n"),
            "call.toml:2:11: context.x_ticks is 2.5; expected a whole number, 1 to 1024");
  EXPECT_EQ(complaint("line = 3\n"), "call.toml:1:8: line is 3; expected a table");
  EXPECT_THAT(complaint("[context]\nkind = \"thread8\"\n"),
              testing::HasSubstr("call.toml:2:8: context.kind is \"thread8\"; expected \"interrupt\" or \"dpc\" or "
                                 "\"thread\" or \"reservation\" or \"threaded\""));
}

TEST_F(ScenarioFile, WrongRangeNamesPositionAndRange) {
  EXPECT_EQ(complaint("[context]\npriority = 32\n"),
            "call.toml:2:1: context.priority is 32; expected at most 31 on host nt2000-p2-450");
  EXPECT_EQ(complaint("[context]\npriority = 256\n"),
            "call.toml:2:12: context.priority is 256; expected a whole number, 1 to 255");
  EXPECT_EQ(complaint("[line]\nloss_db = nan\n"), "call.toml:2:11: line.loss_db is nan; expected a number, -20 to 60");
  EXPECT_EQ(complaint("seed = -1\n"), "call.toml:1:8: seed is -1; expected a whole number, 0 or more");
  EXPECT_EQ(complaint("[driver]\nblock_plan_samples = [105, 0]\n"),
            "call.toml:2:22: driver.block_plan_samples is [105, 0]; expected a list of whole numbers, each 1 to 256");
}

TEST_F(ScenarioFile, BrokenTomlNamesPosition) {
  EXPECT_THAT(complaint("name = \n"), testing::StartsWith("call.toml:1:"));
  EXPECT_THAT(complaint("seed = 1\nseed = 2\n"), testing::StartsWith("call.toml:2:"));
  EXPECT_THAT(complaint(std::string("[\0\x05]\n", 5)), testing::StartsWith("call.toml"));  // an assertion in toml++
}

TEST_F(ScenarioFile, OnlyCommentsAndStringsHoldMoreThanAscii) {
  EXPECT_EQ(read("# caf\u00e9 \"\nname = \"caf\u00e9 \\\" \u00e9\" # \u00e9\n").name, "caf\u00e9 \" \u00e9");
  EXPECT_EQ(complaint("seed = 1\n  \u00e9 = 2\n"),
            "call.toml:2:3: keys and values are ASCII; expected other characters in quotes only");
  // toml++ is undefined for these: at the continuation of a string, and after quotation marks that begin none.
  EXPECT_EQ(read("name = \"\"\"caf\\\n\u00e9\ufefb\"\"\"\n").name, "caf\u00e9\ufefb");
  for (const char* text : {"seed = +'\ufefb'\n", "seed = 1\"\ufefb\"\n", "seed = 1='\ufefb'\n", "seed = [1['\ufefb'\n"})
    EXPECT_THAT(complaint(text), testing::StartsWith("call.toml:1:")) << text;
}

// Each of these overflowed the parser's stack.
TEST_F(ScenarioFile, WhatIsNestedTooDeepIsRefusedAtItsPosition) {
  const auto repeated = [](std::string_view what, int n) {
    std::string all;
    for (int i = 0; i < n; ++i) all += what;
    return all;
  };
  EXPECT_THAT(complaint("seed = 1\n" + repeated("a.", 500'000) + "a = 1\n"),
              testing::HasSubstr(":2:64: is nested too deep; expected at most 32 levels"));
  EXPECT_THAT(complaint("[" + repeated("a.", 500'000) + "a]\n"), testing::HasSubstr("nested too deep"));
  EXPECT_THAT(complaint(repeated("\"a.b\".", 500'000) + "a = 1\n"), testing::HasSubstr("nested too deep"));
  EXPECT_THAT(complaint("x = " + repeated("[", 500'000)), testing::HasSubstr("nested too deep"));
  EXPECT_THAT(complaint("x = " + repeated("{a=", 500'000)), testing::HasSubstr("nested too deep"));
  EXPECT_THAT(complaint("x = {" + repeated("a.", 500'000) + "a=1}"), testing::HasSubstr("nested too deep"));
  EXPECT_EQ(complaint("name = \"" + repeated(".", 100) + "\" # " + repeated("[", 100) + "\n"), "no error");
  EXPECT_EQ(complaint("driver.block_plan_samples = [" + repeated("105, ", 7) + "90]\n"), "no error");
}

TEST_F(ScenarioFile, AFileThatIsNoDocumentIsRefusedBeforeItIsRead) {
  const auto error = [](const std::filesystem::path& file) -> std::string {
    try {
      Document::read_file(file);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ(error("/dev/zero"), "/dev/zero: does not end within 67108864 bytes");
  const std::filesystem::path sparse = testing::TempDir() + "offhook-sparse.toml";
  std::ofstream(sparse) << "seed = 1\n";
  std::filesystem::resize_file(sparse, 1'000'000'000'000);
  EXPECT_THAT(error(sparse), testing::HasSubstr("sparse.toml: has 1000000000000 bytes; expected at most 67108864"));
  std::filesystem::remove(sparse);
}

TEST_F(ScenarioFile, ANameIsOneComponentOfAPath) {
  for (const std::string name : {"..", ".", "", "/tmp/x", "a/b", "../../etc", "a\\u0000b"}) {
    EXPECT_THAT(complaint("name = \"" + name + "\"\n"),
                testing::HasSubstr("expected a file's name of at most 100 characters"))
        << name;
  }
  EXPECT_THAT(complaint("name = \"" + std::string(101, 'x') + "\"\n"), testing::HasSubstr(":1:1: name is"));
  EXPECT_EQ(complaint("name = \"" + std::string(100, 'x') + "\"\n"), "no error");
  std::string wide;
  for (int i = 0; i < 84; ++i) wide += "\u65e5";  // 252 bytes; the limit for a file's name is 255
  EXPECT_EQ(complaint("name = \"" + wide + "\"\n"), "no error");
  EXPECT_THAT(complaint("name = \"" + wide + wide.substr(0, 9) + "\"\n"), testing::HasSubstr("at most 100 characters"));
}

TEST_F(ScenarioFile, ARealPumpCarriesAFileThatFitsIntoMemory) {
  EXPECT_THAT(complaint("pump.kind = \"real\"\ntransfer.bytes = 1_000_000_000_000\n"),
              testing::HasSubstr(":2:10: transfer.bytes is 1000000000000; expected at most 67108864 with real pumps"));
  EXPECT_EQ(complaint("pump.kind = \"cost-profile\"\ntransfer.bytes = 1_000_000_000_000\n"), "no error");
}

TEST_F(ScenarioFile, ReservationOfMoreThanItsPeriodIsRefused) {
  EXPECT_EQ(complaint("[context]\nkind = \"reservation\"\nx_ticks = 9\ny_ticks = 8\n"),
            "call.toml:4:1: reservation of 9 ticks in every 8 cannot be admitted: 112 % of the CPU; expected X <= Y");
}

TEST_F(ScenarioFile, StandardReservationWithOddPeriodIsRefused) {
  EXPECT_THAT(complaint("context = \"RES 1/7\"\n"),
              testing::HasSubstr("call.toml:1:1: reservation of 1 ticks in every 7 cannot be admitted: the standard "
                                 "scheduler's periods are powers of two"));
  EXPECT_EQ(read("context = \"RES 1/7 strict\"\n").context.y_ticks, 7);
}

TEST_F(ScenarioFile, PinningToACpuThatIsNotThereIsRefused) {
  EXPECT_EQ(complaint("[context]\ncpu = 2\n[host]\ncpus = 2\n"),
            "call.toml:2:1: context.cpu is 2; expected at most 1, host nt2000-p2-450 has 2 CPUs");
  EXPECT_EQ(complaint("[context]\ninterrupt_cpu = 1\n"),
            "call.toml:2:1: context.interrupt_cpu is 1; expected at most 0, host nt2000-p2-450 has 1 CPU");
  EXPECT_EQ(complaint("[host]\ncpus = 65\n"), "call.toml:2:8: host.cpus is 65; expected a whole number, 1 to 64");
  EXPECT_THAT(complaint("[[load.device]]\nname = \"usb\"\ncpu = 1\n"),
              testing::HasSubstr("load.device \"usb\": cpu is 1; expected at most 0"));
  EXPECT_THAT(complaint("[[load.thread]]\nname = \"a\"\ncpu = 1\n"),
              testing::HasSubstr("load.thread \"a\": cpu is 1; expected at most 0"));
  EXPECT_THAT(complaint("[[load.reservation]]\ncpu = 3\n[host]\ncpus = 3\n"),
              testing::HasSubstr("load.reservation \"reserved 1\": cpu is 3; expected at most 2"));
  EXPECT_THAT(complaint("[host]\nlatencies = \"win98-games\"\ncpus = 2\n"),
              testing::HasSubstr("host.cpus is 2; expected 1: host nt2000-p2-450 is drawn from measurements of one"));
}

TEST_F(ScenarioFile, DevicesHaveNamesOfTheirOwnAndLeaveEachCpuSomeTime) {
  const auto devices = [](std::initializer_list<const char*> names) {
    std::string text;
    for (const char* name : names) text += "[[load.device]]\nname = \"" + std::string(name) + "\"\n";
    return text;
  };
  EXPECT_EQ(read(devices({"usb", "scsi", "network"})).load.devices.size(), 3u);
  for (const auto& names :
       {devices({"usb", "usb", "scsi"}), devices({"usb", "scsi", "usb"}), devices({"scsi", "usb", "usb"})})
    EXPECT_THAT(complaint(names), testing::HasSubstr("two devices are named \"usb\"; expected unique names"));
}

TEST_F(ScenarioFile, ThreadsAndTheirCpusAreReadAndWrittenBack) {
  const Scenario s = read(R"(
[context]
kind = "dpc"
dpc_importance = "high"
dpc_cpu = 1
[host]
cpus = 4
high_resolution_timers = true
hard_irq_us = 2.5
[[load.thread]]
priority = 12
every_us = 500
work_us = 20
cpu = 3
[[load.device]]
name = "network"
window = 10
napi_budget = 64
dpc_importance = "low"
cpu = 2
reader_cpu = 1
)");
  ASSERT_EQ(s.load.threads.size(), 1U);
  EXPECT_EQ(s.load.threads[0].name, "thread 1");
  EXPECT_EQ(s.load.threads[0].every_ns, 500'000);
  EXPECT_EQ(s.load.threads[0].work_ns, 20'000);
  EXPECT_EQ(s.load.threads[0].cpu, 3);
  EXPECT_EQ(s.context.dpc_importance, hostsim::DpcImportance::kHigh);
  EXPECT_EQ(s.host.hard_irq_ns, 2500);
  EXPECT_EQ(s.load.devices.at(0).napi_budget, 64);
  EXPECT_EQ(s.load.devices.at(0).dpc_importance, hostsim::DpcImportance::kLow);
  EXPECT_EQ(s.load.devices.at(0).reader_cpu, 1);
  const std::string text = to_toml(s);
  EXPECT_EQ(to_toml(read(text)), text);
}

TEST_F(ScenarioFile, LeadShorterThanTheLongestBlockIsRefused) {
  EXPECT_EQ(complaint("[driver]\ntransmit_lead_samples = 104\n"),
            "call.toml:2:1: driver.transmit_lead_samples is 104; expected at least the longest block, 105");
}

TEST_F(ScenarioFile, UnknownHostAndProfileListTheKnownOnes) {
  EXPECT_THAT(complaint("[host]\nname = \"cray\"\n"),
              testing::AllOf(testing::StartsWith("call.toml:2:1: host.name: \"cray\" is not in "),
                             testing::HasSubstr("expected one of: nt2000-p2-450")));
  EXPECT_THAT(complaint("[pump]\ncost_profile = \"cray\"\n"),
              testing::StartsWith("call.toml:2:1: pump.cost_profile is \"cray\"; expected a file.toml or one of: "));
}

TEST_F(ScenarioFile, SetOverridesTheFileAndNamesItself) {
  ScenarioBuilder builder;
  builder.apply(Document::parse("[context]\nkind = \"dpc\"\n", "call.toml"));
  builder.set("context.kind=thread");
  builder.set("context.priority=8");
  builder.set("line.codec=none");
  const Scenario s = builder.finish();
  EXPECT_EQ(s.context.kind, OH_CONTEXT_THREAD);
  EXPECT_EQ(s.context.priority, 8);
  EXPECT_EQ(s.line.codec, "none");
  try {
    builder.set("context.priority=999");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "--set context.priority=999: context.priority is 999; expected a whole number, 1 to 255");
  }
  EXPECT_THROW(builder.set("context.priority"), Error);
}

TEST_F(ScenarioFile, EveryContextSurvivesTheEffectiveConfiguration) {
  for (const char* text :
       {"INT", "THREADED", "DPC", "SOFTIRQ", "THR 8", "THR 24", "FIFO 50", "RR 10", "WORKER", "OTHER", "OTHER -16",
        "RES 2/8", "RES 3/16 strict", "RES 2ms/8ms", "RES 1.5ms/12.5ms strict"}) {
    const Scenario s = read(std::string("context = \"") + text +
                            "\"\n[host]\nscheduler = \"linux\"\nreservations = \"deadline-ticks\"\npriorities = 100\n");
    EXPECT_EQ(s.context.str(), text);
    EXPECT_EQ(read(to_toml(s)).context.str(), text);
  }
}

TEST_F(ScenarioFile, AContextOfAnotherSystemIsRefusedWithWhatTheHostRuns) {
  EXPECT_THAT(
      complaint("context = \"FIFO 50\"\n"),
      testing::HasSubstr("FIFO 50 is Linux's; this host is nt2000-p2-450, with scheduler fixed-priority: INT, DPC"));
  EXPECT_THAT(complaint("context = \"RES 2ms/8ms\"\n"), testing::HasSubstr("slots are whole clock interrupts"));
  EXPECT_THAT(complaint("context = \"FIFO 0\"\n"),
              testing::HasSubstr("call.toml:1:1: \"FIFO 0\" is not a valid context: at character 6 expected"));
  EXPECT_THAT(complaint("[context]\nbudget_ms = 2\n"), testing::HasSubstr("expected both"));
}

TEST_F(ScenarioFile, AModulationWithoutV42IsRefusedWhereErrorControlIsRequired) {
  EXPECT_THAT(complaint("[pump]\nmodem = \"v21\"\n"),
              testing::HasSubstr("call.toml:2:1: pump.modem is \"v21\", over which V.42 does not run; expected"));
  EXPECT_THAT(complaint("[pump]\nmodem = \"auto\"\nfar_modem = \"v23\"\n"),
              testing::HasSubstr("call.toml:3:1: pump.far_modem is \"v23\""));
  EXPECT_EQ(read("[pump]\nmodem = \"v21\"\n[link]\nerror_control = \"none\"\n").modem, OH_MODULATION_V21);
}

TEST_F(ScenarioFile, EffectiveConfigurationReadsBackToTheSameText) {
  const Scenario s = read(
      "context = \"RES 3/15 strict\"\nname = \"a \\\"b\\\" \\\\ \\u0001\"\nseed = 9007199254740992\n"
      "[line]\nnoise_dbm0 = -33.1\n[host]\nclock_isr_us = 0.001\n[transfer]\nbytes = 1\n");
  const std::string text = to_toml(s);
  const Scenario again = read(text);
  EXPECT_EQ(to_toml(again), text);
  EXPECT_EQ(again.name, s.name);
  EXPECT_EQ(again.seed, s.seed);
  EXPECT_EQ(again.line.noise_dbm0, s.line.noise_dbm0);
  EXPECT_EQ(again.host.clock_isr_ns, 1);
}

TEST_F(ScenarioFile, EveryKeyIsWrittenAndDescribed) {
  const Scenario defaults;
  const std::string help = describe(scenario_keys(), &defaults);
  for (const Key& key : scenario_keys()) EXPECT_THAT(help, testing::HasSubstr(std::string(key.path) + " = "));
}

TEST_F(ScenarioFile, EveryModulationHasAName) {
  std::string names;
  for (const Modulation& m : kModulations) {
    const std::string modem = "pump.modem = \"" + std::string(m.name) + "\"";
    EXPECT_EQ(read("line.kind = \"digital-trunk\"\nlink.error_control = \"none\"\n" + modem).modem, m.id);
    if (m.id != OH_MODULATION_NONE) names += (names.empty() ? "\"" : ", \"") + std::string(m.name) + "\"";
  }
  EXPECT_EQ(read("pump.modem = \"auto\"\npump.modulations = [" + names + "]").modulations, kAllModulations);
  EXPECT_EQ(read("link.error_control = \"optional\"").link.error_control, OH_ERROR_CONTROL_OPTIONAL);
  const hostsim::Scenario mnp = read("[link]\nprotocols = \"v42-or-mnp\"\nfar_protocols = \"mnp\"\nmnp_class = 2");
  EXPECT_EQ(mnp.link.protocols, OH_PROTOCOL_V42 | OH_PROTOCOL_MNP);
  EXPECT_EQ(mnp.far_protocols, OH_PROTOCOL_MNP);
  EXPECT_EQ(mnp.link.mnp_class, 2u);
}

TEST_F(ScenarioFile, ADeviceOnASubscriberLoopIsADmtPumpAndTheOthersAreNot) {
  const std::string loop = "line.kind = \"subscriber-loop\"\n";
  const std::string device =
      "pump.kind = \"device\"\ndevice.block.rate_hz = 1104000\ndevice.block.plan_samples = [4416]\n";
  const hostsim::Scenario s = read(loop + device + "[loop]\ncable = \"26:9 24:2 24/0.5\"\ndisturbers = \"24 ISDN\"\n");
  EXPECT_EQ(s.line_kind, hostsim::LineKind::kSubscriberLoop);
  EXPECT_EQ(s.loop.disturbers, "24 ISDN");
  EXPECT_EQ(read(to_toml(s)).loop.cable, s.loop.cable);
  const auto complaint = [this](const std::string& text) {
    try {
      (void)read(text);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint(loop), testing::HasSubstr("expected a device on it"));
  EXPECT_THAT(complaint(loop + "pump.kind = \"device\""), testing::HasSubstr("expected 1104000 (G.lite) or 2208000"));
  EXPECT_THAT(complaint(loop + device + "loop.cable = \"CSA 99\""), testing::HasSubstr("loop.cable: "));
  EXPECT_THAT(complaint(loop + device + "loop.disturbers = \"24 fax\""), testing::HasSubstr("loop.disturbers: "));
  EXPECT_THAT(complaint(loop + device + "loop.ingress = \"540\""), testing::HasSubstr("loop.ingress: "));
  EXPECT_THAT(complaint(loop + device + "line.loss_db = 3"),
              testing::HasSubstr("line.loss_db has no effect with line.kind = \"subscriber-loop\"; expected loop.*"));
  EXPECT_THAT(complaint("loop.noise_dbm_hz = -120"),
              testing::HasSubstr("loop.noise_dbm_hz has no effect with line.kind = \"analogue\"; expected line.*"));
}

TEST_F(ScenarioFile, SoftDevicesBesideHaveADeviceAndAContextAndAreReadAsWritten) {
  const std::string adsl = "pump.kind = \"device\"\ncontext = \"RES 3/8\"\n";
  const hostsim::Scenario s =
      read(adsl +
           "[[load.soft_device]]\nname = \"audio\"\ndevice.block.rate_hz = 48000\ndevice.block.plan_samples = [480]\n"
           "context = \"RES 1/16\"\n"
           "[[load.soft_device]]\nname = \"radio\"\ncontext = \"DPC\"\n"
           "device.block.rate_hz = 4000000\ndevice.block.plan_samples = [1250]\n");
  const auto& all = s.load.soft_devices;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "audio");
  EXPECT_EQ(all[0].context.str(), "RES 1/16");
  EXPECT_EQ(all[0].device.rate_hz, 48'000u);
  EXPECT_EQ(all[1].context.kind, OH_CONTEXT_DPC);
  EXPECT_EQ(all[1].device.block_plan, std::vector<std::uint32_t>{1250});
  const hostsim::Scenario again = read(to_toml(s));
  ASSERT_EQ(again.load.soft_devices.size(), 2u);
  EXPECT_EQ(again.load.soft_devices[0].context.str(), "RES 1/16");
  EXPECT_EQ(to_toml(again), to_toml(s));
  const auto complaint = [&](const std::string& row) {
    try {
      (void)read(adsl + "[[load.soft_device]]\n" + row);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint("device = \"rt-audio\""), testing::HasSubstr("load.soft_device: \"rt-audio\" is not in"));
  EXPECT_THAT(complaint("name = \"a\"\ncontext = \"RES 9/8\""), testing::HasSubstr("expected X <= Y"));
  EXPECT_THAT(complaint("context = \"OFTEN\""), testing::HasSubstr("load.soft_device: "));
  EXPECT_THAT(complaint("name = \"a\"\ncontext = \"RES 3/4\""), testing::HasSubstr("cannot be admitted"));
  EXPECT_THAT(complaint("name = \"\"\ndevice.name = \"\""), testing::HasSubstr("expected a unique name"));
  EXPECT_THAT(complaint("name = \"a\"\ndevice.buffers.count = 1\ndevice.buffers.lead_samples = 9000"),
              testing::HasSubstr("transmit lead"));
  EXPECT_THAT(complaint("speed = 3"), testing::HasSubstr("speed"));
}

TEST_F(ScenarioFile, AProgramWithoutTheRadioSaysSoAndWhereItWasAskedFor) {
  try {
    (void)read("pump.kind = \"device\"\ndevice.block.rate_hz = 4000000\nline.kind = \"air\"\n");
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(":3"));
    EXPECT_THAT(e.what(),
                testing::HasSubstr("line.kind: this program was built without the radio: install liquid-dsp (Debian: "
                                   "libliquid-dev) and build with -DOFFHOOK_RADIO=ON"));
  }
  EXPECT_THROW((void)read("line.kind = \"air\""), Error);
  EXPECT_THROW((void)read("air.snr_db = 20"), Error);
}

TEST_F(ScenarioFile, ADigitalTrunkHasKeysOfItsOwnAndTheOthersWouldSayNothing) {
  const hostsim::Scenario s = read(
      "line.kind = \"digital-trunk\"\n[trunk]\nrobbed_bits = 9\npacket_ms = 20\npacket_loss = 0.001\nconcealment = "
      "false\n"
      "jump_every_s = 30\njump_ms = 10\nslip_every_s = 5\nlaw = \"a-law\"\n");
  EXPECT_EQ(s.line_kind, hostsim::LineKind::kDigitalTrunk);
  EXPECT_EQ(s.trunk.robbed_bits, 9u);
  EXPECT_EQ(s.trunk.law, "a-law");
  EXPECT_EQ(s.trunk.network.packet_loss, 0.001);
  EXPECT_FALSE(s.trunk.network.concealment);
  EXPECT_EQ(read(to_toml(s)).trunk.network.jump_ms, 10);
  const auto complaint = [this](const std::string& text) {
    try {
      (void)read(text);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(complaint("trunk.pad_db = 3"),
              testing::HasSubstr("trunk.pad_db has no effect with line.kind = \"analogue\"; expected line.*"));
  EXPECT_THAT(complaint("line.loss_db = 3\nline.kind = \"digital-trunk\""),
              testing::HasSubstr("line.loss_db has no effect with line.kind = \"digital-trunk\"; expected trunk.*"));
  EXPECT_EQ(read("transfer.protocol = \"ppp-tcp\"").protocol, hostsim::TransferProtocol::kPppTcp);
  EXPECT_THAT(complaint("transfer.protocol = \"ppp-tcp\"\nlink.error_control = \"none\""),
              testing::HasSubstr("expected link.error_control = \"required\" as well"));
  EXPECT_THAT(complaint("pump.modem = \"v90\""),
              testing::HasSubstr("pump.modem is \"v90\"; expected line.kind = \"digital-trunk\" as well"));
}

TEST_F(ScenarioFile, AHoldIsOfAModemThatHasIt) {
  const std::string v90 = "line.kind = \"digital-trunk\"\npump.modem = \"v90\"\n";
  const hostsim::Scenario s = read(v90 + "[hold]\nat_s = 7\naway_s = 3\nby = \"far-end\"\nlimit = \"2 min\"\n");
  EXPECT_EQ(s.hold.at_s, 7);
  EXPECT_EQ(s.hold.away_s, 3);
  EXPECT_TRUE(s.hold.by_far_end);
  EXPECT_EQ(s.hold.granted(), 6u) << "code of Table 33";
  EXPECT_EQ(read(to_toml(s)).hold.limit, 6u);
  EXPECT_EQ(read(v90).hold.granted(), 0u) << "nobody asks";
  EXPECT_EQ(read(v90 + "hold.at_s = 1\nhold.limit = \"none\"\n").hold.granted(), 13u);
  for (const char* other : {"pump.modem = \"v34\"", "pump.modem = \"auto\"\npump.kind = \"cost-profile\"",
                            "pump.modem = \"auto\"\npump.far_modem = \"v34\"\nhold.by = \"far-end\""})
    EXPECT_THAT(complaint(std::string(other) + "\nhold.at_s = 1"),
                testing::HasSubstr("hold.at_s is 1; modem-on-hold requires real V.90 pumps"));
  EXPECT_EQ(complaint("pump.modem = \"auto\"\nhold.at_s = 1"), "no error");
}

TEST_F(ScenarioFile, AutomodesModulationsAreAListOfNames) {
  const hostsim::Scenario s = read(
      "pump.modem = \"auto\"\npump.modulations = [\"v34\", \"v22bis\"]\n"
      "pump.far_modem = \"v32bis\"\n");
  EXPECT_EQ(s.modem, OH_MODULATION_NONE);
  EXPECT_EQ(s.modulations, OH_MODULATION_V34 | OH_MODULATION_V22BIS);
  EXPECT_EQ(s.far_modem, OH_MODULATION_V32BIS);
  EXPECT_EQ(s.far_modulations, kAllModulations);
  EXPECT_FALSE(read("").far_modem);
  EXPECT_THAT(to_toml(s), testing::HasSubstr("modulations = [\"v22bis\", \"v34\"]"));
  EXPECT_EQ(read(to_toml(s)).modulations, s.modulations);
  for (const char* list : {"[]", "\"v34\"", "[\"v92\"]", "[1]"}) {
    EXPECT_THAT(complaint("pump.modem = \"auto\"\npump.modulations = " + std::string(list) + "\n"),
                testing::HasSubstr("\"v22bis\", \"v32bis\", \"v34\""));
  }
  EXPECT_EQ(complaint("pump.modulations = [\"v34\"]\n"),
            "call.toml:1:6: pump.modulations limits automode; expected pump.modem = \"auto\" as well");
}

}  // namespace
}  // namespace offhook::config
