// SPDX-License-Identifier: MIT
#include "traces/scenario/template.h"

#include <fmt/format.h>

namespace offhook::config {

std::string write_template(const KeyTable& keys, const void* subject, Keys how) {
  std::string out, table;
  for (const bool in_tables : {false, true}) {  // TOML requires the keys outside of tables first
    for (const Key& key : keys) {
      const std::string_view path = key.path;
      const std::size_t dot = path.rfind('.');
      if ((dot != std::string_view::npos) != in_tables) continue;
      const std::string_view of = in_tables ? path.substr(0, dot) : std::string_view{};
      if (of != table) {
        out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", of);
        table = of;
      }
      // A key that write() omits is disabled while it is absent.
      const bool out_commented = how == Keys::kCommentedOut || !is_written(key, subject);
      out += fmt::format("# {} ({})\n{}{} = {}\n", key.help, expectation(key, subject), out_commented ? "#" : "",
                         in_tables ? path.substr(dot + 1) : path, write_value(key, subject));
    }
  }
  return out;
}

}  // namespace offhook::config
