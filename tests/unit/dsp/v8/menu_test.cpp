// SPDX-License-Identifier: MIT
#include "dsp/v8/menu.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace offhook::v8 {
namespace {

std::vector<uint8_t> octets(const Menu& menu, int least = 1) {
  uint8_t out[kMaxMenuOctets];
  const int n = encode(menu, out, least);
  return {out, out + n};
}

// Checklist V8-5, vector V17: data, V.34 duplex only. Read from the line: start 0, b0 .. b7, stop 1.
TEST(V8Menu, V8_5_CmForDataWithV34DuplexOnlyIsVectorV17) {
  Menu menu;
  menu.call_function = CallFunction::kData;
  menu.modulations = kV34;
  const std::vector<uint8_t> sent = octets(menu);
  std::string line;
  for (int k = 0; k < 10; ++k) line += '1';
  std::vector<uint8_t> all = {kSyncCm};
  all.insert(all.end(), sent.begin(), sent.end());
  for (const uint8_t octet : all) {
    line += " 0";
    for (int k = 0; k < 8; ++k) line += octet >> k & 1 ? '1' : '0';
    line += '1';
  }
  EXPECT_EQ(line, "1111111111 0000001111 0100000111 0101000101");
}

// Tables 3 and 4, the octets as they are printed: b0 in bit 0.
TEST(V8Menu, V8_5_EveryFunctionAndModulationIsTheBitOfTheTables) {
  const std::pair<CallFunction, int> functions[] = {
      {CallFunction::kNone, 0x01},      {CallFunction::kMultimedia, 0x21},  {CallFunction::kTextphone, 0x41},
      {CallFunction::kVideotext, 0x61}, {CallFunction::kTransmitFax, 0x81}, {CallFunction::kReceiveFax, 0xA1},
      {CallFunction::kData, 0xC1},      {CallFunction::kExtension, 0xE1}};
  for (const auto& [function, octet] : functions) {
    Menu menu;
    menu.call_function = function;
    EXPECT_EQ(octets(menu)[0], octet);
  }
  const std::pair<Modulation, std::vector<uint8_t>> modulations[] = {
      {kPcm, {0x25}},
      {kV34, {0x45}},
      {kV34HalfDuplex, {0x85}},
      {kV32bis, {0x05, 0x11}},
      {kV22bis, {0x05, 0x12}},
      {kV17, {0x05, 0x14}},
      {kV29, {0x05, 0x50}},
      {kV27ter, {0x05, 0x90}},
      {kV26ter, {0x05, 0x10, 0x11}},
      {kV26bis, {0x05, 0x10, 0x12}},
      {kV23Duplex, {0x05, 0x10, 0x14}},
      {kV23HalfDuplex, {0x05, 0x10, 0x50}},
      {kV21, {0x05, 0x10, 0x90}},
  };
  for (const auto& [modulation, sent] : modulations) {
    Menu menu;
    menu.modulations = modulation;
    const std::vector<uint8_t> all = octets(menu);
    EXPECT_EQ(std::vector<uint8_t>(all.begin() + 1, all.end()), sent);
  }
}

// Menus sent by real modems, from recorded calls.
TEST(V8Menu, ReadsTheMenusOfRealModems) {
  const uint8_t cm[] = {0xC1, 0x65, 0x13, 0x94, 0x0D, 0x27};
  Menu menu;
  EXPECT_EQ(decode(cm, 6, &menu), 3);
  EXPECT_EQ(menu.call_function, CallFunction::kData);
  EXPECT_EQ(menu.modulations, kPcm | kV34 | kV32bis | kV22bis | kV21 | kV23Duplex);
  EXPECT_TRUE(menu.has_access);
  EXPECT_EQ(menu.access, 0);
  EXPECT_TRUE(menu.has_pcm);
  EXPECT_EQ(menu.pcm, 1);
  EXPECT_FALSE(menu.has_protocol);

  const uint8_t short_cm[] = {0xC1, 0x45};
  EXPECT_EQ(decode(short_cm, 2, &menu), 1);
  EXPECT_EQ(menu.modulations, kV34);

  const uint8_t with_extension[] = {0xC1, 0x65, 0x13, 0x94, 0x0D, 0x27, 0x10};  // the PCM category extended
  EXPECT_EQ(decode(with_extension, 7, &menu), 3);
  EXPECT_EQ(menu.pcm, 1);
}

TEST(V8Menu, V8_5_UnknownAndRepeatedCategoriesArePassedOver) {
  const uint8_t octets[] = {0xC1, 0x45, 0x10, 0x12, 0x2F, 0x15, 0x85, 0x2A, 0x4A};
  Menu menu;
  EXPECT_EQ(decode(octets, 9, &menu), 3);
  EXPECT_EQ(menu.modulations, kV34 | kV26bis);
  EXPECT_EQ(menu.protocol, kProtocolLapm);
  EXPECT_EQ(decode(octets, 1, &menu), 0) << "no modulations";
}

TEST(V8Menu, EveryMenuReadsBackAsItWasSent) {
  std::mt19937 random(1);
  for (int n = 0; n < 20000; ++n) {
    Menu menu;
    menu.call_function = static_cast<CallFunction>(random() % 8);
    menu.modulations = random() % 0x2000;
    menu.has_protocol = random() % 2;
    menu.protocol = menu.has_protocol ? random() % 8 : 0;
    menu.has_access = random() % 2;
    menu.access = menu.has_access ? random() % 8 : 0;
    menu.has_pcm = random() % 2;
    menu.pcm = menu.has_pcm ? random() % 8 : 0;
    const int least = random() % 4;
    const std::vector<uint8_t> sent = octets(menu, least);
    Menu read;
    EXPECT_GE(decode(sent.data(), static_cast<int>(sent.size()), &read), least);
    ASSERT_EQ(read, menu) << n;
  }
}

// Checklist V8-6: PCM is item 0, V.34 duplex item 1.
TEST(V8Menu, V8_6_TheLowestItemIsSelected) {
  EXPECT_EQ(selected_modulation(kV34 | kV32bis | kV22bis), kV34);
  EXPECT_EQ(selected_modulation(kV22bis | kV21), kV22bis);
  EXPECT_EQ(selected_modulation(kPcm | kV34), kPcm);
  EXPECT_EQ(selected_modulation(0), 0);
}

}  // namespace
}  // namespace offhook::v8
