// SPDX-License-Identifier: MIT
//
// A service class of a fax modem (+FCLASS), as the program at its terminal uses it: class 1 (class1.h), in which T.30
// runs in the program, or class 2.0 (class2.h), in which it runs here. Their operations differ; results and octets pass
// in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace offhook::fax {

/// A result of an operation. Each ends it, except kConnect and kFramesInstead.
enum class Outcome : std::uint8_t {
  kConnect,  ///< data may flow
  kOk,       ///< done, or aborted by a character of the program
  kError,    ///< class 1: a frame failed its check, or the program sent nothing for 5 s. Class 2.0: a page was refused
  kNoCarrier,      ///< the signal has ended, or did not come
  kOtherCarrier,   ///< +FCERROR: frames arrive instead of a page
  kFramesInstead,  ///< +FRH:3: the same with adaptive reception, which continues with the frames; kConnect follows
  kOver            ///< class 2.0: the call has ended
};

inline constexpr char kDle = 0x10, kEtx = 0x03, kSub = 0x1A;
inline constexpr std::string_view kEndOfData = "\x10\x03";

/// Undoes DLE pairs of the program: DLE DLE is one octet DLE, DLE SUB is two.
class Unstuffer {
 public:
  /// @param data  gets the decoded octets  @return the second octet of a pair that is not data, such as ETX; otherwise
  /// 0
  char put(char c, std::string& data);
  void reset() { after_dle_ = false; }

 private:
  bool after_dle_ = false;
};

/// @return the octets, each DLE twice
std::string stuffed(std::string_view octets);

/// From one thread, which is not the pump's.
class ServiceClass {
 public:
  virtual ~ServiceClass() = default;

  virtual void call() = 0;
  virtual void answer() = 0;
  /// Whether an operation is running.
  virtual bool busy() const = 0;
  /// Whether octets of the program are data.
  virtual bool sends() const = 0;
  /// Octets that put() may be given now. While it is 0, the program has to wait.
  virtual std::size_t room() const = 0;
  /// @param octets  of the program, at most room()
  virtual void put(std::string_view octets) = 0;
  /// Exchanges messages with the pump. Call it about every 10 ms.
  virtual void poll() = 0;

  /// Octets for the program, which precede the next result. Valid until the next call of another function.
  std::string_view octets() const;
  void drop(std::size_t n);
  /// @return the next result, once its octets have been taken
  std::optional<Outcome> take_outcome();

 protected:
  /// Octets for the program.
  void say(std::string_view octets);
  /// A result behind the octets so far.
  void say(Outcome outcome);

 private:
  struct Item {
    std::string octets;
    std::optional<Outcome> outcome;
  };
  std::deque<Item> items_;
};

}  // namespace offhook::fax
