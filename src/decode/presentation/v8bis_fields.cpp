// SPDX-License-Identifier: MIT
#include "src/decode/presentation/v8bis_fields.h"

#include <fmt/format.h>
#include <spandsp.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "dsp/v90/quick_connect.h"
#include "src/decode/call/call.h"

namespace offhook::decode {
namespace {

using Json = nlohmann::ordered_json;
using v8bis::Block;
using v8bis::Field;
using v8bis::Level;

std::string name(const Block& block, int parameter) {
  const char* known = v8bis::parameter_name(block, parameter);
  return known != nullptr ? known : fmt::format("reserved {}", parameter);
}

std::vector<std::string> names(const Block* block) {
  std::vector<std::string> all;
  for (int k = 1; block != nullptr && k <= 63; ++k) {
    if (block->has(k)) all.push_back(name(*block, k));
  }
  return all;
}

// Parameters with subparameters by name, each with its own.
struct Branch {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<Branch> branches;
};

std::vector<Branch> branches(const v8bis::Message& m, Field field, Level level, int spar1) {
  const bool top = level == Level::kSPar1;
  const Block* const block = m.find(field, level, spar1);
  std::vector<Branch> all;
  for (int k = 1; block != nullptr && k <= 63; ++k) {
    if (!block->has(k)) continue;
    if (top) {
      all.push_back({name(*block, k), names(m.find(field, Level::kNPar2, k)), branches(m, field, Level::kSPar2, k)});
    } else {
      all.push_back({name(*block, k), names(m.find(field, Level::kNPar3, spar1, k)), {}});
    }
  }
  return all;
}

std::vector<std::string> in_words(const std::vector<Branch>& all) {
  std::vector<std::string> words;
  for (const Branch& b : all) {
    std::vector<std::string> under = b.parameters;
    for (const std::string& deeper : in_words(b.branches)) under.push_back(deeper);
    words.push_back(under.empty() ? b.name : fmt::format("{}: {}", b.name, fmt::join(under, ", ")));
  }
  return words;
}

std::string in_words(const v8bis::Message& m, Field field) {
  std::string words = fmt::format("{}", fmt::join(names(m.find(field, Level::kNPar1)), ", "));
  for (const std::string& branch : in_words(branches(m, field, Level::kSPar1, 0))) {
    words += (words.empty() ? "" : "; ") + branch;
  }
  return words;
}

Json to_json(const std::vector<Branch>& all) {
  Json j = Json::object();
  for (const Branch& b : all) {
    j[b.name]["parameters"] = b.parameters;
    if (!b.branches.empty()) j[b.name].update(to_json(b.branches));
  }
  return j;
}

Json to_json(const v8bis::Message& m, Field field) {
  Json j = {{"parameters", names(m.find(field, Level::kNPar1))}};
  j.update(to_json(branches(m, field, Level::kSPar1, 0)));
  return j;
}

std::string hex(std::span<const std::uint8_t> octets) {
  return fmt::format("{:02X}", fmt::join(octets, " "));
}

// Country and provider as spandsp's tables of T.35 have them; empty where they do not.
struct Maker {
  std::string country, provider;
};

Maker maker(const v8bis::NonStandard& block) {
  Maker m;
  // Its tables also try the code with its bits turned round, for fax machines that send it so.
  if (t35_real_country_code(block.country, 0) != block.country) return m;
  if (const char* country = t35_country_code_to_str(block.country, 0)) m.country = country;
  std::vector<std::uint8_t> code = {block.country};
  code.insert(code.end(), block.provider(), block.information());
  const char* vendor = nullptr;
  if (t35_decode(code.data(), static_cast<int>(code.size()), nullptr, &vendor, nullptr) && vendor != nullptr)
    m.provider = vendor;
  return m;
}

std::span<const std::uint8_t> provider(const v8bis::NonStandard& b) {
  return {b.provider(), b.provider_size};
}
std::span<const std::uint8_t> information(const v8bis::NonStandard& b) {
  return {b.information(), b.size};
}

std::string in_words(const v8bis::NonStandard& block) {
  const Maker m = maker(block);
  std::string s = m.country;
  if (!m.provider.empty()) s += ", " + m.provider;
  std::string code = fmt::format("{:02X}", block.country);
  if (block.provider_size > 0) code += " " + hex(provider(block));
  s += s.empty() ? code : fmt::format(" ({})", code);
  if (block.size > 0) s += ": " + hex(information(block));
  return s;
}

Json to_json(const v8bis::NonStandard& block) {
  const Maker m = maker(block);
  return {{"country_code", fmt::format("{:02X}", block.country)},
          {"country", m.country.empty() ? Json() : Json(m.country)},
          {"provider_code", hex(provider(block))},
          {"provider", m.provider.empty() ? Json() : Json(m.provider)},
          {"octets", hex(information(block))}};
}

double rounded(double x, double per_unit) {
  return std::round(x * per_unit) / per_unit;
}

}  // namespace

V8bisFields v8bis_fields(const V8bisMessage& heard) {
  const v8bis::Message& m = heard.message;
  V8bisFields f;
  if (heard.malformed)
    f.malformed = fmt::format("octet {}: expected {}", heard.malformed.octet, heard.malformed.expected);
  v90::QuickConnect qc;
  if (v90::decode_qc2(heard.octets.data(), static_cast<int>(heard.octets.size()), &qc)) {
    f.identification = fmt::format("{}2: {}", qc.acknowledge ? "QCA" : "QC", describe(qc));
    return f;
  }
  f.identification = in_words(m, Field::kIdentification);
  f.standard = in_words(m, Field::kStandard);
  for (int k = 0; k < m.non_standards; ++k) {
    f.non_standard += (k > 0 ? "; " : "") + in_words(m.non_standard[k]);
  }
  return f;
}

Json v8bis_json(const V8bisMessage& heard) {
  const v8bis::Message& m = heard.message;
  Json j = {{"t", rounded(heard.t, 1e5)},
            {"octets", hex(heard.octets)},
            {"message_type", m.type},
            {"amp", rounded(heard.amplitude, 1)},
            {"type", heard.type()},
            {"channel", heard.channel},
            {"band", heard.high_band ? "V.21H" : "V.21L"},
            {"fcs", hex(heard.fcs)},
            {"fcs_good", heard.fcs_good},
            {"revision", m.revision}};
  if (heard.malformed) j["malformed"] = {{"octet", heard.malformed.octet}, {"expected", heard.malformed.expected}};
  if (!m.has_parameters()) return j;
  j["identification"] = to_json(m, Field::kIdentification);
  j["standard"] = to_json(m, Field::kStandard);
  j["non_standard"] = Json::array();
  for (int k = 0; k < m.non_standards; ++k) j["non_standard"].push_back(to_json(m.non_standard[k]));
  return j;
}

Json v8bis_json(const V8bisSignal& s) {
  return {{"t0", rounded(s.t0, 1e5)},
          {"t_segment2", rounded(s.t_segment2, 1e5)},
          {"t1", rounded(s.t1, 1e5)},
          {"type", s.name},
          {"station", s.responding ? "responding" : "initiating"},
          {"amp", rounded(s.amplitude, 1)},
          {"channel", s.channel}};
}

}  // namespace offhook::decode
