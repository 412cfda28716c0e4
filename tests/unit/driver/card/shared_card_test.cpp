// SPDX-License-Identifier: MIT
//
// Either side of a card's socket against a peer that sends and does what it likes.
#include "driver/card/shared/shared_card.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
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
#include <future>
#include <numeric>
#include <thread>

#include "driver/session/session.h"
#include "dsp/v22/pump.h"
#include "offhook/card_engine.h"
#include "offhook/modem_card.h"
#include "tests/unit/descriptors.h"

namespace offhook {
namespace {

using namespace std::chrono_literals;

const oh_streams kStreams = oh_modem_streams(OH_MODEM_RATE_HZ);

std::string path_of_test() {
  return "/tmp/offhook_" + std::to_string(getpid()) + "_" +
         testing::UnitTest::GetInstance()->current_test_info()->name();
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// Closed at its end.
struct Fd {
  Fd(int f = -1) : fd(f) {}  // NOLINT: a descriptor is one
  Fd(Fd&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Fd() {
    if (fd >= 0) close(fd);
  }
  operator int() const { return fd; }  // NOLINT
  int fd;
};

void send_with(int socket, const std::vector<int>& fds) {
  char byte = 0;
  iovec io{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::copy(fds.begin(), fds.end(), reinterpret_cast<int*>(CMSG_DATA(header)));
  ASSERT_EQ(sendmsg(socket, &message, MSG_NOSIGNAL), 1);
}

/// A card's memory as it should be, but for the seals.
Fd memory_of_card(int seals, const oh_streams& streams = kStreams, std::size_t more = 0) {
  Fd memory = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const std::size_t size = oh_card_size(&streams);
  EXPECT_EQ(ftruncate(memory, static_cast<off_t>(size + more)), 0);
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  EXPECT_EQ(oh_card_init(mapped, &streams), 0);
  munmap(mapped, size);
  EXPECT_EQ(fcntl(memory, F_ADD_SEALS, seals), 0);
  return memory;
}
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// A card's hardware that gives whatever descriptors it is told to.
class ForeignHardware {
 public:
  explicit ForeignHardware(std::vector<int> fds) : path(path_of_test()) {
    listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(path);
    unlink(path.c_str());
    EXPECT_EQ(bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listening_, 8), 0);
    thread_ = std::thread([this, fds = std::move(fds)] {
      peer = accept(listening_, nullptr, nullptr);
      send_with(peer, fds);
    });
  }
  ~ForeignHardware() {
    thread_.join();
    unlink(path.c_str());
  }
  /// @return why a modem does not take it; empty: it does
  std::string refusal() {
    try {
      SharedCard card(path);
      return "";
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
  const std::string path;
  Fd peer;

 private:
  Fd listening_;
  std::thread thread_;
};

/// A modem that does whatever it is told to.
struct ForeignModem {
  explicit ForeignModem(const std::string& path) : socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(path);
    connected = connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  void receive() {
    char byte;
    iovec io{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ASSERT_EQ(recvmsg(socket, &message, MSG_CMSG_CLOEXEC), 1);
    const int* fds = reinterpret_cast<const int*>(CMSG_DATA(CMSG_FIRSTHDR(&message)));
    memory = fds[0];
    interrupt = fds[1];
  }
  Fd socket, memory, interrupt;
  bool connected = false;
};

/// @return there is a modem within ten seconds
bool finds_modem(CardServer& server) {
  for (int i = 0; i < 100; ++i)
    if (server.wait_for_modem(100)) return true;
  return false;
}

/// A modem that is taken, and what its card's hardware is.
struct Pair {
  Pair() : server(path_of_test(), kStreams) {
    std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
    modem = std::make_unique<SharedCard>(path_of_test());
    modem->start();
    serve.join();
  }
  CardServer server;
  std::unique_ptr<SharedCard> modem;
};

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
    EXPECT_NE(std::string(e.what()).find("gives no card within 5 s"), std::string::npos) << e.what();
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
  ASSERT_EQ(write(event, &most, sizeof most), 8);  // full: still an interrupt
  EXPECT_EQ(card.wait(), LiveCard::Wait::kInterrupt);
  ASSERT_EQ(send(hardware.peer, "x", 1, MSG_NOSIGNAL), 1);
  EXPECT_EQ(card.wait(), LiveCard::Wait::kGone);
  EXPECT_NE(card.failure().find("sends what no card does"), std::string::npos);
}

/// The descriptor of this process that is an eventfd with this count, and not `other`.
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

// What an eventfd cannot do a later one may, or a descriptor that took its place: nobody waits on it in a circle.
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
    alarm(30);  // a wait would be for ever
    EXPECT_EQ(card.wait(), LiveCard::Wait::kGone);
    alarm(0);
    EXPECT_NE(card.failure().find("its interrupt has failed"), std::string::npos) << card.failure();
  }
}

TEST(SharedCard, PositionsAheadOfTheClockReachNoDriver) {
  Pair pair;
  const oh_card& card = pair.modem->card();
  const std::uint64_t soon = 120 * OH_MODEM_RATE_HZ;  // this test takes no two minutes
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
  EXPECT_NE(pair.modem->failure().find("more samples than there was time for"), std::string::npos);
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
  alarm(60);  // a fill-in of 2^48 samples takes years
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
  oh_streams octets = kStreams, fast = kStreams;
  octets.rx.encoding = octets.tx.encoding = OH_MULAW;
  fast.rx.rate_hz *= 4;
  fast.rx.ring_samples *= 4;
  const Fd event = eventfd(0, EFD_CLOEXEC);
  for (const oh_streams& streams : {octets, fast}) {
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

TEST(CardServer, GivesMemoryWhoseSizeNobodyCanChange) {
  CardServer server(path_of_test(), kStreams);
  ForeignModem modem(path_of_test());
  server.wait_for_modem(1000);
  modem.receive();
  EXPECT_NE(ftruncate(modem.memory, 0), 0);
  EXPECT_NE(ftruncate(modem.memory, 1 << 20), 0);
  EXPECT_NE(fcntl(modem.memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST(CardServer, PeersThatSayNothingOrLeaveKeepNobodyOut) {
  CardServer server(path_of_test(), kStreams);
  std::vector<ForeignModem> silent;
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(path_of_test());
    server.wait_for_modem(1000);
  }
  silent.erase(silent.begin() + 15);
  std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
  SharedCard modem(path_of_test());
  modem.start();
  serve.join();
  EXPECT_FALSE(server.modem_left());
  server.raise_interrupt();
  EXPECT_EQ(modem.wait(), LiveCard::Wait::kInterrupt);
}

TEST(CardServer, OfTwoThatAskAtOnceTheFirstToComeIsTheModemAndTheOtherIsSentAway) {
  CardServer server(path_of_test(), kStreams);
  std::vector<ForeignModem> both;
  for (int i = 0; i < 2; ++i) {
    both.emplace_back(path_of_test());
    server.wait_for_modem(1000);
    both.back().receive();
  }
  for (const ForeignModem& modem : both) ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(finds_modem(server));
  server.raise_interrupt();
  pollfd fds[] = {{both[0].interrupt, POLLIN, 0}, {both[1].interrupt, POLLIN, 0}};
  EXPECT_EQ(poll(fds, 2, 0), 1);
  EXPECT_EQ(fds[0].revents, POLLIN);
  char byte;
  EXPECT_EQ(recv(both[0].socket, &byte, 1, MSG_DONTWAIT), -1) << "it has its card";
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(recv(both[1].socket, &byte, 1, MSG_DONTWAIT), 0) << "the end";
}

TEST(CardServer, WhoIsNotTheModemHasNoPartOfItsCard) {
  CardServer server(path_of_test(), kStreams);
  ForeignModem other(path_of_test());
  server.wait_for_modem(1000);
  other.receive();
  ForeignModem modem(path_of_test());
  server.wait_for_modem(1000);
  modem.receive();
  ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(finds_modem(server));
  const std::vector<char> scribble(oh_card_size(&kStreams), 'x');
  ASSERT_EQ(pwrite(other.memory, scribble.data(), scribble.size(), 0), static_cast<ssize_t>(scribble.size()));
  EXPECT_EQ(server.state().magic, std::uint32_t{OH_CARD_MAGIC});
  char byte;
  EXPECT_EQ(recv(other.socket, &byte, 1, MSG_DONTWAIT), 0) << "it sees that there is no card for it";
  server.raise_interrupt();
  pollfd fds[] = {{modem.interrupt, POLLIN, 0}, {other.interrupt, POLLIN, 0}};
  EXPECT_EQ(poll(fds, 2, 0), 1);
  EXPECT_EQ(fds[0].revents, POLLIN);
}

TEST(CardServer, SeesAModemLeaveWhateverItSentBefore) {
  CardServer server(path_of_test(), kStreams);
  auto modem = std::make_unique<ForeignModem>(path_of_test());
  server.wait_for_modem(1000);
  modem->receive();
  ASSERT_EQ(send(modem->socket, "more than one byte", 18, MSG_NOSIGNAL), 18);
  ASSERT_TRUE(finds_modem(server));
  EXPECT_FALSE(server.modem_left());
  modem.reset();
  EXPECT_TRUE(server.modem_left());
  EXPECT_FALSE(server.wait_for_modem(0));
  std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
  SharedCard next(path_of_test());
  next.start();
  serve.join();
}

/// Memory of cards that this process has mapped.
std::ptrdiff_t mapped_cards() {
  std::ifstream maps("/proc/self/maps");
  std::ptrdiff_t cards = 0;
  for (std::string line; std::getline(maps, line);) cards += line.find("/memfd:") != std::string::npos;
  return cards;
}

TEST(CardServer, WhoLeavesLeavesNoMemoryBehind) {
  const std::ptrdiff_t before = mapped_cards();
  {
    CardServer server(path_of_test(), kStreams);
    for (int i = 0; i < 3; ++i) {
      ForeignModem modem(path_of_test());
      server.wait_for_modem(1000);
      modem.receive();
      ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
      ASSERT_TRUE(finds_modem(server));
      EXPECT_EQ(mapped_cards(), before + 1) << "of the modem before";
    }
  }
  EXPECT_EQ(mapped_cards(), before);
}

TEST(CardServer, NeitherSideLeavesADescriptorOpen) {
  CardServer server(path_of_test(), kStreams);
  const test::WithoutStandardInput without;
  std::array<std::ptrdiff_t, 3> open{};
  for (std::ptrdiff_t& now : open) {
    std::thread serve([&] { EXPECT_TRUE(finds_modem(server)); });
    {
      SharedCard modem(path_of_test());
      modem.start();
      serve.join();
    }
    EXPECT_TRUE(server.modem_left());
    now = test::open_descriptors();
  }
  EXPECT_EQ(open[1], open[0]);
  EXPECT_EQ(open[2], open[0]);
}

TEST(CardServer, AModemThatFillsItsInterruptAndMakesItBlockingIsLeft) {
  CardServer server(path_of_test(), kStreams);
  ForeignModem modem(path_of_test());
  server.wait_for_modem(1000);
  modem.receive();
  ASSERT_EQ(send(modem.socket, "", 1, MSG_NOSIGNAL), 1);
  ASSERT_TRUE(finds_modem(server));
  const std::uint64_t most = ~std::uint64_t{1};
  ASSERT_EQ(write(modem.interrupt, &most, sizeof most), 8);
  ASSERT_EQ(fcntl(modem.interrupt, F_SETFL, 0), 0);
  auto raised = std::async(std::launch::async, [&] { server.raise_interrupt(); });
  const bool returned = raised.wait_for(10s) == std::future_status::ready;
  EXPECT_TRUE(returned);
  std::uint64_t value;
  if (!returned) {  // so that the test ends
    ASSERT_EQ(read(modem.interrupt, &value, sizeof value), 8);
  }
  raised.get();
  EXPECT_TRUE(server.modem_left());
}

TEST(CardServer, IsItsOwnersAloneAtAnyUmask) {
  const mode_t before = umask(0);
  {
    CardServer server(path_of_test(), kStreams);
    umask(before);
    struct stat made {};
    ASSERT_EQ(stat(path_of_test().c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, 0600u);
    if (geteuid() == 0) {  // another user, for once
      const pid_t child = fork();
      if (child == 0) {
        const bool other = setgid(65534) == 0 && setuid(65534) == 0;
        _exit(!other ? 2 : ForeignModem(path_of_test()).connected ? 1 : 0);
      }
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
  }
  umask(before);
}

}  // namespace
}  // namespace offhook
