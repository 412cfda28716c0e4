// SPDX-License-Identifier: MIT
#include "src/lab/reproduce/registry.h"

#include <fmt/format.h>

#include <algorithm>

namespace offhook::reproduce {

namespace {

bool begins(std::string_view id, std::string_view name) {
  return id.starts_with(name) && (id.size() == name.size() || id[name.size()] == '.');
}

bool means(std::string_view name, const Claim& claim) {
  if (begins(claim.published.id(), name)) return true;
  if (claim.experiment == nullptr) return false;
  const auto& figures = claim.experiment->figures;
  return std::any_of(figures.begin(), figures.end(), [&](const std::string& f) { return f == name; });
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = [] {
    std::vector<Experiment> list;
    for (auto* of_paper :
         {jones_experiments, regehr_experiments, cota_experiments, siemens_experiments, chen_experiments}) {
      for (Experiment& e : of_paper()) list.push_back(std::move(e));
    }
    return list;
  }();
  return all;
}

std::vector<Claim> select_claims(std::vector<Published> published, const std::vector<std::string>& names) {
  std::vector<Claim> all;
  for (Published& p : published) {
    const auto& list = experiments();
    const auto found = std::find_if(list.begin(), list.end(), [&](const Experiment& e) { return e.id == p.id(); });
    all.push_back({std::move(p), found == list.end() ? nullptr : &*found});
  }
  for (const Experiment& e : experiments()) {
    if (std::none_of(all.begin(), all.end(), [&](const Claim& c) { return c.experiment == &e; }))
      throw config::Error(fmt::format("an experiment for {}, which is no published claim", e.id));
  }
  if (names.empty()) return all;
  std::vector<bool> wanted(all.size());
  for (const std::string& name : names) {
    bool any = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!means(name, all[i])) continue;
      wanted[i] = any = true;
    }
    if (any) continue;
    std::vector<std::string_view> known;
    for (const Claim& c : all) {
      known.push_back(c.published.id());
      if (c.experiment != nullptr)
        known.insert(known.end(), c.experiment->figures.begin(), c.experiment->figures.end());
    }
    throw config::Error(
        fmt::format("\"{}\" is no claim and no figure; the nearest is \"{}\" (`offhook reproduce --list` "
                    "shows all)",
                    name, config::nearest(name, known)));
  }
  std::vector<Claim> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wanted[i]) out.push_back(std::move(all[i]));
  }
  return out;
}

}  // namespace offhook::reproduce
