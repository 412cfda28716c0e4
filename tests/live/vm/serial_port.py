#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""/dev/ttySM0 for a program that dials, in a virtual machine with the module, a card that rings, and a far modem that
sends a file: lines, AT commands, a call, hang-up by command and by loss of carrier, removal of the device.

usage: serial_port.py OFFHOOK SENT RECORD [v90]     SENT: the file that both ends send; RECORD: folder for the modem's
recordings; v90: only one call, on a card of a digital trunk
"""
import array
import contextlib
import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
import tty

OFFHOOK, SENT, RECORD = sys.argv[1:4]
ON_A_TRUNK = sys.argv[4:] == ["v90"]
PORT, MODULE = "/dev/ttySM0", "offhook"
TRAINING_S, ANSWER_S = 150, 20  # in the guest's time, which counts instructions


def check(condition, what):
    if not condition:
        sys.exit(f"FAIL: {what}")
    print("ok:", what, flush=True)


def wait_until(condition, seconds=ANSWER_S):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Port:
    def __init__(self, clocal=True):
        self.fd = os.open(PORT, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.fd)
        settings = termios.tcgetattr(self.fd)
        settings[2] = settings[2] | termios.CLOCAL if clocal else settings[2] & ~termios.CLOCAL
        termios.tcsetattr(self.fd, termios.TCSANOW, settings)
        self.heard = b""

    def close(self):
        os.close(self.fd)

    def lines(self):
        lines = array.array("i", [0])
        fcntl.ioctl(self.fd, termios.TIOCMGET, lines)
        return lines[0]

    def has(self, line):
        return self.lines() & line != 0

    def counts(self):
        """@return CTS, DSR, RNG and DCD changes so far (struct serial_icounter_struct)"""
        counts = array.array("i", [0] * 20)
        fcntl.ioctl(self.fd, 0x545D, counts)  # TIOCGICOUNT
        return dict(zip(("cts", "dsr", "rng", "dcd"), counts, strict=False))

    def queued(self):
        """@return octets that the modem has not read"""
        octets = array.array("i", [0])
        fcntl.ioctl(self.fd, termios.TIOCOUTQ, octets)
        return octets[0]

    def take(self):
        with contextlib.suppress(BlockingIOError):
            self.heard += os.read(self.fd, 65536)
        return self.heard

    def say(self, text):
        self.heard = b""
        os.write(self.fd, text)

    def expect(self, pattern, seconds=ANSWER_S):
        return wait_until(lambda: re.search(pattern, self.take()), seconds)

    def command(self, text):
        self.say(text.encode() + b"\r")
        return self.expect(rb"OK\r\n")

    def dial(self):
        self.say(b"ATD\r")
        return self.expect(rb"CONNECT \d+\r\n", TRAINING_S)


def run_modem(*more):
    modem = subprocess.Popen([OFFHOOK, "modem", "kernel:0", "--context", "FIFO 50", *more],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return modem


def transfer(port, octets):
    at = port.heard.find(b"CONNECT")
    sent = 0

    def on():
        nonlocal sent
        with contextlib.suppress(BlockingIOError):
            sent += os.write(port.fd, octets[sent:sent + 1024]) if sent < len(octets) else 0
        return octets in port.take()[at:] and sent == len(octets)

    check(wait_until(on, 120), f"{len(octets)} octets both ways")
    time.sleep(4)  # in the guest's time: the sent data arrive


def on_a_trunk(octets):
    """V.90 by AT commands: the modulations of a card with its samples, and a call."""
    modem = run_modem("--out", RECORD)
    port = Port()
    check(wait_until(lambda: port.has(termios.TIOCM_DSR)), "DSR comes with the modem")
    check(port.command("AT+MS=?") and b"V90" in port.heard and b"V34" not in port.heard, "+MS=? has V90 alone: "
          + port.heard.decode(errors="replace").strip().splitlines()[-3])
    port.say(b"AT+MS=V34\r")
    check(port.expect(rb"ERROR\r\n"), "V.34 is refused on a card of other samples")
    check(port.command("ATE0S7=250+MR=1;+MS=V90") and port.dial(), "a call of V.90")
    said = port.heard.decode(errors="replace").split()
    check("+MCR: V90" in port.heard.decode(errors="replace"), f"its carrier and its rates are said: {said}")
    transfer(port, octets)
    port.say(b"+++")
    check(port.expect(rb"OK\r\n") and port.command("ATH"), "it is hung up")
    modem.terminate()
    modem.wait()


def main():
    with open(SENT, "rb") as file:
        octets = file.read()
    if ON_A_TRUNK:
        on_a_trunk(octets)
        return
    port = Port()
    check(not port.has(termios.TIOCM_DSR), "without its program the modem is off")
    modem = run_modem("--out", RECORD)
    check(wait_until(lambda: port.has(termios.TIOCM_DSR)), "DSR and CTS come with it")
    check(port.has(termios.TIOCM_CTS) and not port.has(termios.TIOCM_CAR), "no carrier yet")
    check(port.command("ATE0"), "AT commands are answered")
    modem.send_signal(signal.SIGSTOP)
    port.say(b"AT nonsense, that nobody may hear\r")
    queued = port.queued()
    termios.tcflush(port.fd, termios.TCOFLUSH)
    check(queued > 0 and port.queued() == 0, f"{queued} octets that the modem has not taken, and a flush discards them")
    modem.send_signal(signal.SIGCONT)
    check(port.command("AT") and b"ERROR" not in port.heard, "it did not hear them")
    check(port.expect(rb"RING\r\n", 60) and port.has(termios.TIOCM_RI), "RING, and RI is on")
    check(wait_until(lambda: port.counts()["rng"] > 0), "the end of a ring is counted")

    changed = []
    waiter = threading.Thread(target=lambda: changed.append(fcntl.ioctl(port.fd, termios.TIOCMIWAIT, termios.TIOCM_CD)))
    waiter.start()
    check(port.command("ATS7=250"), "S7")
    check(port.dial(), "a call: " + port.heard.decode(errors="replace").strip().splitlines()[0])
    waiter.join(ANSWER_S)
    check(changed == [0] and port.has(termios.TIOCM_CAR), "DCD is on, and who waited for it knows")
    transfer(port, octets)
    port.say(b"+++")
    check(port.expect(rb"OK\r\n"), "+++ between pauses")
    check(port.command("ATH") and wait_until(lambda: not port.has(termios.TIOCM_CAR)), "ATH, and DCD is off")
    check(port.counts()["dcd"] == 2, "two changes of DCD are counted")

    port.close()
    port = Port(clocal=False)
    check(port.command("ATE0S7=250") and port.dial(), "another call, by a program that listens to the carrier")
    modem.terminate()
    waits = select.poll()
    waits.register(port.fd, select.POLLIN | select.POLLHUP)
    check(wait_until(lambda: any(e & select.POLLHUP for _, e in waits.poll(100))), "it is hung up when the carrier goes")
    modem.wait()
    port.close()

    port = Port()
    modem = run_modem()
    check(wait_until(lambda: port.has(termios.TIOCM_DSR)) and port.command("ATE0S7=250") and port.dial(), "a third call")
    check(subprocess.run(["rmmod", MODULE], stderr=subprocess.DEVNULL, check=False).returncode != 0,
          "the module stays while the port is open")
    drivers = "/sys/bus/pci/drivers/offhook"
    (device,) = [name for name in os.listdir(drivers) if name.startswith("0000:")]
    with open(drivers + "/unbind", "w", encoding="ascii") as file:
        file.write(device)
    try:
        ended = wait_until(lambda: os.read(port.fd, 1000) == b"")
    except BlockingIOError:
        ended = False
    except OSError:
        ended = True
    check(ended and not os.path.exists(PORT), "the device gone in mid-call, the port is hung up and its node gone")
    ended = modem.wait(60), modem.stderr.read()
    check(ended[0] == 1 and "kernel:0" in ended[1], f"the modem's program ends: {ended}")
    port.close()
    check(subprocess.run(["rmmod", MODULE], check=False).returncode == 0, "then the module goes")


if __name__ == "__main__":
    main()
