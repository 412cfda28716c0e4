// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/regehr_devices.h"

#include <gtest/gtest.h>

#include "src/lab/reproduce/published.h"

namespace offhook::reproduce {
namespace {

TEST(RegehrDevices, UnitCostsAreThoseOfTheOtherPapersByClock) {
  const UnitCosts c = unit_costs();
  EXPECT_DOUBLE_EQ(c.interrupt, 5400 * 450.0 / 500);            // Jones and Saroiu 6.2.4
  EXPECT_DOUBLE_EQ(c.completion, (9 + 9 + 10) * 1000.0 * 0.2);  // Siemens, Table 2: HeapFree, HeapAlloc, Set Event
  EXPECT_NEAR(c.modem_block / 12.5e6, 0.141 * 0.9, 0.001);      // 14.1 % of a 450 MHz machine, not logging
}

TEST(RegehrDevices, ProgrammedIoReadsEachWordAndDmaNone) {
  UnitCosts c = unit_costs();
  const double pio = transfer_work("IDE / PIO").share(c), dma = transfer_work("IDE / DMA").share(c);
  EXPECT_NEAR(pio, 2.35e6 / 2 * c.port_access * 1e-9, 0.01);  // 2.35 MB/s of 16-bit words
  EXPECT_LT(dma, pio / 20);
  c.port_access *= 2;
  EXPECT_NEAR(transfer_work("IDE / PIO").share(c) / pio, 2, 0.01);
  EXPECT_LT(transfer_work("SCSI / DMA").share(c) / transfer_work("SCSI / DMA").share(unit_costs()), 1.2);
}

TEST(RegehrDevices, ALoadTakesWhatWasCounted) {
  const UnitCosts c = unit_costs();
  for (const Published& row : load_published("regehr.stolen").rows("rows")) {
    const std::string device = row.text("device");
    EXPECT_NEAR(load_of(device, c).share(), transfer_work(device).share(c), 1e-5) << device;
  }
  EXPECT_THROW(transfer_work("FireWire"), config::Error);
}

}  // namespace
}  // namespace offhook::reproduce
