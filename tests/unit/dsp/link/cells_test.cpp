// SPDX-License-Identifier: MIT
#include "dsp/link/cells.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "dsp/link/cell_stream.h"

namespace offhook {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

struct End {
  End() : memory(std::aligned_alloc(64, (oh_cells_size() + 63) / 64 * 64)), cells(oh_cells_init(memory.get())) {
    oh_cells_port(cells, &port);
  }
  oh_cells_status status() const {
    oh_cells_status s;
    oh_cells_get_status(cells, &s);
    return s;
  }
  std::vector<uint8_t> line(size_t octets) {
    std::vector<uint8_t> out(octets);
    oh_port_get(&port, out.data(), 8 * octets);
    return out;
  }
  void take(const std::vector<uint8_t>& octets) { oh_port_put(&port, octets.data(), 8 * octets.size()); }
  std::vector<uint8_t> read() {
    std::vector<uint8_t> all(1 << 16);
    all.resize(oh_cells_read(cells, all.data(), all.size()));
    return all;
  }
  std::unique_ptr<void, Free> memory;
  oh_cells* cells;
  oh_bit_port port{};
};

constexpr size_t kLineCell = atm::kLineCell;

std::vector<uint8_t> cells_of(int n, uint32_t seed = 1) {
  std::vector<uint8_t> out;
  for (int c = 0; c < n; ++c) {
    for (int k = 0; k < OH_CELL_OCTETS; ++k) {
      seed = seed * 1664525 + 1013904223;
      out.push_back(static_cast<uint8_t>(k == 0 ? 0 : k == 1 ? 0x80 : seed >> 24));
    }
  }
  return out;
}

/// A receiver in SYNC: the first header is found, and the next six are right. The sender may send its cells.
void bring_into_sync(End& a, End& b) {
  b.take(a.line(atm::kGreeting * kLineCell));
  ASSERT_EQ(b.status().state, OH_DELINEATION_SYNC);
  (void)b.read();
}

// I.432.1 has the idle cell with its HEC; the remainder of the unassigned cell is 0, so only the coset remains.
TEST(AtmCells, TheHecOfIdleAndUnassignedCellsIsAsPublished) {
  const uint8_t idle[] = {0, 0, 0, 1}, unassigned[] = {0, 0, 0, 0};
  EXPECT_EQ(oh_cell_hec(idle), 0x52);
  EXPECT_EQ(oh_cell_hec(unassigned), 0x55);
}

// x^43 + 1 has 43 bits between a bit and its second effect.
TEST(AtmCells, AWrongBitOfThePayloadComesTwice43BitsApart) {
  atm::PayloadScrambler sender, receiver;
  std::vector<uint8_t> plain(64), got(64);
  for (size_t k = 0; k < plain.size(); ++k) plain[k] = static_cast<uint8_t>(k * 73);
  for (size_t k = 0; k < plain.size(); ++k)
    got[k] = receiver.descramble(sender.scramble(plain[k]) ^ (k == 10 ? 0x80 : 0));
  std::vector<size_t> wrong;
  for (size_t bit = 0; bit < 8 * plain.size(); ++bit) {
    if (((plain[bit / 8] ^ got[bit / 8]) >> (7 - bit % 8) & 1) != 0) wrong.push_back(bit);
  }
  EXPECT_EQ(wrong, (std::vector<size_t>{80, 123}));
}

TEST(AtmCells, CellsArriveWholeWhateverIsMissingOfTheStreamBeforeThem) {
  for (size_t skip = 0; skip < kLineCell; ++skip) {
    End a, b;
    (void)a.line(skip);
    // A header that is right by chance (one place in 256) is rejected within six cells; then the true one is found.
    b.take(a.line(20 * kLineCell));
    ASSERT_EQ(b.status().state, OH_DELINEATION_SYNC) << skip;
    const std::vector<uint8_t> sent = cells_of(40);
    EXPECT_EQ(oh_cells_write(a.cells, sent.data(), sent.size()), sent.size());
    for (int piece = 0; piece < 50; ++piece) b.take(a.line(kLineCell));
    EXPECT_EQ(b.read(), sent) << skip;
    EXPECT_EQ(b.status().received, 40u);
    EXPECT_EQ(b.status().hec_errors, 0u);
    EXPECT_EQ(b.status().overflows, 0u);
    EXPECT_GT(b.status().idle_received, 0u);
  }
}

TEST(AtmCells, ADeltaOfSixIsWantedBeforeACellCounts) {
  End a, b;
  b.take(a.line(atm::kDelta * kLineCell));
  EXPECT_EQ(b.status().state, OH_DELINEATION_PRESYNC);
  EXPECT_EQ(b.status().idle_received, 0u);
  b.take(a.line(4 * kLineCell));
  EXPECT_EQ(b.status().state, OH_DELINEATION_SYNC);
  EXPECT_EQ(b.status().idle_received, 4u);
}

TEST(AtmCells, WhatIsWrittenBeforeTheFirstOctetArrivesWhole) {
  End a, b;
  const std::vector<uint8_t> sent = cells_of(10);
  (void)oh_cells_write(a.cells, sent.data(), sent.size());
  b.take(a.line((atm::kGreeting + 10) * kLineCell));
  EXPECT_EQ(b.read(), sent);
  EXPECT_EQ(a.status().idle_sent, static_cast<uint64_t>(atm::kGreeting));
}

TEST(AtmCells, ACellWithAWrongHecIsDroppedAndNoOther) {
  End a, b;
  bring_into_sync(a, b);
  std::vector<uint8_t> sent = cells_of(10);
  (void)oh_cells_write(a.cells, sent.data(), sent.size());
  std::vector<uint8_t> line = a.line(10 * kLineCell);
  line[3 * kLineCell + 2] ^= 0x10;
  line[6 * kLineCell + 4] ^= 0x01;
  b.take(line);
  sent.erase(sent.begin() + 6 * OH_CELL_OCTETS, sent.begin() + 7 * OH_CELL_OCTETS);
  sent.erase(sent.begin() + 3 * OH_CELL_OCTETS, sent.begin() + 4 * OH_CELL_OCTETS);
  EXPECT_EQ(b.read(), sent);
  EXPECT_EQ(b.status().hec_errors, 2u);
  EXPECT_EQ(b.status().losses, 0u);
}

TEST(AtmCells, SevenWrongHeadersInARowLoseTheDelineationAndSixDoNot) {
  for (const int wrong : {atm::kAlpha - 1, atm::kAlpha}) {
    End a, b;
    bring_into_sync(a, b);
    std::vector<uint8_t> line = a.line(8 * kLineCell);
    for (int k = 0; k < wrong; ++k) line[static_cast<size_t>(k) * kLineCell] ^= 0xff;
    line.resize(static_cast<size_t>(wrong) * kLineCell + atm::kHeader);
    b.take(line);
    EXPECT_EQ(b.status().losses, wrong == atm::kAlpha ? 1u : 0u);
    EXPECT_EQ(b.status().hec_errors, static_cast<uint64_t>(wrong));
  }
}

TEST(AtmCells, OctetsThatWereLostCostTheCellsUntilTheDelineationIsFoundAgain) {
  End a, b;
  bring_into_sync(a, b);
  (void)a.line(17);  // lost
  b.take(a.line(40 * kLineCell));
  EXPECT_EQ(b.status().state, OH_DELINEATION_SYNC);
  EXPECT_EQ(b.status().losses, 1u);
  EXPECT_EQ(b.status().hec_errors, static_cast<uint64_t>(atm::kAlpha));
}

TEST(AtmCells, NoiseIsNoCell) {
  End b;
  uint32_t seed = 7;
  std::vector<uint8_t> noise(1 << 20);
  for (uint8_t& octet : noise) octet = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  b.take(noise);
  // By chance, a position passes with 2^-8 for each of the 7 headers: 2^-36 for a million positions.
  EXPECT_EQ(b.status().received + b.status().idle_received, 0u);
}

// The rings hold 4096 octets, 78 cells; here both have wrapped more than once.
TEST(AtmCells, CellsThatFindThoseBeforeUnreadAreDroppedAndCounted) {
  constexpr int kRoom = 4096 / OH_CELL_OCTETS, kMore = 20;
  End a, b;
  bring_into_sync(a, b);
  uint64_t dropped = 0;
  for (uint32_t turn = 1; turn <= 4; ++turn) {
    std::vector<uint8_t> sent = cells_of(kRoom + kMore, turn);
    for (size_t at = 0; at < sent.size(); at += OH_CELL_OCTETS) {
      ASSERT_EQ(oh_cells_write(a.cells, sent.data() + at, OH_CELL_OCTETS), size_t{OH_CELL_OCTETS});
      b.take(a.line(kLineCell));
    }
    dropped += kMore;
    EXPECT_EQ(b.status().overflows, dropped);
    sent.resize(size_t{kRoom} * OH_CELL_OCTETS);  // the oldest ones are kept completely
    EXPECT_EQ(b.read(), sent);
  }
  EXPECT_EQ(b.status().received, 4u * (kRoom + kMore));
  EXPECT_EQ(b.status().hec_errors + b.status().losses, 0u);
}

TEST(AtmCells, AWriteThatDoesNotFitTakesWhatDoesAndTheRestLater) {
  constexpr size_t kRoom = 4096 / OH_CELL_OCTETS * OH_CELL_OCTETS;
  End a, b;
  bring_into_sync(a, b);
  for (uint32_t turn = 1; turn <= 4; ++turn) {
    const std::vector<uint8_t> sent = cells_of(100, turn);
    ASSERT_EQ(oh_cells_writable(a.cells), kRoom);
    ASSERT_EQ(oh_cells_write(a.cells, sent.data(), sent.size()), kRoom);
    EXPECT_EQ(oh_cells_writable(a.cells), 0u);
    EXPECT_EQ(oh_cells_write(a.cells, sent.data() + kRoom, sent.size() - kRoom), 0u);
    b.take(a.line(30 * kLineCell));
    EXPECT_EQ(oh_cells_write(a.cells, sent.data() + kRoom, sent.size() - kRoom), sent.size() - kRoom);
    b.take(a.line(40 * kLineCell));
    std::vector<uint8_t> got = b.read();
    b.take(a.line(40 * kLineCell));
    const std::vector<uint8_t> rest = b.read();
    got.insert(got.end(), rest.begin(), rest.end());
    EXPECT_EQ(got, sent);
  }
  EXPECT_EQ(b.status().overflows, 0u);
}

TEST(AtmCells, AWriteTakesWholeCellsAndAReadGivesThem) {
  End a;
  const std::vector<uint8_t> sent = cells_of(2);
  EXPECT_EQ(oh_cells_write(a.cells, sent.data(), OH_CELL_OCTETS - 1), 0u);
  EXPECT_EQ(oh_cells_write(a.cells, sent.data(), sent.size() - 1), size_t{OH_CELL_OCTETS});
  EXPECT_EQ(oh_cells_unsent(a.cells), size_t{OH_CELL_OCTETS});
  EXPECT_EQ(oh_cells_writable(a.cells) % OH_CELL_OCTETS, 0u);
}

}  // namespace
}  // namespace offhook
