// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace offhook::traces {

/// A protobuf message under construction: the two wire types that the Perfetto export needs.
/// Source: protobuf.dev/programming-guides/encoding, "Message Structure".
class ProtoMessage {
 public:
  ProtoMessage& integer(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  ProtoMessage& bytes(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoMessage& message(std::uint32_t field, const ProtoMessage& value) { return bytes(field, value.bytes_); }
  const std::string& encoded() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace offhook::traces
