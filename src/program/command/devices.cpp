// SPDX-License-Identifier: MIT
#include "driver/session/devices.h"

#include <fmt/format.h>

#include <memory>

#include "driver/base/record.h"
#include "driver/base/terminal.h"
#include "src/program/command/program.h"
#include "src/program/command/results.h"

namespace offhook::command {
namespace {

using CardDeviceKeys = record::Written<CardDevice>;
constexpr record::Row kDevicesRows[] = {
    CardDeviceKeys::of<&CardDevice::kind>("kind", "", "kind of the card"),
    CardDeviceKeys::of<&CardDevice::address>("address", "", "address that offhook modem accepts"),
    CardDeviceKeys::of<&CardDevice::description>("description", "", "description of the card"),
    CardDeviceKeys::of<&CardDevice::usable>("usable", "", "whether a modem can run on it"),
    CardDeviceKeys::of<&CardDevice::capability>("capability", "",
                                                "rates and formats of the card, or why it is not usable"),
};

int run(const TextOutput& json) {
  const std::vector<CardDevice> devices = card_devices();
  if (json.asked()) {
    json.write(record::json_text(kCardDevice, record::subjects(devices), 1));
    if (json.alone()) return kOk;
  }
  Table table;
  for (const char* heading : {"card", "usable", "capability", "description"})
    table.column(heading, Table::Align::kLeft);
  for (const CardDevice& d : devices) table.row({d.address, d.usable ? "yes" : "no", d.capability, d.description});
  say("{}", table.lines());
  return kOk;
}

}  // namespace

constexpr record::Table kCardDevice{kDevicesRows};

void add_devices(App& app, Action& action) {
  App* sub = app.add_subcommand("devices", "List the cards that `offhook modem` can use, and their capabilities");
  auto json = std::make_shared<TextOutput>();
  add_text_output(*sub, kJsonOption, *json, "Cards as JSON");
  sub->footer(R"(Examples:
  offhook devices
  offhook devices --json | jq '.[] | select(.usable) | .address'

The command opens each sound device, which takes a moment. Libraries such as JACK's may report on standard error that
no server runs. Offhook does not resample: a device must support 8000 Hz, one channel and 16 bits.
)");
  sub->final_callback([&action, json] { action = [json] { return run(*json); }; });
}

}  // namespace offhook::command
