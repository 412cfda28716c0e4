// SPDX-License-Identifier: MIT
#include "dsp/link/start_stop_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace offhook {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

struct End {
  End() : memory(std::aligned_alloc(64, (oh_v14_size() + 63) / 64 * 64)), link(oh_v14_init(memory.get())) {
    oh_v14_port(link, &port);
  }
  std::unique_ptr<void, Free> memory;
  oh_v14* link;
  oh_bit_port port{};
};

TEST(V14Link, AWriteTakesWhatThereIsRoomForAndTheRestIsUnsentUntilThePumpHasTakenIt) {
  End a, b;
  std::vector<uint8_t> sent(20000), received;
  for (size_t k = 0; k < sent.size(); ++k) sent[k] = static_cast<uint8_t>(k * 37 >> 3);
  const size_t room = oh_v14_writable(a.link);
  size_t taken = oh_v14_write(a.link, sent.data(), sent.size());
  EXPECT_EQ(taken, room);
  EXPECT_EQ(oh_v14_unsent(a.link), room);
  EXPECT_EQ(oh_v14_writable(a.link), 0u);
  for (int piece = 0; piece < 100'000 && received.size() < sent.size(); ++piece) {
    uint8_t bits[10], octets[16];
    oh_port_get(&a.port, bits, 80);
    oh_port_put(&b.port, bits, 80);
    taken += oh_v14_write(a.link, sent.data() + taken, sent.size() - taken);
    const size_t n = oh_v14_read(b.link, octets, sizeof octets);
    received.insert(received.end(), octets, octets + n);
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(oh_v14_unsent(a.link), 0u);
}

}  // namespace
}  // namespace offhook
