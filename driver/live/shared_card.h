// SPDX-License-Identifier: MIT
//
// A card whose hardware is another process. That process listens on a UNIX socket; to each modem that connects it sends
// two descriptors: the memory of the rings and an eventfd that is the interrupt. The modem sends one byte when its
// driver is ready, and from then on samples pass. Either side detects the other's end by the end of the socket.
//
// Neither side trusts the other. The memory is sealed: its size can no longer change, so that access to it never
// ends in SIGBUS. Its fields are checked at every read (card_engine.h, driver.h). For descriptors of the other side,
// wait only by poll(): their other owner can change at any time whether a read blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/base/local_socket.h"
#include "driver/live/card_kind.h"

namespace offhook {

/// The modem's side.
class SharedCard final : public LiveCard {
 public:
  /// @throws std::runtime_error with the path and the reason: no listener, no answer, not a card, another build
  explicit SharedCard(const std::string& path);
  ~SharedCard() override;

  oh_card_state& state() const override { return *static_cast<oh_card_state*>(shared_.self); }
  void start() override;
  Wait wait() override;
  void stop() override;
  std::string failure() const override { return failure_; }

 private:
  void attach();
  void release();
  Wait gone(const std::string& why);
  /// Renews most_ from the clock. @return whether the state's position is within it
  bool position_can_be();
  static const oh_card_ops kOps;
  std::uint64_t bounded(std::uint64_t (*oh_card_ops::*position)(void*)) const {
    const std::uint64_t most = most_.load(std::memory_order_relaxed), claimed = (shared_.ops->*position)(shared_.self);
    return std::min(claimed, most);
  }
  std::string path_, failure_;
  oh_card shared_{};  // from oh_card_attach(); card_ is for the driver
  std::uint64_t first_ = 0;
  std::int64_t since_ns_ = 0;
  std::atomic<std::uint64_t> most_{0};  // position
  int socket_ = -1, interrupt_ = -1, stop_ = -1;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// The hardware's side of one card. Each client that connects gets its own card memory. The first one whose driver is
/// ready is the modem, and its memory is the card.
class CardServer {
 public:
  /// Makes the socket, accessible only by its owner with any umask. @throws std::runtime_error
  CardServer(std::string path, const oh_streams& streams);
  ~CardServer();
  CardServer(const CardServer&) = delete;
  CardServer& operator=(const CardServer&) = delete;

  /// Serve clients that connect for up to `ms`. @return true once there is a modem: samples may pass
  bool wait_for_modem(int ms);
  /// The modem's process has closed its end, whatever it sent before, or it prevents its interrupt from being raised.
  /// Does not block.
  bool modem_left() const;
  /// Does not block, unless the modem's process makes its
  /// eventfd blocking and fills it within the same microsecond.
  void raise_interrupt();
  /// Valid once there is a modem; after it has left, the card of the next one that wait_for_modem() finds.
  const oh_card& card() const { return modem_.card; }
  oh_card_state& state() const { return *static_cast<oh_card_state*>(modem_.card.self); }

 private:
  struct Peer {
    int socket = -1, interrupt = -1;
    oh_card card{};
  };
  void admit();
  void release(Peer& peer);
  std::string path_;
  std::optional<LocalListener> listener_;
  oh_streams streams_;
  std::size_t size_ = 0;
  std::vector<Peer> waiting_;  // connected but still silent, in the order of arrival
  Peer modem_;
  bool jammed_ = false;
};

extern const CardKind kSharedCards;

}  // namespace offhook
