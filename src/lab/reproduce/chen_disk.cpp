// SPDX-License-Identifier: MIT
//
// Interrupts of the disk under three kernels (Chen et al. 1995, 4.5, Tables 4 and 5): one that interrupts once for each
// request, one that does it several times, and one that waits for the disk in a loop.
#include <fmt/format.h>

#include <string>

#include "hostsim/cpu/cpu.h"
#include "src/lab/reproduce/claim.h"

namespace offhook::reproduce {

using hostsim::Cpu;
using hostsim::Engine;
using hostsim::EntityId;
using hostsim::Ns;

namespace {

constexpr Ns kRequestNs = 8'000'000;  // for a disk from 1995; no row depends on it
constexpr Ns kIsrNs = 10'000;         // no row depends on these two either
constexpr Ns kSubmitNs = 20'000;
constexpr Ns kPollNs = 5'000;  // one round of the loop

struct DiskUse {
  int requests = 0;
  int interrupts_per_request = 1;  ///< 0: the caller polls until it is done
};

struct DiskResult {
  int interrupts = 0;
  double busy_share = 0;  ///< CPU time that the caller uses
};

/// A thread reads one request after another from a disk that is equally fast for each kernel.
class DiskTest final : public hostsim::Event, public hostsim::Program {
 public:
  explicit DiskTest(const DiskUse& use) : use_(use), cpu_(engine_) {
    isr_.test = this;
    interrupt_ = cpu_.add_interrupt({"disk", 10, hostsim::kNoEntity}, isr_);
    thread_ = cpu_.add_thread("reader", hostsim::FixedPriority{}, *this);
  }
  DiskResult measure() {
    engine_.at(0, *this);
    while (done_ < use_.requests) engine_.run_until(engine_.now() + 1000 * kRequestNs);
    return {interrupts_, static_cast<double>(cpu_.cpu_time(thread_)) / static_cast<double>(ended_)};
  }

  /// The disk: a part of a request, or all of it, is finished. At first, the test begins.
  void fire(Ns now) override {
    if (parts_left_ > 0 && --parts_left_ > 0) engine_.at(now + kRequestNs / parts(), *this);
    cpu_.release(now == 0 ? thread_ : interrupt_);
  }
  /// The thread.
  Ns next(Ns now) override {
    if (waiting_) {
      if (use_.interrupts_per_request == 0 && now < ready_) return kPollNs;
      waiting_ = false;
      ended_ = now;
      if (++done_ == use_.requests) return 0;
    }
    if (!submitted_) {
      submitted_ = true;
      return kSubmitNs;
    }
    submitted_ = false;
    waiting_ = true;
    ready_ = now + kRequestNs;
    if (use_.interrupts_per_request == 0) return kPollNs;
    parts_left_ = parts();
    engine_.at(now + kRequestNs / parts(), *this);
    return 0;
  }

 private:
  struct Isr final : hostsim::Program {
    Ns next(Ns) override {
      entered = !entered;
      if (entered) return kIsrNs;
      test->interrupts_++;
      if (test->parts_left_ == 0) test->cpu_.release(test->thread_);
      return 0;
    }
    DiskTest* test = nullptr;
    bool entered = false;
  } isr_;
  int parts() const { return use_.interrupts_per_request; }

  DiskUse use_;
  Engine engine_;
  Cpu cpu_;
  EntityId interrupt_ = hostsim::kNoEntity, thread_ = hostsim::kNoEntity;
  int done_ = 0, interrupts_ = 0, parts_left_ = 0;
  bool waiting_ = false, submitted_ = false;
  Ns ready_ = 0, ended_ = 0;
};

Row interrupts_row(const Published& p, const char* system, const char* key, const DiskUse& use, std::string note) {
  Row row = within_share(fmt::format("{}, interrupts", system), "", p.number(std::string("interrupts.") + key),
                         DiskTest(use).measure().interrupts, 0.1);
  row.note = std::move(note);
  return row;
}

}  // namespace

// Table 4: reads 8192 files of 8 KB.
Outcome chen_small_files(const Run& run) {
  const Published& p = run.published;
  const int files = static_cast<int>(p.number("files"));
  const auto requests = [&](const char* block) {
    return files * static_cast<int>(p.number("file_kb") / p.number(block));
  };
  const int netbsd = static_cast<int>(p.number("netbsd_interrupts_per_request")),
            nt = static_cast<int>(p.number("nt_interrupts_per_request"));
  Outcome out;
  out.rows = {input("files", "", p.number("files"), files, "a request for each block of each file"),
              input("block of NetBSD", "KB", p.number("netbsd_block_kb"), p.number("netbsd_block_kb"), "requests"),
              input("block of FAT and NTFS", "KB", p.number("nt_block_kb"), p.number("nt_block_kb"), "requests"),
              input("interrupts per request, NetBSD", "", p.number("netbsd_interrupts_per_request"), netbsd, "5.3"),
              input("interrupts per request, Windows NT", "", p.number("nt_interrupts_per_request"), nt, "5.3")};
  out.rows.push_back(interrupts_row(p, "NetBSD", "netbsd", {requests("netbsd_block_kb"), netbsd},
                                    "without those for directories and inodes, whose number is not published"));
  const DiskUse of_nt{requests("nt_block_kb"), nt};
  out.rows.push_back(interrupts_row(p, "Windows NT, FAT", "nt_fat", of_nt,
                                    "a request for each cluster; neighbouring ones may be read in one"));
  out.rows.push_back(
      interrupts_row(p, "Windows NT, NTFS", "nt_ntfs", of_nt,
                     "the log of metadata, which the paper supposes to be the reason, is not simulated"));
  const DiskResult loop = DiskTest({requests("netbsd_block_kb"), 0}).measure(),
                   waits = DiskTest({requests("netbsd_block_kb"), netbsd}).measure();
  for (const char* key : {"windows_16", "windows_32"}) {
    const double published = p.number(std::string("interrupts.") + key);
    out.rows.push_back(holds(
        fmt::format("Windows, {} bits", std::string_view(key).substr(8)),
        fmt::format("{:g} interrupts: {}", published, p.text("windows_waits")),
        fmt::format("{} interrupts; the CPU is busy for {:.1f} % of the time, NetBSD's for {:.1f} %", loop.interrupts,
                    100 * loop.busy_share, 100 * waits.busy_share),
        published < 0.1 * files && loop.interrupts < 0.1 * files && loop.busy_share > 0.99 && waits.busy_share < 0.1));
  }
  out.summary =
      "A thread reads the files, a request for each block, one after the other. The number of requests and the "
      "interrupts per request are the paper's; their sum and the use of the CPU meanwhile are simulated. Times are "
      "not.";
  return out;
}

// Table 5: creates 128 empty files.
Outcome chen_metadata(const Run& run) {
  const Published& p = run.published;
  const int files = static_cast<int>(p.number("files")), writes = static_cast<int>(p.number("netbsd_writes"));
  Outcome out;
  out.rows = {input("files", "", p.number("files"), files, "created one after the other"),
              input("synchronous writes of a creation, NetBSD", "", p.number("netbsd_writes"), writes, "4.5")};
  out.rows.push_back(interrupts_row(p, "NetBSD", "netbsd", {files * writes, 1}, "one interrupt for each request"));
  out.summary =
      "FFS waits for two writes of each creation. FAT keeps them in memory and NTFS in a log that is written later; "
      "the resulting number of requests is neither published nor simulated.";
  return out;
}

}  // namespace offhook::reproduce
