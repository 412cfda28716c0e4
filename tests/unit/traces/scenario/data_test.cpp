// SPDX-License-Identifier: MIT
#include "traces/scenario/data.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/unit/temporary_folder.h"

namespace offhook::config {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string complaint(const std::string& name) {
  return test::complaint([&] { data_file("hosts", name); });
}

TEST(DataFile, ANameIsAFileOfItsRoom) {
  EXPECT_EQ(data_file("hosts", "linux"), data_dir() / "hosts/linux.toml");
  EXPECT_EQ(data_file("hosts", "/nowhere/mine.toml"), "/nowhere/mine.toml");
  EXPECT_THAT(complaint("lynux"), AllOf(StartsWith("\"lynux\" is not in " + (data_dir() / "hosts").string() +
                                                   "; the nearest is \"linux\"; expected one of: "),
                                        EndsWith(", windows-gaming-pc")));
}

TEST(DataFile, APathThatIsNoDocumentSaysWhatItIs) {
  const test::TemporaryFolder folder;
  const std::string fifo = folder.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(complaint(fifo), AllOf(StartsWith("\"" + fifo + "\" is a FIFO, and not in "),
                                     EndsWith(", or a file whose name ends in .toml")));
  EXPECT_THAT(complaint(folder.path()), HasSubstr("\" is a folder, and not in "));
  EXPECT_THAT(complaint("/dev/zero"), StartsWith("\"/dev/zero\" is a device, and not in "));
}

}  // namespace
}  // namespace offhook::config
