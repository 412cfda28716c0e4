// SPDX-License-Identifier: MIT
//
// A card whose hardware is another process. That process listens on a UNIX socket; to each modem that connects it sends
// two descriptors: the memory of the rings and an eventfd that is the interrupt. The modem sends one byte when its
// driver is ready, and from then on samples pass. Either side sees the other's end as the socket's.
#pragma once

#include <string>

#include "driver/card/live/card_kind.h"

namespace offhook {

/// The modem's side.
class SharedCard final : public LiveCard {
 public:
  /// @throws std::runtime_error with the path and what is wrong: nobody there, not a card, another build
  explicit SharedCard(const std::string& path);
  ~SharedCard() override;

  void start() override;
  Wait wait() override;
  void stop() override;
  std::string failure() const override { return failure_; }

 private:
  void release();
  std::string path_, failure_;
  int socket_ = -1, interrupt_ = -1, stop_ = -1;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// The hardware's side of one card: its memory is made here and given to the one modem that connects.
class CardServer {
 public:
  /// Makes the socket. @throws std::runtime_error
  CardServer(std::string path, const oh_streams& streams);
  ~CardServer();
  CardServer(const CardServer&) = delete;
  CardServer& operator=(const CardServer&) = delete;

  /// Look for a modem for up to `ms`; once it is there, whether it has started. @return true when samples may pass
  bool wait_for_modem(int ms);
  /// The modem's process has closed its end. Does not block.
  bool modem_left() const;
  /// Does not block.
  void raise_interrupt();
  const oh_card& card() const { return card_; }
  oh_card_state& state() const { return *static_cast<oh_card_state*>(card_.self); }

 private:
  std::string path_;
  int listening_ = -1, socket_ = -1, interrupt_ = -1, memory_ = -1;
  std::size_t size_ = 0;
  oh_card card_{};
  bool started_ = false;
};

extern const CardKind kSharedCards;

}  // namespace offhook
