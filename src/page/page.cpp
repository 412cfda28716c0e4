// SPDX-License-Identifier: MIT
#include "src/page/page.h"

#include <nlohmann/json.hpp>

#include "driver/base/printable.h"
#include "src/page/provenance.h"

// Made by src/page/assets.cmake out of the files of src/page/assets and the chart library.
extern "C" {
extern const char offhook_chart_library_js[], offhook_chart_library_js_end[];
extern const char offhook_chart_library_css[], offhook_chart_library_css_end[];
extern const char offhook_page_js[], offhook_page_js_end[];
extern const char offhook_page_css[], offhook_page_css_end[];
}

namespace offhook {

namespace {

// Without the line that makes a browser's debugger request a source map.
std::string without_source_map(std::string_view text) {
  const std::size_t at = text.rfind("# sourceMappingURL=");
  if (at == std::string_view::npos || at < 2) return std::string(text);
  return std::string(text.substr(0, at - 2));
}

std::string asset(const char* begin, const char* end) {
  return without_source_map({begin, static_cast<std::size_t>(end - begin)});
}

// JSON inside a script element: "</script" and "<!--" must not appear.
// Names, recordings and files may hold characters that change the direction of the sentence around them.
void turn_no_text(nlohmann::json& data) {
  if (data.is_string()) {
    data = of_one_direction(data.get_ref<const std::string&>());
  } else if (data.is_structured()) {
    for (nlohmann::json& part : data) turn_no_text(part);
  }
}

std::string json_in_html(nlohmann::json data) {
  turn_no_text(data);
  const std::string text = data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

// The line of a page that names the command of this process.
std::string command_line_of_page() {
  if (command_of_pages().empty()) return {};
  return "<meta name=\"offhook-command\" content=\"" + html_escape(command_of_pages()) + "\">\n";
}

}  // namespace

std::string html_escape(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"'";
  constexpr const char* kEscapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (const char c : of_one_direction(text)) {
    const std::size_t k = kSpecial.find(c);
    if (k == std::string_view::npos) {
      out += c;
    } else {
      out += kEscapes[k];
    }
  }
  return out;
}

nlohmann::json page_head(std::string_view kind, std::string_view title, std::string_view verdict,
                         std::string_view headline, const std::vector<std::string>& reasons) {
  return {{"kind", kind},
          {"title", title},
          {"verdict", verdict},
          {"headline", headline},
          {"reasons", reasons},
          {"warnings", nlohmann::json::array()},
          {"settings", nlohmann::json::array()}};
}

std::string page_around(std::string_view title, nlohmann::json data, Served served) {
  if (!data.contains("made_by")) data["made_by"] = "Offhook " OFFHOOK_VERSION;
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      // The browser itself refuses any external resource.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data:";
  out += served == Served::kLive ? "; connect-src 'self'\">\n" : "\">\n";
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"Offhook\">\n";
  out += command_line_of_page();
  out += "<title>";
  out += html_escape(printable(title));
  out += "</title>\n<style>\n";
  out += asset(offhook_chart_library_css, offhook_chart_library_css_end);
  out += asset(offhook_page_css, offhook_page_css_end);
  out +=
      "</style>\n</head>\n<body>\n<main id=\"page\"></main>\n<noscript>Allow JavaScript to see the figures; the code "
      "that draws them is in this file.</noscript>\n<script type=\"application/json\" id=\"data\">";
  out += json_in_html(std::move(data));
  out += "</script>\n<script>\n";
  out += asset(offhook_chart_library_js, offhook_chart_library_js_end);
  out += "\n</script>\n<script>\n";
  out += asset(offhook_page_js, offhook_page_js_end);
  out += "</script>\n</body>\n</html>\n";
  return out;
}

std::string with_footer(std::string plain_page) {
  std::string footer = "<footer><p>Offhook " OFFHOOK_VERSION ".";
  if (!command_of_pages().empty())
    footer.append(" Command: <code>").append(html_escape(command_of_pages())).append("</code>");
  // Browsers give the date as "11/29/2026 17:04:05".
  footer +=
      " <span></span></p></footer>\n<script>document.querySelector(\"footer span\").textContent = \"File of \" + "
      "document.lastModified.replace(/^(\\d+)\\/(\\d+)\\/(\\d+)/, \"$3-$1-$2\") + \".\";</script>\n";
  plain_page.insert(plain_page.rfind("</body>"), footer);
  plain_page.insert(plain_page.find("<title>"), command_line_of_page());
  return plain_page;
}

}  // namespace offhook
