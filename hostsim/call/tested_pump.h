// SPDX-License-Identifier: MIT
//
// One end of a device's line: a pump with its memory, its transmit pattern and the check of its output.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <stdexcept>
#include <string>

#include "hostsim/call/bit_error_tester.h"
#include "hostsim/call/test_cells.h"
#include "offhook/pump.h"

namespace offhook::hostsim {

inline constexpr std::int64_t kInstrumentEvery = 100'000'000;  ///< ns between two records of a pump's instruments

class TestedPump {
 public:
  /// @param config  without its port  @param pattern  beginning of the pattern  @param in_cells  in ATM cells, for a
  /// pump that carries whole octets  @param memory  for its state; outlives it. @throws std::invalid_argument
  TestedPump(const oh_pump_type* type, oh_pump_config config, std::uint32_t pattern, bool in_cells = false,
             std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : type_(type), test_(pattern), cells_(in_cells ? std::make_unique<TestCells>(test_) : nullptr) {
    if (cells_ != nullptr) {
      config.port = port_of(cells_.get());
    } else {
      config.port = port_of(&test_);
    }
    state_bytes_ = type->size(&config);
    memory_ = {memory->allocate(state_bytes_, kAlignment), Release{memory, state_bytes_}};
    if (type->init(memory_.get(), &config) != 0)
      throw std::invalid_argument(std::string("the pump ") + type->name + " refused its configuration");
  }
  ~TestedPump() { type_->release(memory_.get()); }
  TestedPump(const TestedPump&) = delete;
  TestedPump& operator=(const TestedPump&) = delete;

  oh_pump pump() const { return oh_pump_at(type_, memory_.get()); }
  oh_pump_status status() const {
    oh_pump_status s{};
    type_->status(memory_.get(), &s);
    return s;
  }
  /// The `self` for its type's functions.
  void* self() const { return memory_.get(); }
  std::size_t state_bytes() const { return state_bytes_; }
  const BitErrorTester& test() const { return test_; }
  BitErrorTester& test() { return test_; }
  /// Null if the pattern is not in cells.
  const TestCells* cells() const { return cells_.get(); }

 private:
  /// @param layer  has get(octets, n) and put(octets, n) of bits
  template <class Layer>
  static oh_bit_port port_of(Layer* layer) {
    oh_bit_port port{};
    port.user = layer;
    port.get_bits = [](void* u, std::uint8_t* o, std::size_t n) { static_cast<Layer*>(u)->get(o, n); };
    port.put_bits = [](void* u, const std::uint8_t* o, std::size_t n) { static_cast<Layer*>(u)->put(o, n); };
    return port;
  }
  static constexpr std::size_t kAlignment = 64;
  struct Release {
    std::pmr::memory_resource* from;
    std::size_t bytes;
    void operator()(void* state) const { from->deallocate(state, bytes, kAlignment); }
  };
  const oh_pump_type* type_;
  BitErrorTester test_;
  std::size_t state_bytes_ = 0;
  std::unique_ptr<TestCells> cells_;
  std::unique_ptr<void, Release> memory_{nullptr, Release{}};
};

}  // namespace offhook::hostsim
