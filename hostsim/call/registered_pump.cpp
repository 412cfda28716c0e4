// SPDX-License-Identifier: MIT
#include "hostsim/call/registered_pump.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "driver/context/name_table.h"
#include "dsp/audio/pump.h"
#include "offhook/plugin.h"

namespace offhook::hostsim {
namespace {

using Table = NameTable<oh_pump_type>;

constexpr std::uint32_t kMostFormats = 64;
constexpr std::size_t kLongestName = 40;
constexpr std::uint32_t kMostPartition = 1024;  // partition of the audio pumps, in samples

/// The pumps of this tree that are complete devices.
bool add_own(Table& table) {
  for (std::uint32_t partition = 1; partition <= kMostPartition; partition *= 2)
    if (const oh_pump_type* type = oh_audio_type(partition); type != nullptr) (void)table.add(type->name, *type);
  return true;
}

Table& pumps() {
  static Table all;
  static const bool filled = add_own(all);
  (void)filled;
  return all;
}

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), allowed);
}

bool is_format(const oh_pump_format& f) {
  const auto [slow, fast] = std::minmax(f.rx.rate_hz, f.tx.rate_hz);
  return slow > 0 && fast % slow == 0 && oh_sample_bytes(f.rx.encoding) > 0 && oh_sample_bytes(f.tx.encoding) > 0;
}

/// @return the fault of a type, for users; empty: none
std::string problem_of(const oh_pump_type& t) {
  if (t.name == nullptr || !is_name(t.name))
    return "expected a name of at most " + std::to_string(kLongestName) + " letters, digits, '-', '_' and '.'";
  const std::string pump = "the pump \"" + std::string(t.name) + "\" ";
  if (t.format_count == 0 || t.format_count > kMostFormats || t.formats == nullptr)
    return pump + "has " + std::to_string(t.format_count) + " formats; expected 1 to " + std::to_string(kMostFormats);
  if (!std::all_of(t.formats, t.formats + t.format_count, is_format))
    return pump + "has a format that no card supports; expected a known encoding, and rates in a whole ratio";
  if ((t.roles & 1u << OH_PUMP_CALL) == 0 || (t.roles & ~kBothRoles) != 0)
    return pump + "has the roles " + std::to_string(t.roles) +
           "; expected 1 (the calling end alone) or 3 (both ends), see enum oh_pump_role";
  const struct {
    const char* name;
    bool there;
  } needed[] = {{"size", t.size != nullptr},
                {"init", t.init != nullptr},
                {"process", t.process != nullptr},
                {"report_gap", t.report_gap != nullptr},
                {"status", t.status != nullptr}};
  for (const auto& one : needed)
    if (!one.there) return pump + "has no function " + one.name;
  return "";
}

}  // namespace

void register_pump(const oh_pump_type& type) {
  constexpr std::size_t kLeast = offsetof(oh_pump_type, hold);
  if (type.struct_size < kLeast || type.struct_size > sizeof type) {
    throw std::invalid_argument("a pump type of " + std::to_string(type.struct_size) + " bytes; expected " +
                                std::to_string(kLeast) + " to " + std::to_string(sizeof type) +
                                ": it was built with another version of offhook/pump.h");
  }
  oh_pump_type whole{};
  std::memcpy(&whole, &type, type.struct_size);
  whole.struct_size = sizeof whole;
  if (const std::string why = problem_of(whole); !why.empty()) throw std::invalid_argument(why);
  if (whole.advance == nullptr) whole.advance = oh_pump_advance_each;
  if (whole.hang_up == nullptr) whole.hang_up = [](void*) {};
  if (whole.release == nullptr) whole.release = [](void*) {};
  if (pumps().find(whole.name) >= 0)
    throw std::invalid_argument("the name \"" + std::string(whole.name) + "\" of a pump is taken");
  (void)pumps().add(whole.name, whole);
}

std::span<const std::string_view> pump_names() {
  return pumps().names();
}

const oh_pump_type& registered_pump(std::string_view name) {
  const int row = pumps().find(name);
  if (row >= 0) return pumps()[row];
  std::string known;
  for (const std::string_view one : pump_names()) known += std::string(one) + ", ";
  throw std::invalid_argument("no pump is named \"" + std::string(name) + "\"; expected one of: " + known +
                              "or one of a plug-in, as in offhook --plugin FILE.so run ...");
}

}  // namespace offhook::hostsim

int oh_register_pump(const oh_pump_type* type, const char** reason) {
  thread_local std::string problem;
  int status = 0;
  try {
    if (type == nullptr) throw std::invalid_argument("no pump type was given");
    const bool taken = type->struct_size >= offsetof(oh_pump_type, formats) && type->name != nullptr &&
                       std::ranges::count(offhook::hostsim::pump_names(), type->name) > 0;
    status = taken ? -EEXIST : -EINVAL;
    offhook::hostsim::register_pump(*type);
    return 0;
  } catch (const std::exception& e) {
    problem = e.what();
  }
  if (reason != nullptr) *reason = problem.c_str();
  return status == 0 ? -EINVAL : status;
}
