// SPDX-License-Identifier: MIT
//
// The modem's side of a card's socket against hardware that sends and does what it likes.
#include "driver/live/shared_card.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "driver/session/session.h"
#include "dsp/v22/pump.h"
#include "offhook/card_engine.h"
#include "offhook/modem_card.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/driver/live/shared_card_peers.h"

namespace offhook {
namespace {

using namespace std::chrono_literals;
using namespace test;  // NOLINT: the peers

TEST(SharedCard, CarriesSamplesAndInterruptsBetweenTwoSidesAndSeesTheOtherLeave) {
  Pair pair;
  pair.modem->card().ops->set_block(pair.modem->card().self, 50);
  oh_card_engine engine;
  oh_card_engine_init(&engine, &pair.server.card(), nullptr);
  oh_card_engine_start(&engine, 0);
  std::array<std::int16_t, 50> played, captured;
  std::iota(captured.begin(), captured.end(), std::int16_t{0});
  ASSERT_EQ(oh_card_engine_copy(&engine, played.data(), captured.data(), 50, 0), 1u);
  pair.server.raise_interrupt();
  ASSERT_EQ(pair.modem->wait(), LiveCard::Wait::kInterrupt);
  EXPECT_EQ(oh_card_position(&pair.modem->state()), 50u);
  EXPECT_EQ(static_cast<const std::int16_t*>(pair.modem->card().rx_ring)[49], 49);
  EXPECT_FALSE(pair.server.modem_left());
  pair.modem->stop();
  EXPECT_EQ(pair.modem->wait(), LiveCard::Wait::kStopped);
  pair.modem.reset();
  EXPECT_TRUE(pair.server.modem_left());
}

TEST(SharedCard, OfAProcessThatEndsIsGoneWithAReason) {
  EXPECT_THROW(SharedCard{path_of_test()}, std::runtime_error);
  auto server = std::make_unique<CardServer>(path_of_test(), kStreams);
  std::thread serve([&] { EXPECT_TRUE(finds_modem(*server)); });
  SharedCard modem(path_of_test());
  modem.start();
  serve.join();
  server.reset();
  EXPECT_EQ(modem.wait(), LiveCard::Wait::kGone);
  EXPECT_NE(modem.failure().find("its process ended"), std::string::npos);
}

TEST(SharedCard, WhoListensAndGivesNoCardIsNotWaitedForForEver) {
  const Fd listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(path_of_test());
  ASSERT_EQ(bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  alarm(60);  // the wait is for 5 s
  try {
    SharedCard card(path_of_test());
    ADD_FAILURE() << "it gave none";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("offers no card within 5 s"), std::string::npos) << e.what();
  }
  alarm(0);
  unlink(path_of_test().c_str());
}

TEST(SharedCard, MemoryThatCouldStillChangeItsSizeIsRefused) {
  const Fd event = eventfd(0, EFD_CLOEXEC);
  for (const int seals : {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL}) {
    const Fd memory = memory_of_card(seals);
    EXPECT_NE(ForeignHardware({memory, event}).refusal(), "") << seals;
  }
  const Fd memory = memory_of_card(kSeals);
  EXPECT_EQ(ForeignHardware({memory, event}).refusal(), "");
}

TEST(SharedCard, MemoryThatIsLargerThanItsCardIsNotMapped) {
  const Fd event = eventfd(0, EFD_CLOEXEC), memory = memory_of_card(kSeals, kStreams, 64 << 20);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_NE(ForeignHardware({memory, event}).refusal(), "");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 32 << 10);  // KiB
}

TEST(SharedCard, OnlyAnEventfdThatOneReadEmptiesIsTakenAsInterrupt) {
  const Fd memory = memory_of_card(kSeals);
  int ends[2], pair[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const Fd read_end = ends[0], write_end = ends[1], one = pair[0], other = pair[1];
  const Fd zero = open("/dev/zero", O_RDWR | O_CLOEXEC), file = memfd_create("file", MFD_CLOEXEC);
  const Fd timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const Fd semaphore = eventfd(1000, EFD_CLOEXEC | EFD_SEMAPHORE);
  for (const int other_kind :
       {int{read_end}, int{write_end}, int{one}, int{zero}, int{file}, int{timer}, int{semaphore}, int{memory}})
    EXPECT_NE(ForeignHardware({memory, other_kind}).refusal(), "") << other_kind;
  const Fd event = eventfd(1000, EFD_CLOEXEC);
  EXPECT_EQ(ForeignHardware({memory, event}).refusal(), "");
}

TEST(SharedCard, AnyOtherNumberOfDescriptorsIsRefusedAndNoneIsKept) {
  const Fd event = eventfd(0, EFD_CLOEXEC), memory = memory_of_card(kSeals);
  const int next = Fd(dup(event));
  for (const std::vector<int>& fds : {std::vector<int>{}, std::vector<int>{memory},
                                      std::vector<int>{memory, event, event}, std::vector<int>(8, event)})
    EXPECT_NE(ForeignHardware(fds).refusal(), "");
  EXPECT_EQ(int{Fd(dup(event))}, next);
}

TEST(SharedCard, HardwareThatSendsWhatNoneDoesIsGone) {
  const Fd event = eventfd(0, EFD_CLOEXEC), memory = memory_of_card(kSeals);
  ForeignHardware hardware({memory, event});
  SharedCard card(hardware.path);
  const std::uint64_t most = ~std::uint64_t{1};
  ASSERT_EQ(write(event, &most, sizeof most), 8);  // full, but still an interrupt
  EXPECT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  ASSERT_EQ(send(hardware.peer, "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(card.wait(), LiveCard::Wait::kGone);
  EXPECT_NE(card.failure().find("violates the card protocol"), std::string::npos);
}

/// The descriptor of this process that is an eventfd with this count and is not `other`.
int eventfd_with(std::uint64_t count, int other) {
  char wanted[32];
  std::snprintf(wanted, sizeof wanted, "eventfd-count: %16llx", static_cast<unsigned long long>(count));
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const int fd = std::stoi(entry.path().filename());
    if (fd != other && text.find(wanted) != std::string::npos) return fd;
  }
  return -1;
}

// After an eventfd fails, a later one or a descriptor in its place may work. No thread waits on it in a loop.
TEST(SharedCard, AnInterruptThatHangsUpOrFailsIsAnEndWithAReason) {
  for (const bool reading : {true, false}) {
    SCOPED_TRACE(reading ? "POLLHUP" : "POLLERR");
    const Fd event = eventfd(0, EFD_CLOEXEC), memory = memory_of_card(kSeals);
    ForeignHardware hardware({memory, event});
    SharedCard card(hardware.path);
    const std::uint64_t count = 0x5eed0000 + static_cast<unsigned>(getpid());
    ASSERT_EQ(write(event, &count, sizeof count), 8);
    const int interrupt = eventfd_with(count, event);
    ASSERT_GE(interrupt, 0);
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(dup2(ends[reading ? 0 : 1], interrupt), interrupt);
    close(ends[0]);
    close(ends[1]);
    alarm(30);  // a wait would never end
    EXPECT_EQ(card.wait(), LiveCard::Wait::kGone);
    alarm(0);
    EXPECT_NE(card.failure().find("its interrupt has failed"), std::string::npos) << card.failure();
  }
}

TEST(SharedCard, PositionsAheadOfTheClockReachNoDriver) {
  Pair pair;
  const oh_card& card = pair.modem->card();
  const std::uint64_t soon = 120 * OH_MODEM_RATE_HZ;  // this test does not take two minutes
  pair.server.state().position = pair.server.state().finished_end = 11 * OH_MODEM_RATE_HZ;
  pair.server.raise_interrupt();
  EXPECT_EQ(pair.modem->wait(), LiveCard::Wait::kInterrupt) << "10 s early, and the second under way";
  for (const std::uint64_t claimed : {soon, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    pair.server.state().position = pair.server.state().finished_end = pair.server.state().rx_lost_before = claimed;
    EXPECT_LT(card.ops->acknowledge(card.self), soon);
    EXPECT_LT(card.ops->rx_position(card.self), soon);
    EXPECT_LT(card.ops->tx_position(card.self), soon);
    EXPECT_LT(card.ops->rx_lost_before(card.self), soon);
  }
  pair.server.raise_interrupt();
  EXPECT_EQ(pair.modem->wait(), LiveCard::Wait::kGone);
  EXPECT_NE(pair.modem->failure().find("received samples faster than the clock allows"), std::string::npos);
}

TEST(SharedCard, ASessionOnACardThatClaimsAYearOfSamplesEnds) {
  CardServer server(path_of_test(), kStreams);
  std::atomic<bool> over{false};
  std::thread hardware([&] {
    EXPECT_TRUE(finds_modem(server));
    for (std::uint64_t claimed = 400; !over; claimed = std::uint64_t{1} << 48) {
      __atomic_store_n(&server.state().position, claimed, __ATOMIC_RELAXED);
      __atomic_store_n(&server.state().finished_end, claimed, __ATOMIC_RELEASE);
      if (!server.modem_left()) server.raise_interrupt();
      std::this_thread::sleep_for(1ms);
    }
  });
  SharedCard card(path_of_test());
  modem::SessionConfig config;
  config.context = ContextSpec::parse("OTHER");
  config.context.best_effort = true;
  config.interrupt_priority = 0;
  alarm(60);  // concealing 2^48 samples takes years
  {
    modem::Session session(card, config);
    session.begin_call({.pump = oh_v22bis_type(), .role = OH_PUMP_CALL});
    while (session.card_failure().empty()) std::this_thread::sleep_for(10ms);
    EXPECT_LT(session.counters().samples_filled_in, 60u * OH_MODEM_RATE_HZ);
  }
  alarm(0);
  over = true;
  hardware.join();
}

TEST(SharedCard, StreamsThatNoModemHasAreRefusedByItsSession) {
  oh_streams mixed = kStreams, fast = kStreams;
  mixed.rx.encoding = OH_MULAW;
  fast.rx.rate_hz *= 4;
  fast.rx.ring_samples *= 4;
  const Fd event = eventfd(0, EFD_CLOEXEC);
  for (const oh_streams& streams : {mixed, fast}) {
    const Fd memory = memory_of_card(kSeals, streams);
    ForeignHardware hardware({memory, event});
    SharedCard card(hardware.path);
    modem::SessionConfig config;
    config.context = ContextSpec::parse("OTHER");
    config.context.best_effort = true;
    config.interrupt_priority = 0;
    EXPECT_THROW(modem::Session(card, config), std::runtime_error);
  }
}

}  // namespace
}  // namespace offhook
