// SPDX-License-Identifier: MIT
#include "src/program/command/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace offhook::command {
namespace {

TEST(Licence, IsMitWithoutFftw) {
  EXPECT_EQ(licence_of({}), "MIT");
  EXPECT_EQ(licence_of({"libcrypto.so.3", "libspandsp.so.2"}), "MIT");
}

TEST(Licence, IsGpl2WithFftwAndGpl3WithOpenSslToo) {
  EXPECT_THAT(licence_of({"libfftw3f.so.3", "libliquid.so.1"}), testing::StartsWith("GPL-2.0-or-later"));
  EXPECT_THAT(licence_of({"libcrypto.so.3", "libfftw3f.so.3"}), testing::StartsWith("GPL-3.0-or-later"));
  EXPECT_THAT(licence_of({"libfftw3.so.3", "libssl.so.3"}), testing::StartsWith("GPL-3.0-or-later"));
}

TEST(LoadedLibraries, AreThoseOfThisProcess) {
  const std::vector<std::string> libraries = loaded_libraries();
  EXPECT_THAT(libraries, testing::Contains(testing::StartsWith("libspandsp")));
  EXPECT_THAT(libraries, testing::Not(testing::Contains(testing::StartsWith("libc."))));
  EXPECT_TRUE(std::ranges::is_sorted(libraries));
}

TEST(Version, NamesVersionCommitLicenceAndLibraries) {
  EXPECT_THAT(version_text(), testing::MatchesRegex("offhook [0-9]+[.][0-9]+[.][0-9]+\ncommit: [0-9a-z]+\n"
                                                    "licence of this binary: (MIT|GPL-).*\nlibraries: .*libspandsp.*"));
}

}  // namespace
}  // namespace offhook::command
