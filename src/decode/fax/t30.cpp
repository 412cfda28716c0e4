// SPDX-License-Identifier: MIT
#include "src/decode/fax/t30.h"

#include <fmt/format.h>
#include <spandsp.h>

#include <algorithm>
#include <array>

namespace offhook::decode {
namespace {

constexpr std::size_t kHead = 3;  // address, control, facsimile control field

// The bits of DIS, DTC and DCS. Bit 1 is the first bit after the facsimile control field. The octets behind the third
// are there if bit 24, 32, ... announces them.
class Capabilities {
 public:
  explicit Capabilities(std::span<const std::uint8_t> frame) {
    constexpr std::size_t kAlways = 3;
    const auto fif = frame.subspan(std::min(kHead, frame.size()));
    std::size_t n = std::min(kAlways, fif.size());
    while (n >= kAlways && n < fif.size() && (fif[n - 1] & 0x80) != 0) ++n;
    fif_ = fif.first(n);
  }
  int last() const { return static_cast<int>(8 * fif_.size()); }
  int bit(int n) const {
    const auto octet = static_cast<std::size_t>((n - 1) / 8);
    return octet < fif_.size() ? fif_[octet] >> ((n - 1) % 8) & 1 : 0;
  }
  int bits(int first, int count) const {  // the first one is the highest
    int value = 0;
    for (int k = 0; k < count; ++k) value = value << 1 | bit(first + k);
    return value;
  }

 private:
  std::span<const std::uint8_t> fif_;
};

const char* modulations_offered(int bits11to14) {
  switch (bits11to14) {
    case 0b0000:
      return "V.27ter 2400";
    case 0b0100:
      return "V.27ter";
    case 0b1000:
      return "V.29";
    case 0b1100:
      return "V.27ter, V.29";
    case 0b1110:
      return "V.27ter, V.29, V.33";
    case 0b1101:
      return "V.27ter, V.29, V.17";
    default:
      return "modulation reserved";
  }
}

const char* modulation_chosen(int bits11to14) {
  constexpr const char* kNames[16] = {
      "V.27ter 2400", "V.17 14400", "V.33 14400", nullptr, "V.27ter 4800", "V.17 12000", "V.33 12000", nullptr,
      "V.29 9600",    "V.17 9600",  nullptr,      nullptr, "V.29 7200",    "V.17 7200",  nullptr,      nullptr};
  return kNames[bits11to14] != nullptr ? kNames[bits11to14] : "modulation reserved";
}

std::optional<PageRate> rate_chosen(int bits11to14) {
  switch (bits11to14) {
    case 0b0000:
      return PageRate{PageModem::kV27ter, 2400};
    case 0b0100:
      return PageRate{PageModem::kV27ter, 4800};
    case 0b1000:
      return PageRate{PageModem::kV29, 9600};
    case 0b1100:
      return PageRate{PageModem::kV29, 7200};
    case 0b0001:
      return PageRate{PageModem::kV17, 14'400};
    case 0b0101:
      return PageRate{PageModem::kV17, 12'000};
    case 0b1001:
      return PageRate{PageModem::kV17, 9600};
    case 0b1101:
      return PageRate{PageModem::kV17, 7200};
    default:
      return std::nullopt;
  }
}

// A field of one bit: its meaning in DIS and DTC, and in DCS. Null: reserved there. Empty: part of another field, or an
// octet follows.
struct BitField {
  int bit;
  const char* offered;
  const char* chosen;
};
constexpr const char* kPart = "";
constexpr BitField kFirst[] = {{1, "store-and-forward Internet fax (T.37)", "store-and-forward Internet fax (T.37)"},
                               {3, "real-time Internet fax (T.38)", "real-time Internet fax (T.38)"},
                               {4, "third-generation mobile network", "third-generation mobile network"},
                               {6, "V.8", nullptr},
                               {7, "prefers frames of 64 octets", nullptr},
                               {9, "has a document to poll", nullptr},
                               {10, "can receive", "receive"}};
// Bits 11 to 24: add_fixed_fields().
constexpr BitField kRest[] = {
    {26, "uncompressed mode", "uncompressed mode"},
    {27, "error correction", "error correction"},
    {28, nullptr, kPart},
    {31, kPart, kPart},
    {33, "field not valid (FNV)", "field not valid (FNV)"},
    {34, "multiple selective polling", nullptr},
    {35, "polled subaddress", nullptr},
    {36, "colour (T.43)", "colour (T.43)"},
    {37, "plane interleave", "plane interleave"},
    {38, "voice of 32 kbit/s (G.726)", "voice of 32 kbit/s (G.726)"},
    {39, "other voice codings", "other voice codings"},
    {41, "up to 15.4 lines/mm", "15.4 lines/mm"},
    {42, "300 x 300 dpi", "300 x 300 dpi"},
    {43, "16 pixels/mm x 15.4 lines/mm or 400 x 400 dpi", "16 pixels/mm x 15.4 lines/mm or 400 x 400 dpi"},
    {44, "prefers resolutions in inches", "resolution in inches"},
    {45, "prefers metric resolutions", nullptr},
    {46, "half the time per line at 15.4 lines/mm", nullptr},
    {47, "selective polling", nullptr},
    {49, "subaddress", "subaddress"},
    {50, "password", "sender identification"},
    {51, "has a data file to poll", nullptr},
    {53, "binary file transfer (BFT)", "binary file transfer (BFT)"},
    {54, "document transfer mode (DTM)", "document transfer mode (DTM)"},
    {55, "electronic data interchange (EDI)", "electronic data interchange (EDI)"},
    {57, "basic transfer mode (BTM)", "basic transfer mode (BTM)"},
    {59, "has a document of mixed mode to poll", nullptr},
    {60, "character mode", "character mode"},
    {62, "mixed mode (T.4, Annex E)", "mixed mode (T.4, Annex E)"},
    {65, "processable mode 26 (T.505)", "processable mode 26 (T.505)"},
    {66, "digital network", "digital network"},
    {67, "full duplex", "full duplex"},
    {68, "JPEG", "colour or grey JPEG"},
    {69, "full colour", "full colour"},
    {70, nullptr, "preferred Huffman tables"},
    {71, "12 bits per component", "12 bits per component"},
    {73, "no subsampling", "no subsampling"},
    {74, "custom illuminant", "custom illuminant"},
    {75, "custom gamut", "custom gamut"},
    {76, "North American letter", "North American letter"},
    {77, "North American legal", "North American legal"},
    {78, "JBIG (T.85)", "JBIG (T.85)"},
    {79, "JBIG with stripes of any height (T.85, L0)", "JBIG with stripes of any height (T.85, L0)"},
    {81, "HKM keys", "HKM keys"},
    {82, "RSA keys", "RSA keys"},
    {83, "override mode", "override mode"},
    {84, "HFX40 cipher", "HFX40 cipher"},
    {85, "cipher 2", "cipher 2"},
    {86, "cipher 3", "cipher 3"},
    {87, "HFX40-I hashing", "HFX40-I hashing"},
    {89, "hashing 2", "hashing 2"},
    {90, "hashing 3", "hashing 3"},
    {92, kPart, kPart},
    {93, kPart, kPart},
    {94, kPart, kPart},
    {95, "stripes of a page's length (T.44)", "stripes of a page's length (T.44)"},
    {97, "colour or grey at 300 or 400 dpi", "colour or grey at 300 or 400 dpi"},
    {98, "colour or grey at 100 dpi", "colour or grey at 100 dpi"},
    {99, "simple negotiation of binary files", "simple negotiation of binary files"},
    {100, "extended negotiation of binary files", nullptr},
    {101, "Internet selective polling address", nullptr},
    {102, "Internet routing address", "Internet routing address"},
    {105, "600 x 600 dpi", "600 x 600 dpi"},
    {106, "1200 x 1200 dpi", "1200 x 1200 dpi"},
    {107, "300 x 600 dpi", "300 x 600 dpi"},
    {108, "400 x 800 dpi", "400 x 800 dpi"},
    {109, "600 x 1200 dpi", "600 x 1200 dpi"},
    {110, "colour or grey at 600 dpi", "colour or grey at 600 dpi"},
    {111, "colour or grey at 1200 dpi", "colour or grey at 1200 dpi"},
    {113, "both sides of the paper, alternately", "both sides of the paper, alternately"},
    {114, "both sides of the paper, one after the other", "both sides of the paper, one after the other"},
    {115, nullptr, "mixed raster content in black and white"},
    {116, "colour runs (T.45)", "colour runs (T.45)"},
    {117, kPart, kPart},
    {118, kPart, kPart},
    {119, "YCC colour space (T.44)", "YCC colour space (T.44)"},
    {121, "flow control of T.38", "flow control of T.38"},
    {122, "K above 4", "K above 4"},
    {123, "rates not limited (T.38)", "rates not limited (T.38)"},
    {124, kPart, kPart},
    {125, kPart, kPart},
    {126, kPart, kPart},
    {127, "sYCC JPEG", "sYCC JPEG"},
};
constexpr int kFirstOfRest = 25;

void add_fixed_fields(const Capabilities& c, bool dcs, std::vector<std::string>& words) {
  const auto any = [&c](std::initializer_list<int> bits) {
    return std::any_of(bits.begin(), bits.end(), [&c](int n) { return c.bit(n) != 0; });
  };
  if (c.bit(15)) words.emplace_back(dcs ? "fine, 7.7 lines/mm" : "up to 7.7 lines/mm");
  if (dcs && !any({15, 41, 42, 43, 105, 106, 107, 108, 109})) words.emplace_back("standard, 3.85 lines/mm");
  words.emplace_back(c.bit(31) ? "T.6 (MMR)" : c.bit(16) ? "two-dimensional (MR)" : "one-dimensional (MH)");
  constexpr const char* kWidths[4] = {"215 mm", "215, 255 and 303 mm", "215 and 255 mm", "width reserved"};
  constexpr const char* kWidth[4] = {"215 mm", "303 mm", "255 mm", "width reserved"};
  words.emplace_back((dcs ? kWidth : kWidths)[c.bits(17, 2)]);
  constexpr const char* kLength[4] = {"A4", "unlimited length", "B4", "length reserved"};
  words.emplace_back(kLength[c.bits(19, 2)]);
  constexpr const char* kScan[8] = {"20 ms per line",
                                    "40 ms per line",
                                    "10 ms per line",
                                    "10 ms per line, half if fine",
                                    "5 ms per line",
                                    "40 ms per line, half if fine",
                                    "20 ms per line, half if fine",
                                    "0 ms per line"};
  words.emplace_back(kScan[c.bits(21, 3)]);
}

void add_groups(const Capabilities& c, std::vector<std::string>& words) {
  const int t44 = c.bit(92) | c.bit(93) << 1 | c.bit(94) << 2;
  if (t44 != 0) words.push_back(fmt::format("mixed raster content (T.44), mode {}", t44));
  constexpr const char* kMemory[4] = {"", "shared memory of 1 MB", "shared memory of 2 MB", "shared memory of 32 MB"};
  if (c.bits(117, 2) != 0) words.emplace_back(kMemory[c.bits(117, 2)]);
  const int t88 = c.bit(124) | c.bit(125) << 1 | c.bit(126) << 2;
  if (t88 != 0) words.push_back(fmt::format("profile {} of JBIG2 (T.89)", t88));
}

std::vector<std::string> capabilities_in_words(std::span<const std::uint8_t> frame, bool dcs) {
  const Capabilities c(frame);
  std::vector<std::string> words;
  const auto add = [&](const BitField& f) {
    if (!c.bit(f.bit)) return;
    const char* text = dcs ? f.chosen : f.offered;
    if (text == nullptr) {
      words.push_back(fmt::format("reserved bit {}", f.bit));
    } else if (*text != 0) {
      words.emplace_back(text);
    }
  };
  words.emplace_back(dcs ? modulation_chosen(c.bits(11, 4)) : modulations_offered(c.bits(11, 4)));
  for (const BitField& f : kFirst) add(f);
  add_fixed_fields(c, dcs, words);
  for (const BitField& f : kRest) {
    add(f);
    if (f.bit == 27 && dcs && c.bit(27)) words.emplace_back(c.bit(28) ? "frames of 64 octets" : "frames of 256 octets");
  }
  add_groups(c, words);
  for (int bit = 1; bit <= c.last(); ++bit) {
    const auto known = [bit](const BitField& f) { return f.bit == bit; };
    const bool in_table = std::any_of(std::begin(kFirst), std::end(kFirst), known) ||
                          std::any_of(std::begin(kRest), std::end(kRest), known);
    if (c.bit(bit) && !in_table && (bit < 11 || bit >= kFirstOfRest) && bit % 8 != 0)
      words.push_back(fmt::format("reserved bit {}", bit));
  }
  if (c.last() > 128) words.push_back(fmt::format("{} octets beyond bit 128", c.last() / 8 - 16));
  return words;
}

// The last character is sent first.
std::string identification(std::span<const std::uint8_t> characters) {
  std::string text(characters.rbegin(), characters.rend());
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::string non_standard(std::span<const std::uint8_t> fif) {
  const char *country = nullptr, *vendor = nullptr, *model = nullptr;
  if (fif.empty()) return "";
  // t35_decode() compares codes of several octets, whatever the length.
  std::vector<std::uint8_t> padded(fif.begin(), fif.end());
  padded.resize(fif.size() + 16);
  t35_decode(padded.data(), static_cast<int>(fif.size()), &country, &vendor, &model);
  std::string text;
  for (const char* part : {country, vendor, model}) {
    if (part != nullptr) text += (text.empty() ? "" : ", ") + std::string(part);
  }
  return text;
}

std::vector<std::string> requested_frames(std::span<const std::uint8_t> fif) {
  std::string list;
  const auto bit = [&](int n) {
    const auto octet = static_cast<std::size_t>(n) / 8;
    return octet < fif.size() && (fif[octet] >> n % 8 & 1) != 0;
  };
  for (int n = 0; n < 256; ++n) {
    if (!bit(n)) continue;
    int last = n;
    while (last < 255 && bit(last + 1)) ++last;
    // The last bits are set for frames that a short block does not have.
    list += list.empty() ? "" : ", ";
    list += last == n     ? fmt::format("{}", n)
            : last == 255 ? fmt::format("all from {} on", n)
                          : fmt::format("{}-{}", n, last);
    n = last;
  }
  return {fmt::format("send frames of the page again: {}", list.empty() ? "none" : list)};
}

const char* plain_meaning(const std::string& name) {
  static constexpr std::pair<const char*, const char*> kMeanings[] = {
      {"CFR", "the test of the line succeeded"},
      {"FTT", "the test of the line failed"},
      {"MCF", "the page is confirmed"},
      {"RTN", "the page is refused; train again"},
      {"RTP", "the page is accepted; train again"},
      {"PIP", "the page is accepted; an operator is requested"},
      {"PIN", "the page is refused; an operator is requested"},
      {"MPS", "another page follows"},
      {"EOM", "the document ends; another one follows"},
      {"EOP", "that was the last page"},
      {"PRI-MPS", "another page follows; an operator is requested"},
      {"PRI-EOM", "the document ends; an operator is requested"},
      {"PRI-EOP", "that was the last page; an operator is requested"},
      {"CTR", "agrees to the lower rate"},
      {"EOR", "the frames are not sent again"},
      {"ERR", "agrees to that"},
      {"RR", "is the receiver ready?"},
      {"RNR", "the receiver is not ready"},
      {"TNR", "the transmitter is not ready"},
      {"TR", "is the transmitter ready?"},
      {"CRP", "repeat the command"},
      {"FNV", "a field is not valid"},
      {"DCN", "disconnect"}};
  for (const auto& [known, words] : kMeanings) {
    if (name == known) return words;
  }
  return nullptr;
}

std::vector<std::string> one_or_none(std::string text) {
  if (text.empty()) return {};
  return {std::move(text)};
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
}

}  // namespace

std::string fax_frame_name(std::uint8_t control_field) {
  return t30_frametype(control_field);
}

std::vector<std::string> fax_meaning(const std::string& name, std::span<const std::uint8_t> frame) {
  if (frame.size() < kHead) return {};
  const auto fif = frame.subspan(kHead);
  if (is_one_of(name, {"DIS", "DTC", "DCS"})) {
    if (fif.size() < 3) return {};
    return capabilities_in_words(frame, name == "DCS");
  }
  if (is_one_of(name, {"CSI", "TSI", "CIG", "PWD", "SEP", "PSA", "SUB", "SID"}))
    return one_or_none(identification(fif));
  if (is_one_of(name, {"NSF", "NSC", "NSS"})) return one_or_none(non_standard(fif));
  if (name == "CTC" && fif.size() >= 2)
    return {fmt::format("the page continues at {}", modulation_chosen(Capabilities(frame).bits(11, 4)))};
  if (name == "PPR") return requested_frames(fif);
  if (const auto part = partial_page(frame); name == "PPS" && part) {
    const char* then = plain_meaning(part->then);
    return {fmt::format("page {}, block {}, {} {}", part->page + 1, part->block + 1, part->frames,
                        part->frames == 1 ? "frame" : "frames"),
            part->then == "NULL" ? std::string("another block of the page follows")
            : then != nullptr    ? fmt::format("{}: {}", part->then, then)
                                 : part->then};
  }
  const char* words = plain_meaning(name);
  return one_or_none(words != nullptr ? words : "");
}

const char* name_of(PageModem modem) {
  constexpr const char* kNames[] = {"V.27ter", "V.29", "V.17"};
  return kNames[static_cast<int>(modem)];
}

std::optional<PageRate> page_rate(std::span<const std::uint8_t> frame) {
  if (frame.size() < kHead + 2) return std::nullopt;
  return rate_chosen(Capabilities(frame).bits(11, 4));
}

PageFormat page_format(std::span<const std::uint8_t> frame) {
  const Capabilities c(frame);
  PageFormat f;
  f.rate = page_rate(frame);
  f.error_correction = c.bit(27) != 0;
  const bool other = c.bit(26) || c.bit(36) || c.bit(68) || c.bit(78) || c.bit(79) || c.bit(115) || c.bit(116) ||
                     c.bit(127) || c.bits(92, 3) != 0 || c.bit(53) || c.bit(54) || c.bit(55) || c.bit(57) ||
                     c.bit(60) || c.bit(62);
  if (!other) {
    f.coding = c.bit(31) ? PageCoding::kT6 : c.bit(16) ? PageCoding::kTwoDimensional : PageCoding::kOneDimensional;
  }
  // Pixels at 8 pixels/mm of 215, 303 and 255 mm; at 300 dpi one and a half times as many.
  constexpr int kPixels[4] = {1728, 2432, 2048, 1728};
  const int pixels = kPixels[c.bits(17, 2)];
  const bool inches = c.bit(44) != 0;
  struct Resolution {
    int bit;
    int halves;  // of `pixels`
    double x_dpi, y_dpi;
  };
  const Resolution all[] = {{106, 12, 1200, 1200},
                            {109, 6, 600, 1200},
                            {105, 6, 600, 600},
                            {108, 4, 400, 800},
                            {107, 3, 300, 600},
                            {43, 4, inches ? 400.0 : 408.0, inches ? 400.0 : 391.0},
                            {42, 3, 300, 300},
                            {41, 2, inches ? 200.0 : 204.0, inches ? 400.0 : 391.0},
                            {15, 2, inches ? 200.0 : 204.0, inches ? 200.0 : 196.0}};
  f.width = pixels;
  const auto* r = std::find_if(std::begin(all), std::end(all), [&](const Resolution& x) { return c.bit(x.bit) != 0; });
  if (r == std::end(all)) return f;
  f.width = pixels * r->halves / 2;
  f.x_dpi = r->x_dpi;
  f.y_dpi = r->y_dpi;
  return f;
}

std::optional<PartialPage> partial_page(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kPps = kHead + 4;
  if (frame.size() < kPps) return std::nullopt;
  return PartialPage{fax_frame_name(frame[3]), frame[4], frame[5], frame[6] + 1};
}

}  // namespace offhook::decode
