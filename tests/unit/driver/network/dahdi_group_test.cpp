// SPDX-License-Identifier: MIT
#include "driver/network/dahdi_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace offhook {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<DahdiGroupChannel>& channels) {
  std::vector<std::string> names;
  for (const DahdiGroupChannel& channel : channels) names.push_back(channel.config.name);
  return names;
}

TEST(DahdiGroup, NamesChannelsAndRangesOfThem) {
  const auto channels = parse_dahdi_group("1/1-3,2/17,law=pcma");
  EXPECT_THAT(names_of(channels), ElementsAre("dahdi:1/1", "dahdi:1/2", "dahdi:1/3", "dahdi:2/17"));
  EXPECT_EQ(channels[3].config.device, "/dev/dahdi/chan/002/017");
  for (const DahdiGroupChannel& channel : channels) {
    EXPECT_EQ(channel.config.law, OH_ALAW);
    EXPECT_FALSE(channel.of_whole_span);
  }
}

TEST(DahdiGroup, ASpanIsItsDeviceFilesInOrder) {
  const std::filesystem::path folder = testing::TempDir() + "dahdi-group-test";
  std::filesystem::create_directories(folder / "003");
  for (const char* name : {"010", "002", "001"}) std::ofstream(folder / "003" / name) << "";
  const auto channels = parse_dahdi_group("3", folder.string());
  EXPECT_THAT(names_of(channels), ElementsAre("dahdi:3/1", "dahdi:3/2", "dahdi:3/10"));
  EXPECT_TRUE(channels[0].of_whole_span);
  EXPECT_THAT(test::complaint([&] { parse_dahdi_group("4", folder.string()); }),
              HasSubstr("has no channels of span 4"));
  EXPECT_THAT(test::complaint([&] { parse_dahdi_group("3,3/2", folder.string()); }), HasSubstr("3/2 comes twice"));
  std::filesystem::remove_all(folder);
}

TEST(DahdiGroup, WhatIsNoGroupIsRefusedWithTheForm) {
  for (const char* place :
       {"", "x", "0", "-1", "1/", "1/0", "1/x", "1/5-3", "1/1-", "1/1-99999", "/dev/dahdi/1", "1/2/3"})
    EXPECT_THAT(test::complaint([&] { parse_dahdi_group(place); }), HasSubstr("expected a span or channels of a span"))
        << place;
  EXPECT_THAT(test::complaint([] { parse_dahdi_group("1/1,buffer=3"); }), HasSubstr("expected law=pcmu or pcma"));
}

}  // namespace
}  // namespace offhook
