#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Signals of spandsp's transmitters by ctypes: modems, fax machines, V.8, tones, digits, caller ID.

Every function returns samples as array('h') at 8000 Hz, or two arrays for the ends of a call. `random` is a
random.Random for the sent bits. Needs libspandsp.so.2 (Debian: libspandsp2).
"""
import array, ctypes, struct
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_float, c_int, c_int16, c_uint, c_void_p

RATE_HZ = 8000
BLOCK = 160
GET_BIT = CFUNCTYPE(c_int, c_void_p)
PUT_BIT = CFUNCTYPE(None, c_void_p, c_int)
RESULT = CFUNCTYPE(None, c_void_p, c_void_p)
LIBRARY = ctypes.CDLL("libspandsp.so.2")

# fsk.h
V21_CALLING, V21_ANSWERING, V23_ANSWERING, V23_CALLING, BELL103_ANSWERING, BELL103_CALLING, BELL202, WEITBRECHT, \
    WEITBRECHT_50, V21_110 = range(10)
# modem_connect_tones.h
CNG, ANS, ANS_REVERSED, ANSAM, ANSAM_REVERSED = 1, 2, 3, 4, 5
BELL_ANSWER, CALLING_TONE = 8, 9
# adsi.h
CALLER_ID = {"CLASS": 1, "CLIP": 2}
# v8.h
V8_V22, V8_V32, V8_V34 = 1 << 2, 1 << 9, 1 << 11


class FskSpec(Structure):
    _fields_ = [("name", c_char_p), ("zero_hz", c_int), ("one_hz", c_int), ("tx_level", c_int), ("min_level", c_int),
                ("baud_rate", c_int)]


class V8Parameters(Structure):
    _fields_ = [(name, c_int) for name in ("status", "modem_connect_tone", "send_ci", "v92", "call_function")] + \
               [("modulations", c_uint)] + \
               [(name, c_int) for name in ("protocol", "pstn_access", "pcm_modem_availability", "nsf", "t66")]


def create(function, *arguments):
    function = getattr(LIBRARY, function)
    function.restype = c_void_p
    state = function(None, *arguments)
    if not state:
        raise RuntimeError(f"spandsp: {function.__name__} failed")
    return c_void_p(state)


def run(function, state, seconds, block=BLOCK):
    """Samples of a transmitter, until it has no more, or for `seconds`; a short block is filled with silence."""
    samples, buffer = array.array("h"), (c_int16 * block)()
    while len(samples) < seconds * RATE_HZ:
        n = getattr(LIBRARY, function)(state, buffer, block)
        samples.frombytes(bytes(buffer)[:2 * max(0, n)])
        if n < block:
            break
    return samples


def random_bits(random):
    return GET_BIT(lambda _: random.getrandbits(1))


def start_stop_bits(text, bits=8, stop=1):
    """The caller adds one second of mark; then the characters follow, the lowest bit first."""
    for c in text:
        yield 0
        for k in range(bits):
            yield c >> k & 1
        for _ in range(stop):
            yield 1


def fsk(which, seconds, random, text=None, bits=8):
    """Start-stop characters of `text` (octets), or random bits."""
    spec = (FskSpec * 10).in_dll(LIBRARY, "preset_fsk_specs")[which]
    pending = iter(()) if text is None else start_stop_bits(text, bits)
    marks = [spec.baud_rate // 200]

    def next_bit(_):
        if text is None:
            return random.getrandbits(1)
        if marks[0] > 0:
            marks[0] -= 1
            return 1
        return next(pending, 1)

    callback = GET_BIT(next_bit)
    return run("fsk_tx", create("fsk_tx_init", byref(spec), callback, None), seconds)


def fax_modem(name, bit_rate, seconds, random, echo_protection=False):
    """`name` is v17, v29 or v27ter: the training, then random bits."""
    callback = random_bits(random)
    return run(f"{name}_tx", create(f"{name}_tx_init", bit_rate, int(echo_protection), callback, None), seconds)


def exchange(name, ends, seconds):
    """Both ends of a call: the signals of the calling and the answering end."""
    sent = [array.array("h"), array.array("h")]
    buffer = (c_int16 * BLOCK)()
    transmit, receive = getattr(LIBRARY, f"{name}_tx"), getattr(LIBRARY, f"{name}_rx")
    while len(sent[0]) < seconds * RATE_HZ:
        blocks = []
        for end in ends:
            ctypes.memset(buffer, 0, 2 * BLOCK)
            transmit(end, buffer, BLOCK)
            blocks.append(bytes(buffer))
        for k, block in enumerate(blocks):
            sent[k].frombytes(block)
            receive(ends[1 - k], (c_int16 * BLOCK).from_buffer_copy(block), BLOCK)
    return sent


def v22bis(bit_rate, guard_tone, seconds, random):
    bit, ignore = random_bits(random), PUT_BIT(lambda *_: None)
    ends = [create("v22bis_init", bit_rate, guard_tone, calling, bit, None, ignore, None) for calling in (1, 0)]
    return exchange("v22bis", ends, seconds)


def v8(modulations, call_function, seconds):
    ignore = RESULT(lambda *_: None)
    parameters = [V8Parameters(modem_connect_tone=ANSAM_REVERSED, call_function=call_function,
                               modulations=modulations, protocol=1, nsf=-1, t66=-1) for _ in range(2)]
    ends = [create("v8_init", 1 - k, byref(parameters[k]), ignore, None) for k in range(2)]
    return exchange("v8", ends, seconds)


def tiff(path, lines, random):
    """A page of T.4's width with random bars, uncompressed."""
    width, height = 1728, lines
    rows = b"".join(bytes(random.choice((0x00, 0xFF, 0x0F)) for _ in range(width // 8)) if k % 8 == 0 else
                    bytes(width // 8) for k in range(height))
    entries = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 1), (259, 3, 1, 1), (262, 3, 1, 0), (273, 4, 1, 8),
               (277, 3, 1, 1), (278, 3, 1, height), (279, 4, 1, len(rows)), (296, 3, 1, 2)]
    at = 8 + len(rows)
    resolution = at + 2 + 12 * (len(entries) + 2) + 4
    entries = sorted(entries + [(282, 5, 1, resolution), (283, 5, 1, resolution + 8)])
    with open(path, "wb") as out:
        out.write(struct.pack("<2sHI", b"II", 42, at) + rows + struct.pack("<H", len(entries)))
        for tag, kind, count, value in entries:
            out.write(struct.pack("<HHII", tag, kind, count, value))
        out.write(struct.pack("<IIIII", 0, 204, 1, 98, 1))


def fax(page, received, seconds, error_correction=False):
    """A call of two fax machines. `page` is a TIFF file that the calling machine sends."""
    ends = [create("fax_init", calling) for calling in (1, 0)]
    LIBRARY.fax_get_t30_state.restype = c_void_p
    t30 = [c_void_p(LIBRARY.fax_get_t30_state(end)) for end in ends]
    LIBRARY.t30_set_tx_file(t30[0], str(page).encode(), -1, -1)
    LIBRARY.t30_set_rx_file(t30[1], str(received).encode(), -1)
    for k in range(2):
        LIBRARY.t30_set_ecm_capability(t30[k], int(error_correction))
        LIBRARY.fax_set_transmit_on_idle(ends[k], 1)
    return exchange("fax", ends, seconds)


def connect_tone(which, seconds):
    return run("modem_connect_tones_tx", create("modem_connect_tones_tx_init", which), seconds)


def digits(text, seconds):
    state = create("dtmf_tx_init")
    LIBRARY.dtmf_tx_put(state, text.encode(), -1)
    return run("dtmf_tx", state, seconds)


def caller_id(standard, number, name, seconds):
    """MDMF with date, number and name."""
    state = create("adsi_tx_init", CALLER_ID[standard])
    message = (ctypes.c_uint8 * 256)()
    length = LIBRARY.adsi_add_field(state, message, -1, 0x80, None, 0)
    for kind, text in ((1, "11291200"), (2, number), (7, name)):
        length = LIBRARY.adsi_add_field(state, message, length, kind, text.encode(), len(text))
    LIBRARY.adsi_tx_put_message(state, message, length)
    return run("adsi_tx", state, seconds)
