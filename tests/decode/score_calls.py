#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How well recorded calls are decoded: compares `offhook decode` with an independent passive decoder.

    tests/decode/score_calls.py PROGRAM CALLS [FILE...] [--json FOLDER] [--before FOLDER] [--jobs N] [--verbose]

CALLS is a folder of recordings with a truth.json. Each field counts as right, wrong, missing, or
surplus (decoded, but not in the truth). truth.json does not cover data mode, so the good and bad
frames of each direction are printed. With --json, results are kept in FOLDER and not decoded
again. With --before, a FOLDER that another program filled with --json, a table compares frames and
SNR of each direction. Exit status: 0 if the table was printed, 1 if a call could not be decoded.
"""
import argparse, collections, concurrent.futures, json, pathlib, subprocess, sys, tempfile

TONE_S, MOMENT_S = 0.03, 0.003
FIELDS = ("verdict", "v8bis", "v8", "tone", "info", "phase2", "training", "sequence", "change", "data")


def decode(program, wav, out):
    if not out.exists():
        done = subprocess.run([program, "decode", str(wav), "-q", "--json", str(out)], capture_output=True, text=True)
        if not out.exists():
            return f"{wav.name}: exit status {done.returncode}\n{done.stderr}"
    return None


class Score:
    """Counts of right, wrong, missing and surplus, with the details, by kind of field."""

    def __init__(self):
        self.count = collections.defaultdict(collections.Counter)
        self.lines = []

    def put(self, field, result, text):
        self.count[field][result] += 1
        if result != "right":
            self.lines.append(f"  {field} {result}: {text}")

    def value(self, field, name, want, have):
        if want is None and have is None:
            return
        result = "right" if want == have else "missing" if have is None else "surplus" if want is None else "wrong"
        self.put(field, result, f"{name}: {want} expected, {have} read")

    def near(self, field, name, want, have, tolerance):
        both = want is not None and have is not None and abs(want - have) <= tolerance
        self.value(field, name, want, want if both else have)

    def listed(self, field, want, have, tolerance):
        """Lists of (time, key, details): equal keys near in time are one item, whose details are compared."""
        left = list(have)
        for t, key, details in want:
            near = [x for x in left if x[1] == key and abs(x[0] - t) <= tolerance]
            if not near:
                self.put(field, "missing", f"{key} at {t:.3f} s")
                continue
            same = min(near, key=lambda x: abs(x[0] - t))
            left.remove(same)
            self.put(field, "right", "")
            for name, value in details.items():
                if isinstance(value, tuple):
                    self.near(field, f"{key} at {t:.3f} s, {name}", value[0], same[2].get(name), value[1])
                else:
                    self.value(field, f"{key} at {t:.3f} s, {name}", value, same[2].get(name))
        for t, key, _ in left:
            self.put(field, "surplus", f"{key} at {t:.3f} s")


def start_up(s, t, d):
    s.value("verdict", "modulation", t["modulation"], d.get("modulation"))
    for channel in ("call_channel", "answer_channel"):
        s.value("verdict", channel, t[channel], d["roles"].get(channel))
    s.listed("v8bis", [(m["t"], m["octets"], {"channel": m["channel"]}) for m in t.get("v8bis_messages", [])],
             [(m["start_s"], m["octets"], m) for m in d["v8bis"]["messages"]], 0.05)
    for name in ("cm", "jm"):
        want, have = t.get(name), d["v8"].get(name)
        s.value("v8", name, want and want["octets"], have and have["octets"])
        if want and have:
            s.value("v8", f"{name} channel", want["channel"], have["channel"])
            s.near("v8", f"{name} begins", want["t0"], have["start_s"], TONE_S)
            s.near("v8", f"{name} ends", want["t1"], have["end_s"], TONE_S)
    s.near("v8", "CJ", t.get("cj"), d["v8"].get("cj", {}).get("start_s"), TONE_S)
    quick = [t[k] for k in ("qc1", "qca1") if t.get(k)] + t.get("qc_other", [])
    s.listed("v8", [(q["t"], q["octet"], {"name": q["kind"]}) for q in quick],
             [(q["start_s"], q["octet"], q) for q in d["v8"]["quick_connect"]], 0.1)
    s.listed("tone", [(a["t0"], (a["channel"], a["kind"].split()[0]), {"end_s": (a["t1"], TONE_S), "reversals": len(a["reversals"])})
                      for a in t["answer_tones"]],
             [(a["start_s"], (a["channel"], a["name"]), {**a, "reversals": len(a["reversals_s"])})
              for a in d["v8"]["answer_tones"]], TONE_S)


def phase2(s, t, d):
    infos = [i for i in sum((t.get("info") or {}).values(), []) if isinstance(i, dict)]
    have = [(i["start_s"], i["name"], {"channel": i["channel"], "bits": i["bits"][4:-4]}) for i in d["phase2"]["info"]]
    s.listed("info", [(i["t0"], i["type"], {"channel": i["channel"], "bits": i["raw"][4:-4]}) for i in infos], have, MOMENT_S)
    for name in ("tone_A", "tone_B"):
        want, tone = (t.get("phase2") or {}).get(name), d["phase2"].get(name.lower())
        if not want:
            continue
        begins = t["phase2"]["t_start"]
        reversals = [(x, name + " reversal", {}) for x in want["reversals"] if x > begins]
        s.listed("phase2", reversals, [(x, name + " reversal", {}) for x in (tone or {}).get("reversals_s", [])], MOMENT_S)
    probing = [(p["t0"], (x["channel"], "L1"), {"end_s": (p["t1"], TONE_S)})
               for x in (t.get("phase2") or {}).values() if isinstance(x, dict) for p in x["probing"]]
    s.listed("phase2", probing, [(p["l1_start_s"], (p["channel"], "L1"), p) for p in d["phase2"]["probing"]], 0.04)


def merged(moments):
    """Removes duplicates of items that truth.json has under two keys."""
    kept = []
    for x in sorted(moments, key=lambda x: x["t"]):
        if not kept or x["t"] - kept[-1]["t"] > MOMENT_S:
            kept.append(x)
    return kept


def mps(side):
    return side.get("mp", []) + side.get("renegotiation", [])


def training(s, t, d):
    trainings = t.get("trainings") or []
    s.value("training", "trainings", len(trainings), len(d["trainings"]))
    for want, have in zip(trainings, d["trainings"]):
        for key, way in (("tx_1200side", "call_to_answer"), ("tx_2400side", "answer_to_call")):
            if key not in want:
                continue
            side, mine = want[key], have.get(way) or (have.get("upstream") if key == "tx_2400side" else None) or {"segments": []}
            segments = mine["segments"]
            for name in ("symbol_rate", "carrier_hz", "channel"):
                value = mine.get(name)
                s.value("training", f"{way} {name}", round(side[name]), value if value is None else round(value))
            s.listed("training", [(x["t"], f"{way} PP", {}) for x in side["pp"]],
                     [(x["pp_s"], f"{way} PP", {}) for x in segments if "pp_s" in x], MOMENT_S)
            s.listed("training", [(x["t"], f"{way} TRN", {"points": x["points"]}) for x in side["trn"]],
                     [(x["trn"]["start_s"], f"{way} TRN", x["trn"]) for x in segments if "trn" in x], MOMENT_S)
            after = side.get("s_in_data_mode") or []
            s.listed("training", [(x["t"], f"{way} S", {}) for x in merged(side["s"] + after)],
                     [(x["s"]["start_s"], f"{way} S", {}) for x in segments if "s" in x], MOMENT_S)
            s.listed("sequence", [(x["t"], f"{way} J", {"points": x["points"], "end_s": (x["t_end"], MOMENT_S)}) for x in side["j"]],
                     [(x["j"]["start_s"], f"{way} J", x["j"]) for x in segments if "j" in x], MOMENT_S)
            s.listed("sequence", [(x["t_first"], f"{way} MP {x['raw']}", {"end_s": (x["t_last_end"], MOMENT_S)}) for x in mps(side)],
                     [(m["start_s"], f"{way} MP {m['bits']}", m) for x in segments for m in x["mp"]
                      if any(abs(m["start_s"] - o["t_first"]) < 0.1 for o in mps(side))
                      or not any(abs(m["start_s"] - o["t_first"]) < 0.1 for a in after for o in a["mp"])], MOMENT_S)
        cp = [m for x in (have.get("upstream") or {"segments": []})["segments"] for m in x["cp"]]
        s.listed("sequence", [(x["t_first"], f"CP {x['raw']}", {"bit_rate": x["rate"], "name": x["kind"]}) for x in want.get("cp", [])],
                 [(m["start_s"], f"CP {m['bits']}", m) for m in cp], MOMENT_S)
        for way in ("call_to_answer", "answer_to_call"):
            if have.get(way):
                s.value("sequence", f"{way} rate", want.get(f"final_rate_{way}"), have[way].get("bit_rate"))
        s.value("sequence", "downstream rate", want.get("downstream_rate"), have.get("downstream", {}).get("bit_rate"))


def changes(s, t, d):
    down = t.get("cleardown")
    want = [(down["t"], "cleardown", {"channel": down["channel"]})] if down else []
    if t.get("rate_renegotiation"):
        begins = [x["t"] for x in t["after_data_mode"] if x["t"] <= t["rate_renegotiation"]["t"] and x["max_rates"]]
        want.append((max(begins, default=t["rate_renegotiation"]["t"]), "rate renegotiation", {}))
    s.listed("change", want, [(c["start_s"], c["name"], c) for c in d["changes"] if c["name"] != "retrain"], 0.3)


def ways_of(d):
    """All directions of all trainings, with their names."""
    ways = [(way, x) for t in d["trainings"] for way in ("call_to_answer", "answer_to_call", "upstream", "downstream") if (x := t.get(way))]
    return ways + [(way, x) for way in ("call_to_answer", "answer_to_call") if (x := d.get("connection", {}).get(way))]


def before_and_now(files, before, now):
    """Good and bad frames and the SNR of each direction with data, in the decoded calls of two folders."""

    def cell(x):
        if x is None:
            return f"{'-':>5} {'-':>4} {'-':>6}"
        snr = max((m["snr_db"] for m in x["data"]), default=0)
        return f"{sum(len(m['frames']) for m in x['data']):5} {sum(m['bad_frames'] for m in x['data']):4} {snr:6.1f}"

    lines = [f"{'frames good, bad, and SNR in dB':60} {'before':>17}   {'now':>17}"]
    for name in files:
        then, present = (ways_of(json.loads((folder / f"{name}.json").read_text())) for folder in (before, now))
        for k, (way, x) in enumerate(present):
            old = then[k][1] if k < len(then) and then[k][0] == way else None
            if x["data"] or (old and old["data"]):
                lines.append(f"{name[:-4][:44]:44} {way:15} {cell(old)}   {cell(x)}")
    return lines


def data(s, d):
    """One line a direction: from, to, good and bad frames. A direction with E but no frames counts as missing."""
    lines = []
    for way, x in ways_of(d):
        good = sum(len(m["frames"]) for m in x["data"])
        bad = sum(m["bad_frames"] for m in x["data"])
        trained = bool(x["data"]) or any("e" in p for p in x.get("segments", []))
        s.put("data", "right" if good > 0 and bad <= good // 20 else "wrong" if good > 0 else "missing",
              f"{way}: {good} good frames, {bad} bad" + ("" if trained else ", no E read"))
        spans = ", ".join(f"{m['start_s']:.1f} to {m['end_s']:.1f} s {m['snr_db']:.0f} dB" for m in x["data"])
        lines.append(f"  data {way}: {good} good frames, {bad} bad; {spans}")
        if "data_mode" in x:
            lines.append(f"    {x['data_mode']}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("calls", type=pathlib.Path)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--json", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--before", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="each field that is not right")
    options = parser.parse_args()
    truth = json.loads((options.calls / "truth.json").read_text())
    files = options.files or sorted(truth)
    with tempfile.TemporaryDirectory() as kept, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.json or pathlib.Path(kept)
        folder.mkdir(parents=True, exist_ok=True)
        failed = [x for x in pool.map(lambda f: decode(options.program, options.calls / f, folder / f"{f}.json"), files) if x]
        if failed:
            sys.exit("\n".join(failed))
        total = Score()
        for name in files:
            s, d = Score(), json.loads((folder / f"{name}.json").read_text())
            start_up(s, truth[name], d)
            phase2(s, truth[name], d)
            training(s, truth[name], d)
            changes(s, truth[name], d)
            lines = data(s, d)
            counts = {f: s.count[f] for f in FIELDS if sum(s.count[f].values())}
            print(f"{name}: " + ", ".join(f"{f} {c['right']}/{c['right'] + c['wrong'] + c['missing']}"
                                          + (f"+{c['surplus']}" if c["surplus"] else "") for f, c in counts.items()))
            print("\n".join(lines + (s.lines if options.verbose else [])))
            for field, count in s.count.items():
                total.count[field].update(count)
        table = before_and_now(files, options.before, folder) if options.before else []
    if table:
        print("\n".join(table))
    print(f"{'field':10} {'right':>6} {'wrong':>6} {'missing':>8} {'surplus':>8}")
    for field in FIELDS:
        c = total.count[field]
        print(f"{field:10} {c['right']:6} {c['wrong']:6} {c['missing']:8} {c['surplus']:8}")


if __name__ == "__main__":
    main()
