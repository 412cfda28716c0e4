// SPDX-License-Identifier: MIT
#include "traces/import/load_file.h"

#include <fmt/format.h>

#include <cstring>

#include "traces/log/crc32.h"

namespace offhook::traces {

using hostsim::HostLoad;
using hostsim::Ns;

namespace {

void put(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}
void put(std::string& out, const std::string& text) {
  put(out, text.size());
  out += text;
}

class Cursor {
 public:
  Cursor(std::string_view bytes, std::size_t at, const std::string& name) : bytes_(bytes), at_(at), name_(name) {}

  [[noreturn]] void fail(const std::string& expected) const {
    throw TraceError(fmt::format("{}: byte {}: expected {}", name_, at_, expected));
  }
  /// @param most inclusive
  std::uint64_t number(const char* what, std::uint64_t most) {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (at_ == bytes_.size()) fail(fmt::format("{}, found the end of the file", what));
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) {
        if (value > most) break;
        return value;
      }
    }
    at_ = begin;
    fail(fmt::format("{}, at most {}", what, most));
  }
  std::string text(const char* what) {
    const std::uint64_t length = number(what, left());
    if (length > left()) fail(fmt::format("{} of {} bytes, found {}", what, length, left()));
    std::string s(bytes_.substr(at_, length));
    at_ += length;
    return s;
  }
  std::size_t left() const { return bytes_.size() - at_; }

 private:
  std::string_view bytes_;
  std::size_t at_;
  const std::string& name_;
};

constexpr std::uint64_t kMostNs = std::uint64_t{1} << 62;
constexpr std::size_t kCrcBytes = 4;

}  // namespace

std::string write_load(const HostLoad& load) {
  std::string out(kLoadMagic);
  put(out, load.origin);
  put(out, static_cast<std::uint64_t>(load.duration));
  put(out, load.sources.size());
  for (const HostLoad::Source& s : load.sources) {
    out.push_back(static_cast<char>(s.kind));
    put(out, static_cast<std::uint64_t>(s.priority));
    put(out, s.name);
  }
  put(out, load.cpus.size());
  for (const HostLoad::CpuLoad& cpu : load.cpus) {
    put(out, static_cast<std::uint64_t>(cpu.number));
    put(out, cpu.lost);
    put(out, cpu.intervals.size());
    Ns before = 0;
    for (const HostLoad::Interval& i : cpu.intervals) {
      put(out, static_cast<std::uint64_t>(i.start - before));
      put(out, i.source);
      put(out, static_cast<std::uint64_t>(i.cpu));
      before = i.start;
    }
  }
  const std::uint32_t crc = crc32(out.data(), out.size());
  char tail[kCrcBytes];
  std::memcpy(tail, &crc, sizeof tail);
  return out.append(tail, sizeof tail);
}

HostLoad read_load(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kLoadMagic)) throw TraceError(fmt::format("{}: byte 0: expected a host load", name));
  if (bytes.size() < kLoadMagic.size() + kCrcBytes) {
    throw TraceError(fmt::format("{}: byte {}: expected a checksum, found the end of the file", name, bytes.size()));
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kCrcBytes);
  std::uint32_t crc = 0;
  std::memcpy(&crc, bytes.data() + body.size(), sizeof crc);

  Cursor in(body, kLoadMagic.size(), name);
  HostLoad load;
  load.origin = in.text("the trace's name");
  load.duration = static_cast<Ns>(in.number("a duration in ns", kMostNs));
  const std::uint64_t sources = in.number("a count of sources", in.left() / 3);
  for (std::uint64_t k = 0; k < sources; ++k) {
    HostLoad::Source& s = load.sources.emplace_back();
    s.kind = static_cast<HostLoad::Kind>(in.number("0 interrupt, 1 softirq or 2 thread", 2));
    s.priority = static_cast<int>(in.number("a priority", hostsim::kLinuxPriorities - 1));
    s.name = in.text("a name");
  }
  const std::uint64_t cpus = in.number("a count of CPUs", in.left() / 3);
  for (std::uint64_t k = 0; k < cpus; ++k) {
    HostLoad::CpuLoad& cpu = load.cpus.emplace_back();
    cpu.number = static_cast<int>(in.number("a CPU's number", kMostCpu));
    if (k > 0 && cpu.number <= load.cpus[k - 1].number) in.fail("CPUs by rising number");
    cpu.lost = in.number("a count of lost events", kMostNs);
    cpu.intervals.resize(in.number("a count of intervals", in.left() / 3));
    Ns before = 0;
    for (HostLoad::Interval& i : cpu.intervals) {
      i.start = before + static_cast<Ns>(
                             in.number("a start before the end of the trace", std::uint64_t(load.duration - before)));
      if (sources == 0) in.fail("an existing source; the file has none");
      i.source = static_cast<std::uint32_t>(in.number("a source", sources - 1));
      i.cpu = static_cast<Ns>(in.number("CPU time in ns", std::uint64_t(load.duration)));
      if (i.cpu == 0) in.fail("CPU time of 1 ns or more");
      before = i.start;
    }
  }
  if (in.left() != 0) in.fail("the checksum");
  if (crc != crc32(body.data(), body.size())) in.fail("another checksum: the file is damaged");
  return load;
}

}  // namespace offhook::traces
