// SPDX-License-Identifier: MIT
#include "src/program/command/page_option.h"

#include "driver/base/terminal.h"

namespace offhook::command {

Option* add_page(App& app, std::string& page) {
  return app
      .add_option("--page", page,
                  "Serve a read-only live page, /status (JSON), /events and /metrics (Prometheus) by HTTP. The default "
                  "address is 127.0.0.1 (docs/live-page.md)")
      ->type_name("[ADDRESS:]PORT");
}

std::unique_ptr<live_page::LivePage> open_page(const std::string& page, const std::string& title, std::size_t lines,
                                               bool quiet) {
  if (page.empty()) return nullptr;
  const live_page::PageAddress address = live_page::parse_page_address(page);
  flush_output();  // otherwise the page's process would inherit the buffers
  auto opened = std::make_unique<live_page::LivePage>(address, title, lines);
  say(quiet ? stderr : stdout, "live page: {}\n", opened->url());
  flush_output();
  return opened;
}

void tell_page_failure(live_page::LivePage* page) {
  if (page == nullptr) return;
  if (const std::string why = page->take_failure(); !why.empty()) say(stderr, "offhook: {}\n", why);
}

}  // namespace offhook::command
