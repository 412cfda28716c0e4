// SPDX-License-Identifier: MIT
// Any bytes as a name that is shown: no byte of the result commands a terminal, and JSON and CSV hold it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "driver/base/csv.h"
#include "driver/base/json.h"
#include "driver/base/printable.h"

using namespace offhook;

namespace {

void check_quiet(const std::string& text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) std::abort();
  }
  for (std::size_t i = 0, n = 0; i < text.size(); i += n) {
    n = utf8_length(std::string_view(text).substr(i));
    if (n == 0) std::abort();
    if (n == 2 && text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0) std::abort();  // C1
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_quiet(printable(text));
  if (printable(printable(text)) != printable(text)) std::abort();
  check_quiet(csv_field(text));
  const std::string json = json_text(nlohmann::json{{"name", text}});
  check_quiet(json);
  if (json_text(nlohmann::json::parse(json)) != json) std::abort();
  try {
    check_quiet(json_text(parse_json(text)));
  } catch (const nlohmann::json::exception&) {
  }
  return 0;
}
