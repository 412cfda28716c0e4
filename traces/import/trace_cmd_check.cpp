// SPDX-License-Identifier: MIT
// trace-cmd.dat(5), versions 6 and 7: the layout. Neither has a checksum, so the content is not verified.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <set>

#include "traces/import/load_file.h"
#include "traces/import/trace_cmd.h"

namespace offhook::traces {
namespace {

class File {
 public:
  File(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void fail(std::string_view expected) const {
    throw TraceError(fmt::format("{}: byte {}: expected {}", name_, at_, expected));
  }
  void seek(std::uint64_t at, std::string_view what) {
    if (at > bytes_.size())
      fail(fmt::format("{} in the file, not at byte {}: the file ends at {}", what, at, bytes_.size()));
    at_ = at;
  }
  void skip(std::uint64_t count, std::string_view what) {
    if (count > bytes_.size() - at_) {
      fail(fmt::format("{} of {} bytes, found {} to the end of the file", what, count, bytes_.size() - at_));
    }
    at_ += count;
  }
  /// @param size of the number, 1 to 8 bytes
  std::uint64_t number(std::size_t size, std::string_view what) {
    const std::size_t begin = at_;
    skip(size, what);
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < size; ++k) {
      const std::size_t i = big_endian ? k : size - 1 - k;
      value = value << 8 | static_cast<unsigned char>(bytes_[begin + i]);
    }
    return value;
  }
  void text(std::string_view expected) {
    if (bytes_.substr(at_, expected.size()) != expected)
      fail(fmt::format("\"{}\"", expected.substr(0, expected.find('\0'))));
    at_ += expected.size();
  }
  std::string_view string(std::string_view what) {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) fail(fmt::format("{}, ended by a zero byte", what));
    const std::string_view s = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return s;
  }
  void sized(std::size_t bytes, std::string_view what) { skip(number(bytes, what), what); }
  std::uint64_t at() const { return at_; }
  std::uint64_t size() const { return bytes_.size(); }

  bool big_endian = false;

 private:
  std::string_view bytes_;
  const std::string& name_;
  std::uint64_t at_ = 0;
};

using namespace std::string_view_literals;

enum Option : std::uint64_t { kDone = 0, kBuffer = 3, kFirstSection = 16, kLastSection = 21, kBufferText = 22 };
constexpr std::uint64_t kMostCpus = 1 << 16;

void check_data(File& file, std::uint64_t cpus, bool numbered) {
  if (cpus > kMostCpus) file.fail(fmt::format("at most {} CPUs, found {}", kMostCpus, cpus));
  for (std::uint64_t k = 0; k < cpus; ++k) {
    const std::uint64_t cpu = numbered ? file.number(4, "a CPU's number") : k;
    const std::uint64_t offset = file.number(8, "the position of a CPU's events");
    const std::uint64_t size = file.number(8, "the number of bytes of a CPU's events");
    if (offset > file.size() || size > file.size() - offset) {
      file.fail(fmt::format("the events of CPU {} (bytes {} to {}) in the file, which ends at {}", cpu, offset,
                            offset + size, file.size()));
    }
  }
}

void check_version_6(File& file) {
  file.text("header_page\0"sv);
  file.sized(8, "header_page");
  file.text("header_event\0"sv);
  file.sized(8, "header_event");
  for (std::uint64_t left = file.number(4, "a count of ftrace formats"); left > 0; --left)
    file.sized(8, "an ftrace format");
  for (std::uint64_t systems = file.number(4, "a count of event systems"); systems > 0; --systems) {
    file.string("the name of an event system");
    for (std::uint64_t left = file.number(4, "a count of event formats"); left > 0; --left)
      file.sized(8, "an event format");
  }
  file.sized(4, "kernel symbols");
  file.sized(4, "printk formats");
  file.sized(8, "command lines");
  const std::uint64_t cpus = file.number(4, "a count of CPUs");
  file.text("options  \0"sv);
  std::set<std::uint64_t> buffers;
  while (const std::uint64_t id = file.number(2, "an option")) {
    const std::uint64_t size = file.number(4, "the size of an option");
    const std::uint64_t begin = file.at();
    if (id == kBuffer) buffers.insert(file.number(8, "the position of a buffer"));
    file.seek(begin, "an option");
    file.skip(size, "an option");
  }
  file.text("flyrecord\0"sv);
  check_data(file, cpus, false);
  for (const std::uint64_t buffer : buffers) {
    file.seek(buffer, "a buffer");
    file.text("flyrecord\0"sv);
    check_data(file, cpus, false);
  }
}

void check_section(File& file, std::uint64_t offset, std::uint64_t id) {
  const std::uint64_t back = file.at();
  file.seek(offset, fmt::format("section {}", id));
  if (file.number(2, "a section") != id) file.fail(fmt::format("section {}", id));
  file.skip(6, "a section's flags and description");
  file.sized(8, fmt::format("section {}", id));
  file.seek(back, "an option");
}

void check_version_7(File& file) {
  file.string("the compression's name");
  file.string("the compression's version");
  std::set<std::uint64_t> seen;
  for (std::uint64_t offset = file.number(8, "the position of the options"); offset != 0;) {
    if (!seen.insert(offset).second) file.fail(fmt::format("options that end, without a loop to byte {}", offset));
    file.seek(offset, "the options");
    if (file.number(2, "a section") != kDone) file.fail("an options section");
    file.skip(6, "a section's flags and description");
    const std::uint64_t size = file.number(8, "the size of the options");
    const std::uint64_t end = file.at() + size;
    offset = 0;
    file.skip(size, "options");
    file.seek(end - size, "options");
    while (file.at() < end) {
      const std::uint64_t id = file.number(2, "an option");
      const std::uint64_t bytes = file.number(4, "the size of an option");
      const std::uint64_t begin = file.at();
      file.skip(bytes, "an option");
      file.seek(begin, "an option");
      if (id == kDone) {
        if (bytes >= 8) offset = file.number(8, "the position of more options");
        break;
      }
      if (id == kBuffer) {
        check_section(file, file.number(8, "the position of a buffer"), kBuffer);
        file.string("a buffer's name");
        file.string("a buffer's clock");
        file.number(4, "a page size");
        check_data(file, file.number(4, "a count of CPUs"), true);
      } else if ((id >= kFirstSection && id <= kLastSection) || id == kBufferText) {
        check_section(file, file.number(8, "the position of a section"), id);
      }
      file.seek(begin + bytes, "an option");
    }
  }
}

}  // namespace

void check_trace_cmd(std::string_view bytes, const std::string& name) {
  File file(bytes, name);
  file.text(kTraceCmdMagic);
  const std::string_view version = file.string("a version");
  const std::uint64_t endian = file.number(1, "the byte order");
  if (endian > 1) file.fail("0, little endian, or 1, big endian, before here");
  file.big_endian = endian == 1;
  const std::uint64_t bits = file.number(1, "the size of a long");
  if (bits != 4 && bits != 8) file.fail("a long of 4 or 8 bytes before here");
  const std::uint64_t page = file.number(4, "the page size");
  if (page < 512 || page > (1 << 20) || !std::has_single_bit(page)) {
    file.fail(fmt::format("a page size, a power of two, before here, found {}", page));
  }
  if (version == "6") {
    check_version_6(file);
  } else if (version == "7") {
    check_version_7(file);
  } else {
    file.fail(fmt::format("version 6 or 7, found \"{}\"", version));
  }
}

}  // namespace offhook::traces
