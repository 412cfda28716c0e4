// SPDX-License-Identifier: MIT
#include "dsp/link/start_stop.h"

#include "dsp/blocks/packed_bits.h"

namespace offhook::v14 {

int Sender::next() {
  if (left_ == 0) return 1;
  --left_;
  const int bit = int(bits_ & 1);
  bits_ >>= 1;
  return bit;
}

Receiver::Result Receiver::put(int bit) {
  if (breaking_) {
    breaking_ = bit == 0;
    return kNothing;
  }
  if (at_ == 0) {
    at_ = bit == 0;
    return kNothing;
  }
  if (at_ <= 8) {
    character_ = uint8_t(character_ >> 1 | bit << 7);
    ++at_;
    return kNothing;
  }
  // If the stop bit was deleted, this bit is the next character's start bit.
  const bool no_stop = bit == 0, again = no_stop && no_stop_;
  no_stop_ = no_stop && !again;
  at_ = no_stop && !again;
  breaking_ = again;
  return again ? kBreak : kCharacter;
}

oh_bit_port Link::port() {
  return {nullptr, nullptr, this,
          [](void* user, uint8_t* octets, size_t n) {
            pack_bits(octets, n, [user] { return static_cast<Link*>(user)->next_bit(); });
          },
          [](void* user, const uint8_t* octets, size_t n) {
            unpack_bits(octets, n, [user](int bit) { static_cast<Link*>(user)->put_bit(bit); });
          }};
}

int Link::next_bit() {
  if (sender_.ready() && out_.used() > 0) {
    uint32_t n = 0;
    sender_.put(*out_.front(&n));
    ++out_.tail;
  }
  return sender_.next();
}

void Link::put_bit(int bit) {
  switch (receiver_.put(bit)) {
    case Receiver::kNothing:
      break;
    case Receiver::kCharacter: {
      const uint8_t c = receiver_.character();
      if (in_.free() > 0) {
        in_.put(&c, 1);
      } else {
        ++lost_;
      }
      break;
    }
    case Receiver::kBreak:
      ++breaks_;
  }
}

uint32_t Link::write(const uint8_t* bytes, uint32_t n) {
  if (n > out_.free()) n = out_.free();
  if (n > 0) out_.put(bytes, n);
  return n;
}

uint32_t Link::read(uint8_t* bytes, uint32_t n) {
  if (n > in_.used()) n = in_.used();
  if (n > 0) in_.copy(in_.tail, bytes, n);
  in_.tail += n;
  return n;
}

}  // namespace offhook::v14
