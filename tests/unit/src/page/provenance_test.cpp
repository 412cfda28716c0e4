// SPDX-License-Identifier: MIT
#include "src/page/provenance.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/page/page.h"

namespace offhook {
namespace {

std::string line(const std::vector<std::string>& words) {
  return shell_line("offhook", words);
}

TEST(ShellLine, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(line({"run", "examples/v34.toml", "--set", "a=1"}), "offhook run examples/v34.toml --set a=1");
  EXPECT_EQ(line({"", "RES 2/8", "it's", "*", "~", "$HOME", "#1"}),
            R"(offhook '' 'RES 2/8' 'it'\''s' '*' '~' '$HOME' '#1')");
  EXPECT_EQ(line({"häuser.wav"}), "offhook 'häuser.wav'");
}

TEST(ShellLine, WritesControlCharactersAndInvalidUtf8AsEscapes) {
  EXPECT_EQ(line({"a\nb\\'"}), R"(offhook $'a\x0ab\\\'')");
  EXPECT_EQ(line({"\x1b[2J"}), R"(offhook $'\x1b[2J')");
  EXPECT_EQ(line({"\xff"}), R"(offhook $'\xff')");
  EXPECT_EQ(line({"\xe2\x80\xae"}), R"(offhook $'\xe2\x80\xae')");  // U+202E turns the text after it
}

TEST(ShellLine, HidesPasswords) {
  EXPECT_EQ(line({"x", "--password", "geheim", "y"}), "offhook x --password HIDDEN y");
  EXPECT_EQ(line({"x", "--sip-password=geheim", "y"}), "offhook x --sip-password=HIDDEN y");
  EXPECT_EQ(line({"sip:100@192.0.2.1:5060,password=geheim,local=192.0.2.7:5060"}),
            "offhook sip:100@192.0.2.1:5060,password=HIDDEN,local=192.0.2.7:5060");
  EXPECT_EQ(line({"sip:100:geheim@192.0.2.1,transport=tls"}), "offhook sip:100:HIDDEN@192.0.2.1,transport=tls");
  EXPECT_EQ(line({"http://me:geheim@proxy/x"}), "offhook http://me:HIDDEN@proxy/x");
  EXPECT_EQ(line({"--exec", "OFFHOOK_SIP_PASSWORD=geheim getty --token geheim -L"}),
            "offhook --exec 'OFFHOOK_SIP_PASSWORD=HIDDEN getty --token HIDDEN -L'");
}

TEST(ShellLine, LeavesAddressesAndNamesOfPasswordFiles) {
  for (const char* word :
       {"sip:100@192.0.2.1:5060,password-file=sip.password,local=192.0.2.7:5060", "rtp:127.0.0.1:47300,127.0.0.1:47302",
        "audiosocket:pbx.example:9092,law=pcmu", "--set=transfer.bytes=2000", "me@pbx.example"})
    EXPECT_EQ(line({word}), std::string("offhook ") + word);
}

TEST(ShellLine, ShortensAListOfThousandsOfFiles) {
  const std::string got = line(std::vector<std::string>(2000, "call.wav"));
  EXPECT_LT(got.size(), 4100u);
  EXPECT_TRUE(got.ends_with(" more arguments")) << got.substr(got.size() - 40);
}

TEST(Page, NamesTheCommandOfItsProcessInALineOfItsOwn) {
  const nlohmann::json data = page_head("host", "t", "", "h");
  const std::string before = page_around("t", data);
  EXPECT_EQ(before.find("<meta name=\"offhook-command\""), std::string::npos);
  std::string during;
  {
    const CommandOfPages command(line({"measure", "host", "--html", "\"<&.html"}));
    during = page_around("t", data);
  }
  const std::string expected =
      "<meta name=\"offhook-command\" content=\"offhook measure host --html &#39;&quot;&lt;&amp;.html&#39;\">\n";
  const std::size_t at = during.find(expected);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(during.erase(at, expected.size()), before);
  EXPECT_EQ(page_around("t", data), before);
}

TEST(Page, APlainPageHasAFooter) {
  const CommandOfPages command(line({"decode", "a&b"}));
  const std::string page = with_footer("<head>\n<title>t</title></head><body>x</body></html>\n");
  EXPECT_NE(page.find("<head>\n<meta name=\"offhook-command\" content=\"offhook decode &#39;a&amp;b&#39;\">\n<title>"),
            std::string::npos);
  EXPECT_NE(page.find("x<footer><p>Offhook "), std::string::npos);
  EXPECT_NE(page.find("<code>offhook decode &#39;a&amp;b&#39;</code>"), std::string::npos);
  EXPECT_TRUE(page.ends_with("</script>\n</body></html>\n")) << page;
}

}  // namespace
}  // namespace offhook
