#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Verdicts of `offhook decode` on generated signals of 20 kinds at 5 to 60 dB, and their probabilities.

    tests/decode/signals.py PROGRAM FOLDER [--count N] [--seed N] [--jobs N] [--fit FILE] [--report FILE] [--half HALF] [--all]
        [--only KIND]

Makes N signals (default 500, 5 to 30 s) in FOLDER and decodes them; existing signals and results are kept. Half of each
kind is for fitting: --fit writes its table of probabilities for src/decode/call/hypotheses.cpp. The report is about the
other, held-out half: wrong names, the share of true statements among those with a probability of at least 95 %, and the
recognition by kind, SNR and length with 95 % bounds (Wilson). Programs: spandsp, minimodem, direwolf's gen_packets,
sox; PROGRAM itself for V.34, V.90, V.32bis. Exit status: 0 if the held-out half has no wrong name, 1 if it has one, 77
if a program is missing.
"""
import argparse, array, audioop, cmath, collections, concurrent.futures, json, math, pathlib, random, shutil, \
    subprocess, sys, tempfile, wave

import spandsp

RATE_HZ = 8000
SNRS_DB = (5, 10, 15, 20, 25, 30, 40, 50, 60)
LENGTHS_S = (5, 5, 5, 6, 6, 8, 10, 12, 20, 30)
NOTHING = "no modem found"
ROOT = pathlib.Path(__file__).resolve().parents[2]


def clock(rate):
    return f"another signal of {rate} symbols/s"


class Made:
    """Channels of a signal without noise, its program, and the names true for it, the most exact one first."""

    def __init__(self, channels, program, *names):
        self.channels, self.program, self.names = channels, program, names


# ---- programs

def read_wav(path):
    with wave.open(str(path)) as f:
        frames, channels = f.readframes(f.getnframes()), f.getnchannels()
    if channels == 1:
        return [array.array("h", frames)]
    return [array.array("h", audioop.tomono(frames, 2, 1 - k, k)) for k in range(2)]


def write_wav(path, channels):
    with wave.open(str(path), "wb") as f:
        f.setparams((len(channels), 2, RATE_HZ, 0, "NONE", ""))
        if len(channels) == 2:
            mixed = array.array("h", bytes(4 * len(channels[0])))
            mixed[0::2], mixed[1::2] = channels
            f.writeframes(mixed.tobytes())
        else:
            f.writeframes(channels[0].tobytes())


def characters(r, n):
    return bytes(r.choice(b"etaoin shrdluETAOIN0123456789.,\r\n") for _ in range(n))


def run(*command, send=None, statuses=(0,)):
    done = subprocess.run([str(c) for c in command], input=send, capture_output=True)
    if done.returncode not in statuses:
        raise RuntimeError(f"{command}: exit status {done.returncode}\n{done.stderr.decode()}")


def minimodem(work, r, mode, seconds, octets_a_s, *options):
    out = work / "minimodem.wav"
    run("minimodem", "--tx", "-q", "-R", RATE_HZ, "-f", out, *options, mode, send=characters(r, int(seconds * octets_a_s)))
    return read_wav(out)[0]


def sox(work, seconds, *effects):
    """-R: the random numbers of sox are the same in every run."""
    out = work / "sox.wav"
    run("sox", "-R", "-n", "-r", RATE_HZ, "-c", 1, "-b", 16, out, *effects, "trim", 0, seconds)
    return read_wav(out)[0]


def direwolf(work, r, seconds, *options):
    raw, out = work / "direwolf.wav", work / "direwolf8.wav"
    frames = b"".join(b"W%dAB-%d>APDW12:" % (r.randrange(10), r.randrange(1, 15)) +
                      characters(r, 40).translate(None, b"\r\n") + b"\n" for _ in range(150))
    run("gen_packets", *options, "-o", raw, "-", send=frames)
    run("sox", "-R", raw, "-r", RATE_HZ, "-c", 1, "-b", 16, out, "trim", 0, seconds)
    return read_wav(out)[0]


def own_call(shared, modem, number):
    """Both directions of a simulated call, made once for all signals that are cut from it."""
    out = shared.folder / f"call-{modem}-{number}"
    if not (out / "line8.wav").exists():
        example = ROOT / "examples" / ("v90.toml" if modem == "v90" else "v34.toml")
        run(shared.program, "run", example, "--context", "INT", "--out", out, "--set", f"pump.modem={modem}", "--set",
            f"seed={number + 1}", "--set", f"transfer.bytes={20000 if modem == 'v32bis' else 40000}")
        run("sox", "-R", out / "line.wav", "-r", RATE_HZ, "-b", 16, out / "line8.wav")  # V.90's has 16 kHz
    return read_wav(out / "line8.wav")


# ---- kinds: (shared, work folder, random, seconds) -> Made

def two_tones(which_of):
    def make(shared, work, r, seconds):
        which, name = r.choice(which_of)
        sent = characters(r, 4000) if r.random() < 0.8 else None
        return Made([spandsp.fsk(which, seconds, r, sent, r.choice((7, 8)))], "spandsp", name)
    return make


v21 = two_tones([(spandsp.V21_CALLING, "V.21"), (spandsp.V21_ANSWERING, "V.21")])
v23 = two_tones([(spandsp.V23_CALLING, "V.23"), (spandsp.V23_ANSWERING, "V.23"), (spandsp.V23_ANSWERING, "V.23")])


def bell103(shared, work, r, seconds):
    if r.random() < 0.5:
        return Made([minimodem(work, r, 300, seconds, 30)], "minimodem", "Bell 103")
    return Made([minimodem(work, r, 300, seconds, 30, "-M", 2225, "-S", 2025)], "minimodem", "Bell 103")


def bell202(shared, work, r, seconds):
    if r.random() < 0.5:
        return Made([minimodem(work, r, 1200, seconds, 120)], "minimodem", "Bell 202")
    return Made([direwolf(work, r, seconds, "-B", 1200)], "direwolf", "Bell 202")


def packet(shared, work, r, seconds):
    names, *options = r.choice((([], "-B", 300), ([clock(1200)], "-j"), ([clock(1200)], "-J"),
                                ([clock(1600)], "-B", 4800), ([], "-B", 9600)))
    return Made([direwolf(work, r, seconds, *options)], "direwolf", *names)


def other_two_tones(shared, work, r, seconds):
    if r.random() < 0.3:
        which = r.choice((spandsp.WEITBRECHT, spandsp.WEITBRECHT_50, spandsp.V21_110))
        return Made([spandsp.fsk(which, seconds, r, characters(r, 400), 5)], "spandsp")
    mode, octets, *options = r.choice((("rtty", 6), ("tdd", 5.6), ("same", 65),
                                       (300, 30, "-M", 1500, "-S", 1700), (600, 60, "-M", 1300, "-S", 1700),
                                       (200, 20, "-M", 1070, "-S", 1270), (150, 15, "-M", 1650, "-S", 1850),
                                       (1000, 100, "-M", 1200, "-S", 2200), (300, 30, "-M", 1180, "-S", 1380),
                                       (100, 10, "-M", 2025, "-S", 2225), (1200, 120, "-M", 1200, "-S", 1800)))
    return Made([minimodem(work, r, mode, seconds, octets, *options)], "minimodem")


def fax_carrier(name, rates):
    def make(shared, work, r, seconds):
        rate, symbols = r.choice(rates)
        return Made([spandsp.fax_modem(name, rate, seconds, r, r.random() < 0.3)], "spandsp", clock(symbols))
    return make


v27ter = fax_carrier("v27ter", [(2400, 1200), (4800, 1600)])
v29 = fax_carrier("v29", [(4800, 2400), (7200, 2400), (9600, 2400)])
v17 = fax_carrier("v17", [(7200, 2400), (9600, 2400), (12000, 2400), (14400, 2400)])


def v22bis(shared, work, r, seconds):
    rate = r.choice((1200, 2400))
    call = spandsp.v22bis(rate, r.choice((0, 0, 1, 2)), seconds, r)
    return Made(call, "spandsp", "V.22bis" if rate == 2400 else "V.22", clock(600))


def fax(shared, work, r, seconds):
    page = work / "page.tif"
    spandsp.tiff(page, 300, r)
    return Made(spandsp.fax(page, work / "received.tif", seconds, r.random() < 0.5), "spandsp", "fax")


def v8(shared, work, r, seconds):
    if r.random() < 0.2:
        return Made(spandsp.v8(spandsp.V8_V34, r.choice((4, 5)), seconds), "spandsp", "fax", "V.8", "ANSam alone",
                    "ANSam, then an unidentified signal")
    return Made(spandsp.v8(r.choice((spandsp.V8_V34, spandsp.V8_V34 | spandsp.V8_V32 | spandsp.V8_V22)), 6, seconds),
                "spandsp", "V.8", "ANSam alone", "ANSam, then an unidentified signal")


def connect_tones(shared, work, r, seconds):
    which, *names = r.choice(((spandsp.ANS, "ANS alone"), (spandsp.ANS_REVERSED, "ANS alone"),
                              (spandsp.ANSAM, "ANSam alone"), (spandsp.ANSAM_REVERSED, "ANSam alone"),
                              (spandsp.CNG, "fax"), (spandsp.BELL_ANSWER,), (spandsp.CALLING_TONE,)))
    return Made([spandsp.connect_tone(which, seconds)], "spandsp", *names)


def caller_id(shared, work, r, seconds):
    number, name = "".join(r.choice("0123456789") for _ in range(10)), r.choice(("ADA", "GRACE HOPPER", "K ZUSE"))
    standard = r.choice(("CLASS", "CLIP"))
    # Its modem is named if the message cannot be read.
    return Made([spandsp.caller_id(standard, number, name, seconds)], "spandsp", "caller ID",
                "Bell 202" if standard == "CLASS" else "V.23")


def call_progress(shared, work, r, seconds):
    if r.random() < 0.3:
        return Made([spandsp.digits("".join(r.choice("0123456789*#") for _ in range(40)), seconds)], "spandsp")
    dial, busy, ring, europe = ((350, 440), 1e9, 0), ((480, 620), 0.5, 0.5), ((440, 480), 2, 4), ((425,), 0.5, 0.5)
    tones, on, off = r.choice((dial, busy, ring, europe))
    synth = [part for hz in tones for part in ("sine", hz)]
    effects = ["synth", min(on, seconds), *synth, "remix", "-"]
    if off:
        effects += ["pad", 0, off, "repeat", int(seconds / (on + off)) + 1]
    return Made([sox(work, seconds, *effects)], "sox")


def sound(shared, work, r, seconds):
    hz = r.choice((110, 220, 330, 440))
    effects = r.choice((["synth", seconds, "whitenoise"], ["synth", seconds, "pinknoise"], ["synth", seconds, "brownnoise"],
                        ["synth", 0.5, "pluck", hz, "repeat", int(2 * seconds)],
                        ["synth", seconds, "sine", "300-3300"], ["synth", seconds, "square", hz],
                        ["synth", seconds, "sawtooth", hz, "tremolo", 7, 80],
                        ["synth", seconds, "sine", 1200, "synth", seconds, "sine", "amod", 100],
                        ["synth", seconds, "sine", 1800, "synth", seconds, "square", "amod", 300],
                        ["synth", seconds, "sine", 2400, "synth", seconds, "sine", "fmod", 30],
                        ["synth", seconds, "pinknoise", "band", 1800, 600], ["synth", 0.2, "exp", "200-3000", "repeat",
                                                                             int(5 * seconds)]))
    return Made([sox(work, seconds, *effects, "gain", "-n", -9)], "sox")


def keyed(r, seconds, carrier_hz, baud, points, shaped):
    """Symbols of `points` on a carrier: raised-cosine pulses with roll-off 0.3 to 1, or rectangular pulses."""
    roll_off, n = r.choice((0.3, 0.5, 1.0)), int(seconds * RATE_HZ)
    symbols = [r.choice(points) for _ in range(int(seconds * baud) + 20)]
    reach, out = (5 if shaped else 0), []
    for i in range(n):
        at = i * baud / RATE_HZ
        middle = int(at)
        if shaped:
            z = 0j
            for k in range(max(0, middle - reach), middle + reach + 1):
                u = at - k + 1e-7
                d = 1 - 4 * roll_off * roll_off * u * u
                z += symbols[k] * (math.sin(math.pi * u) / (math.pi * u) * math.cos(math.pi * roll_off * u) /
                                   (d if abs(d) > 1e-9 else 1e-9))
        else:
            z = symbols[middle]
        out.append((z * cmath.exp(2j * math.pi * carrier_hz * i / RATE_HZ)).real)
    return out


def others(shared, work, r, seconds):
    """Modems of no Recommendation: one carrier with an unusual symbol rate, several, many frequencies."""
    seconds = min(seconds, 8)
    psk = [cmath.exp(2j * math.pi * k / 8) for k in range(8)]
    qam = [complex(a, b) / 3 for a in (-3, -1, 1, 3) for b in (-3, -1, 1, 3)]
    kind = r.choice(("one", "one", "several", "frequencies"))
    if kind == "one":
        baud = r.choice((800, 1000, 1500, 1800, 2000))
        x = keyed(r, seconds, r.choice((1500, 1700, 1800)), baud, r.choice((psk, psk[::2], qam)), True)
        names = [clock(baud)]
    elif kind == "several":
        baud, shaped, carriers = r.choice((50, 100, 150)), r.random() < 0.5, r.choice((4, 8))
        x = [sum(v) / carriers for v in zip(*(keyed(r, seconds, 700 + 250 * k, baud, psk[::2], shaped)
                                              for k in range(carriers)))]
        names = [clock(baud)]
    else:
        baud, many, apart = r.choice((50, 100, 200)), r.choice((4, 8, 16)), r.choice((50, 100))
        phase, x, hz = 0.0, [], 0
        for i in range(int(seconds * RATE_HZ)):
            if i % (RATE_HZ // baud) == 0:
                hz = 1500 + apart * (r.randrange(many) - many / 2)
            phase += hz / RATE_HZ
            x.append(math.sin(2 * math.pi * phase))
        names = [clock(baud)]
    return Made([array.array("h", (int(6000 * v) for v in x))], "own", *names)


CALLS = 4  # simulated by this project, for each modem


def cut(channels, from_s, seconds):
    return [x[int(from_s * RATE_HZ):int((from_s + seconds) * RATE_HZ)] for x in channels]


def own(modem, data_mode, share, *names):
    """A simulated call from its start or, for a share of them, 8 s of its data mode without training."""
    def make(shared, work, r, seconds):
        channels = own_call(shared, modem, r.randrange(CALLS))
        if r.random() < share:
            length = min(seconds, 8)
            return Made(cut(channels, len(channels[0]) / RATE_HZ - length - 1.5, length), "own", *data_mode)
        return Made(cut(channels, 0, max(12, seconds)), "own", *names)
    return make


v34 = own("v34", ["V.34"], 0.4, "V.34", "V.8", "ANSam alone", "ANSam, then an unidentified signal")
v90 = own("v90", [], 0, "V.90", "V.8", "ANSam alone", "ANSam, then an unidentified signal")
v32bis = own("v32bis", [clock(2400)], 0.4, "V.32bis", "V.32 or V.32bis", clock(2400), "ANS alone",
             "ANS, then an unidentified signal")

KINDS = (v21, v23, bell103, bell202, packet, other_two_tones, v27ter, v29, v17, v22bis, fax, v8, connect_tones,
         caller_id, call_progress, sound, others, v34, v90, v32bis)
NAMES = ("V.21", "V.23", "Bell 103", "Bell 202, AX.25", "other packet radio", "other two tones", "V.27ter", "V.29",
         "V.17", "V.22bis, V.22", "fax call", "V.8", "answer and calling tones", "caller ID", "call progress, digits",
         "noise and music", "other carriers", "V.34", "V.90", "V.32bis")


# ---- the line

def power_of(x):
    """Mean square of the 20 ms blocks with a signal: within 20 dB of the loudest."""
    blocks = [audioop.rms(x[at:at + 160].tobytes(), 2) ** 2 for at in range(0, len(x) - 159, 160)]
    loud = [b for b in blocks if b > max(blocks, default=0) / 100 and b > 0]
    return sum(loud) / len(loud) if loud else 0.0


def on_a_line(made, r, snr_db):
    """Adds silence, attenuation, noise; mu-law or A-law to a third; mixes half of those with two directions."""
    length = max(len(x) for x in made.channels)
    before, behind = (int(r.uniform(0.3, 1.0) * RATE_HZ) for _ in range(2))
    channels = [array.array("h", bytes(2 * before) + x.tobytes() + bytes(2 * (length - len(x) + behind)))
                for x in made.channels]
    powers = [p for p in map(power_of, channels) if p > 0]
    if len(channels) == 2 and r.random() < 0.5:
        channels = [array.array("h", audioop.add(channels[0].tobytes(), channels[1].tobytes(), 2))]
    gain = 10 ** (-r.uniform(0, 20) / 20)
    noise = gain * math.sqrt(min(powers, default=1000.0 ** 2)) * 10 ** (-snr_db / 20)
    channels = [array.array("h", (max(-32768, min(32767, round(gain * v + r.gauss(0, noise)))) for v in x))
                for x in channels]
    law = r.choice((None, None, None, None, audioop.lin2ulaw, audioop.lin2alaw))
    if law is not None:
        back = audioop.ulaw2lin if law is audioop.lin2ulaw else audioop.alaw2lin
        channels = [array.array("h", back(law(x.tobytes(), 2), 2)) for x in channels]
    return channels


HALVES = ("fitting", "held-out")


def half_of(number):
    """Half of each kind."""
    return number // len(KINDS) % 2


class Shared:
    def __init__(self, program, folder, seed):
        self.program, self.folder, self.seed = program, folder, seed


def make_and_decode(shared, number):
    """@return the facts about a signal, and the statements about it"""
    kind = number % len(KINDS)
    base = shared.folder / f"{number:04}"
    wav, facts, said = (base.with_suffix(s) for s in (".wav", ".facts", ".json"))
    if not facts.exists():
        r = random.Random(shared.seed * 1_000_003 + number)
        snr_db, seconds = r.choice(SNRS_DB), r.choice(LENGTHS_S)
        with tempfile.TemporaryDirectory() as work:
            made = KINDS[kind](shared, pathlib.Path(work), r, seconds)
        write_wav(wav, on_a_line(made, r, snr_db))
        facts.write_text(json.dumps({"number": number, "kind": NAMES[kind], "program": made.program, "snr_db": snr_db,
                                     "length_s": len(made.channels[0]) / RATE_HZ, "names": made.names}))
    if not said.exists():
        run(shared.program, "decode", wav, "-q", "--json", said, statuses=(0, 2))  # 2: no modem found
    documents = json.loads(said.read_text())
    documents = documents if isinstance(documents, list) else [documents]
    return json.loads(facts.read_text()), [d["verdict"] for d in documents]


# ---- results

def result_of(fact, verdicts):
    """`recognised`, `true` (a true but not the most exact name), `nothing` or `wrong`."""
    said = [v["technology"] for v in verdicts if v.get("evidence_kind")]
    if any(name not in fact["names"] for name in said):
        return "wrong"
    if not said:
        return "nothing" if fact["names"] else "recognised"
    return "recognised" if fact["names"][0] in said else "true"


def wilson(k, n, z=1.96):
    if n == 0:
        return 0.0, 1.0
    p, d = k / n, 1 + z * z / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d
    middle = (p + z * z / (2 * n)) / d
    return max(0.0, middle - half), min(1.0, middle + half)


def fit(statements):
    """For each kind of evidence, the probability of a statement by its strength. Isotonic regression (pool adjacent
    violators) of true statements by strength; a block of n, of which k are true, has (k + 1/2) / (n + 1)."""
    rows = []
    for kind in sorted({s["kind"] for s in statements}):
        blocks = []  # [least strength, true, all]
        for s in sorted((s for s in statements if s["kind"] == kind), key=lambda s: s["strength"]):
            blocks.append([s["strength"], int(s["true"]), 1])
            while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
                _, k, n = blocks.pop()
                blocks[-1][1] += k
                blocks[-1][2] += n
        probabilities = [(k + 0.5) / (n + 1) for _, k, n in blocks]
        # A small block of true statements gets a lower probability than a large one below it.
        for k in range(len(probabilities) - 1, 0, -1):
            probabilities[k - 1] = min(probabilities[k - 1], probabilities[k])
        for (strength, k, n), p in zip(blocks, probabilities):
            rows.append((kind, strength, p, k, n))
    return rows


def statements_of(results):
    return [{"kind": v["evidence_kind"], "strength": v["evidence_strength"], "probability": v.get("probability", 0),
             "true": v["technology"] in fact["names"], "fact": fact, "verdict": v}
            for fact, verdicts in results for v in verdicts if v.get("evidence_kind")]


def table(rows, columns):
    widths = [max(len(str(r[k])) for r in [columns, *rows]) for k in range(len(columns))]
    lines = ["| " + " | ".join(f"{str(v):{w}}" for v, w in zip(r, widths)) + " |" for r in [columns, *rows]]
    return "\n".join([lines[0], "| " + " | ".join("-" * max(3, w) for w in widths) + " |", *lines[1:]])


def recognition(results, title, key, order):
    groups = collections.defaultdict(collections.Counter)
    for fact, verdicts in results:
        groups[key(fact)][result_of(fact, verdicts)] += 1
    rows = []
    for group in order:
        c = groups[group]
        n = sum(c.values())
        if n:
            low, high = wilson(c["recognised"], n)
            rows.append((group, n, c["recognised"], c["true"], c["nothing"], c["wrong"],
                         f"{100 * low:.0f} to {100 * high:.0f} %"))
    return table(rows, (title, "signals", "recognised", "true, less exact", "nothing named", "wrong", "recognised, 95 % bounds"))


def report(results):
    statements = statements_of(results)
    wrong = [s for s in statements if not s["true"]]
    sure = [s for s in statements if s["probability"] >= 0.95]
    true = sum(s["true"] for s in sure)
    low, high = wilson(len(wrong), len(results))
    others = sum(fact["program"] != "own" for fact, _ in results)
    out = [f"{len(results)} signals, {others} of them by spandsp, minimodem, direwolf and sox. {len(statements)} statements; "
           f"{len(wrong)} wrong names (95 % bounds {100 * low:.1f} to {100 * high:.1f} % of the signals).",
           f"Statements with a probability of 95 % or more: {len(sure)}, of which {true} are true "
           f"({100 * true / max(1, len(sure)):.1f} %).", ""]
    for s in wrong:
        out.append(f"- {s['fact']['number']} ({s['fact']['kind']}, {s['fact']['snr_db']} dB): {s['verdict']['technology']}")
    lengths = ["under 8 s", "8 to 15 s", "over 15 s"]
    length = lambda f: lengths[(f["length_s"] >= 8) + (f["length_s"] > 15)]
    out += ["", recognition(results, "kind", lambda f: f["kind"], NAMES), "", recognition(results, "SNR, dB", lambda f: f["snr_db"], SNRS_DB),
            "", recognition(results, "length", length, lengths)]
    return "\n".join(out) + "\n", len(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500, help="number of signals")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fit", type=pathlib.Path, help="write the table of probabilities of the fitting half")
    parser.add_argument("--report", type=pathlib.Path, help="write the report instead of printing it")
    parser.add_argument("--half", choices=HALVES, help="make and decode this half only")
    parser.add_argument("--all", action="store_true", help="report both halves")
    parser.add_argument("--only", help="only kinds that contain this text")
    arguments = parser.parse_args()
    absent = [name for name in ("minimodem", "gen_packets", "sox") if shutil.which(name) is None]
    if absent:
        print(f"not on this machine: {', '.join(absent)} (Debian: minimodem, direwolf, sox)")
        return 77
    arguments.folder.mkdir(parents=True, exist_ok=True)
    shared = Shared(arguments.program, arguments.folder.resolve(), arguments.seed)
    numbers = [n for n in range(arguments.count) if arguments.half in (None, HALVES[half_of(n)]) and
               (arguments.only is None or arguments.only in NAMES[n % len(KINDS)])]
    for modem in ("v34", "v90", "v32bis"):
        for k in range(CALLS):
            own_call(shared, modem, k)
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(make_and_decode, [shared] * len(numbers), numbers))
    halves = [[r for r in results if half_of(r[0]["number"]) == half] for half in range(2)]
    if arguments.fit:
        rows = fit(statements_of(halves[0]))
        arguments.fit.write_text("".join(f"    {{EvidenceKind::k{kind.title().replace(' ', '')}, {strength:.1f}, {p:.3f}}},  // {k} of {n}\n"
                                         for kind, strength, p, k, n in rows))
    text, wrong = report(results if arguments.all else halves[1])
    if arguments.report:
        arguments.report.write_text(text)
    else:
        print(text, end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
