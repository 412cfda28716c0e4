// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/regehr_devices.h"

#include <fmt/format.h>

#include <cmath>

#include "src/lab/reproduce/published.h"
#include "traces/scenario/profile.h"

namespace offhook::reproduce {

namespace {

constexpr double kMachineMhz = 500, kJonesMhz = 450, kSiemensMhz = 100;
constexpr double kSectorBytes = 512, kWordBytes = 2, kPageBytes = 4096;

/// Table 2 of the Siemens report, the Pentium without the QFE.
double kernel_call_us(const Published& table, std::string_view call) {
  for (const Published& row : table.rows("rows"))
    if (row.text("call") == call) return row.numbers("us").at(1);
  throw config::Error(fmt::format("siemens.table2: no row is of \"{}\"", call));
}

}  // namespace

UnitCosts unit_costs() {
  const Published kernel = load_published("siemens.table2");
  const double free_and_take = kernel_call_us(kernel, "HeapFree") + kernel_call_us(kernel, "HeapAlloc");
  const hostsim::CostProfile modem = config::load_profile("pentium2-450-vendor");
  UnitCosts c;
  c.interrupt = 1e3 * load_published("jones.fig4.dpc").number("isr_mean_us") * kJonesMhz / kMachineMhz;
  c.completion = 1e3 * (free_and_take + kernel_call_us(kernel, "Set Event")) * kSiemensMhz / kMachineMhz;
  c.modem_block = static_cast<double>(modem.phases[static_cast<int>(hostsim::Phase::kConnected)].service_ns) *
                  kJonesMhz / kMachineMhz;
  return c;
}

TransferWork transfer_work(std::string_view device) {
  constexpr double kIde = 2.35e6, kScsi = 18.5e6;  // 5.2: bytes/s
  // ATA-4: status is read; then features, count, three parts of the address, device and command are written. The
  // bus-master function has a table address, a status and two commands. At the end: the bus master's status, command
  // and status again, and the drive's status.
  constexpr int kCommand = 8, kBusMaster = 4, kEnd = 4;
  // Assumption: one page at a time, as most IDE systems did (Windows IT Pro, "A little IDE math": buffers of 4 KB).
  if (device == "IDE / DMA") return {kPageBytes / kIde * 1e9, kEnd, kCommand + kBusMaster, 1};
  // 64 KB, the maximum request of both. The adapter fetches its commands. The driver announces a command, and reads and
  // clears a status. One descriptor per page.
  constexpr double kMost = 65536;
  if (device == "SCSI / DMA") return {kMost / kScsi * 1e9, 2, 1, static_cast<int>(kMost / kPageBytes)};
  // READ MULTIPLE: 16 sectors per interrupt (assumption: the drive's maximum), which the handler reads word by word.
  constexpr int kSectors = 16;
  constexpr auto kWords = static_cast<int>(kSectors * kSectorBytes / kWordBytes);
  if (device == "IDE / PIO") return {kSectors * kSectorBytes / kIde * 1e9, kWords + 1, kCommand, 0};
  // USB 1.1, 5.8.4: at most 19 bulk packets of 64 bytes per frame of 1 ms, each with a descriptor that is written and
  // read. Assumption: every frame is full and ends with an interrupt.
  constexpr int kPackets = 19;
  if (device.starts_with("USB")) return {1e6, 2, 0, 2 * kPackets};
  if (device.starts_with("soft modem")) return {12.5e6, 0, 0, 0, false, true};  // Jones and Saroiu: one block
  throw config::Error(fmt::format("regehr.stolen: no such device is modelled: \"{}\"", device));
}

hostsim::LoadDevice load_of(std::string_view device, const UnitCosts& costs) {
  const TransferWork work = transfer_work(device);
  return {.name = std::string(device),
          .every_ns = static_cast<hostsim::Ns>(std::llround(work.every_ns)),
          .jitter = 0.1,
          .isr_ns = static_cast<hostsim::Ns>(std::llround(work.handler_ns(costs))),
          .dpc_ns = static_cast<hostsim::Ns>(std::llround(work.dpc_ns(costs))),
          .level = 10};
}

}  // namespace offhook::reproduce
