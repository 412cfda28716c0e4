// SPDX-License-Identifier: MIT
//
// The Quick Connect profiles (V.92 8.2, 9.2) of a program's modems: what a call learns about a line and a far end, for
// the next call between them. A file keeps them when the program ends.
//
// The file has one profile per line, with tabs between the fields: card, "call" or "answer", number, symbol rate of the
// upstream (3 to 5, as INFO1a numbers them), carrier ("low" or "high"), Ucode of QTS, round trip in samples at 8000 Hz.
// Lines that begin with '#' are comments. The number is the dialled one, or the caller's; it is empty if unknown.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dsp/modulation/modulation.h"
#include "offhook/pump.h"

namespace offhook::modem {

/// Only from the owner's thread.
class QuickProfiles {
 public:
  struct Key {
    std::string card;
    oh_pump_role role = OH_PUMP_CALL;
    std::string number;
    bool operator==(const Key&) const = default;
  };
  /// When more are stored, the one that was stored first is forgotten.
  static constexpr std::size_t kMost = 1000;

  /// Profiles in memory only.
  QuickProfiles() = default;
  /// Also in this file, which may be absent.  @throws std::runtime_error: it cannot be read, or a line is wrong
  explicit QuickProfiles(std::filesystem::path file);

  /// @return a profile without symbol rate if none is stored
  oh_v90_profile find(const Key& key) const;
  /// A key that is not printable is not stored.
  void store(const Key& key, const oh_v90_profile& profile);
  std::size_t size() const { return entries_.size(); }
  /// Writes the file if a profile has changed since the last time.  @throws std::runtime_error
  void save();

 private:
  struct Entry {
    Key key;
    oh_v90_profile profile;
  };
  void read_line(std::string_view line, std::size_t number);

  std::filesystem::path file_;  // empty: none
  std::vector<Entry> entries_;  // the oldest first
  bool changed_ = false;
};

}  // namespace offhook::modem
