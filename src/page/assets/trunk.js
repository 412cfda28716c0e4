// SPDX-License-Identifier: MIT
// The page of `offhook trunk-test`: the effect of a telephone network on octets, in both directions.
"use strict";

function trunkPage() {
  const ways = [["A to B", data.a_to_b], ["B to A", data.b_to_a]];
  const octets = section("Octets", "Random octets of G.711, sent by one end for half of the test. Transparent: each arrives unchanged. Mapped: each arrives as " +
    "another fixed one. Altered: the same octet arrives as several.");
  table(octets, ["direction", "octets", "by the map", "loss", "robbed intervals of 6", "samples lost", "jumps", "sender's echo"],
    ways.map(([name, d]) => el("tr", {}, cell(name), cell(d.path), cell((100 * d.same).toFixed(2) + " %"), cell(d.loss_db.toFixed(1) + " dB"),
      cell(d.robbed_intervals.length ? d.robbed_intervals.join(", ") : "none"), lossCell(d.lost_samples), lossCell(d.jumps.length),
      withNote(d.echo ? d.echo.loss_db.toFixed(1) + " dB" : "none", d.echo ? `after ${d.echo.delay_ms.toFixed(1)} ms` : ""))));
  const jumps = ways.flatMap(([name, d]) => d.jumps.map(j => el("tr", {}, cell(name), cell(j.at_s.toFixed(2) + " s"), cell((j.samples / 8).toFixed(3) + " ms"))));
  if (jumps.length) table(section("Jumps of the delay", "A positive value: the delay grew."), ["direction", "at", "by"], jumps);
  const heard = ways.filter(([, d]) => d.tones.length);
  if (!heard.length) return;
  const probing = section("Line probing", "V.34's probing signal L2 as it arrived, and the rate that Phase 2 of Offhook's V.34 pump projects from it.");
  figure(probing, "probing", box => plotFigure(box, {title: "SNR of the probing tones", marks: [], x: {text: "frequency, Hz", min: 0}, y: {text: "SNR, dB", min: 0},
    series: heard.map(([name, d], k) => ({name, style: "line", symbol: k ? "ring" : "dot", variant: k, x: d.tones.map(t => t.frequency_hz), y: d.tones.map(t => t.snr_db)}))}));
  const rate = r => r.bit_rate ? group(r.bit_rate) : "not usable";
  table(probing, ["symbol rate", ...heard.map(([name]) => name + ", bit/s")],
    heard[0][1].rates.map((r, k) => el("tr", {}, cell(Math.round(r.symbol_rate) + " symbols/s"), ...heard.map(([, d]) => cell(rate(d.rates[k]))))));
}
