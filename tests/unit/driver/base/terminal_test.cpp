// SPDX-License-Identifier: MIT
#include "driver/base/terminal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver/base/file.h"
#include "driver/base/fit.h"

namespace offhook {
namespace {

TEST(Table, CellsCommandNoTerminal) {
  Table table;
  table.column("name");
  table.row({"\x1b[2J\nforged row"});
  EXPECT_EQ(table.str(), "name\n---------------------\n\\x1b[2J\\x0aforged row\n");
}

TEST(Table, GroupsOfColumnsFitBesideTheFirst) {
  using Groups = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(column_groups({10, 8, 8, 8}, 0), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(column_groups({10, 8, 8, 8}, 40), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(column_groups({10, 8, 8, 8}, 39), (Groups{{0, 1, 2}, {0, 3}}));
  EXPECT_EQ(column_groups({10, 50, 8}, 30), (Groups{{0, 1}, {0, 2}}))
      << "a column wider than the terminal stands alone";
  EXPECT_EQ(column_groups({10}, 5), (Groups{{0}}));
}

TEST(Table, ALineIsCutAtCharactersNotBytes) {
  EXPECT_EQ(cut("12 µs left", 10), "12 µs left");
  EXPECT_EQ(cut("12 µs left", 5), "12 µ…");
  EXPECT_EQ(cut("12 µs left", 1), "…");
  EXPECT_EQ(cut("12 µs left", 0), "12 µs left") << "0: no limit";
}

TEST(Prose, IsBrokenAtBlanksUnderTheTextThatItGoesOnFrom) {
  EXPECT_EQ(broken("  one two three four", 0), "  one two three four");
  EXPECT_EQ(broken("  one two three four\nfive", 11), "  one two\n  three\n  four\nfive");
  EXPECT_EQ(broken("  --out DIR  The folder that is written", 28),
            "  --out DIR  The folder that\n             is written");
  EXPECT_EQ(broken("      behind its own blanks", 16), "      behind its\n      own blanks");
  EXPECT_EQ(broken("averylongword and more", 8), "averylongword\nand more") << "a word is never broken";
  EXPECT_EQ(broken("\n\n", 8), "\n\n");
}

TEST(Say, ArgumentsCommandNoTerminalAndLinesKeepTheirEnds) {
  testing::internal::CaptureStdout();
  say("{} is {:.1f}\n{}", std::string("\x1b]0;x\x07\n"), 1.25,
      Lines("a\tb\n\x9b"
            "c\n"));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "\\x1b]0;x\\x07\\x0a is 1.2\na\tb\n\\x9bc\n");
}

TEST(Table, ColumnsAreAsWideAsTheirWidestCell) {
  Table table;
  table.column("name");
  table.column("verdict", Table::Align::kLeft);
  table.column("s");
  table.row({"caf\u00e9", "ok", "1.5"});
  table.row({"longer name", "sufficient", "10.25"});
  EXPECT_EQ(table.str(),
            "name         verdict         s\n"
            "------------------------------\n"
            "caf\u00e9         ok            1.5\n"
            "longer name  sufficient  10.25\n");
}

TEST(DurationText, PicksTheUnit) {
  EXPECT_EQ(duration_text(0), "0.0 s");
  EXPECT_EQ(duration_text(0.0342), "0.034 s");
  EXPECT_EQ(duration_text(4.24), "4.2 s");
  EXPECT_EQ(duration_text(59), "59 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(3720), "1 h 02 min");
}

TEST(StandardStreams, ThatAreClosedAreGivenToNoFile) {
  EXPECT_EXIT(
      {
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(fd);
        hold_standard_descriptors();
        char byte = 0;
        const bool unusable =
            read(STDIN_FILENO, &byte, 1) < 0 && write(STDOUT_FILENO, "x", 1) < 0 && write(STDERR_FILENO, "x", 1) < 0;
        _exit(unusable && open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(StandardStreams, ThatAreOpenStayWhatTheyAre) {
  struct stat before {};
  struct stat after {};
  ASSERT_EQ(fstat(STDERR_FILENO, &before), 0);
  hold_standard_descriptors();
  ASSERT_EQ(fstat(STDERR_FILENO, &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_rdev, after.st_rdev);
}

}  // namespace
}  // namespace offhook
