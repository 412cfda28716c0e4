#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the pictures of the README from pages of the built program. Needs Chromium and Pillow (python3-pil).

    docs/images/make.py build/release/src/offhook
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from PIL import Image

IMAGES = pathlib.Path(__file__).resolve().parent
EXAMPLES = IMAGES.parents[1] / "examples"
STYLE = IMAGES.parents[1] / "src/page/assets/page.css"
WIDTH = 1280
LIMIT_BYTES = 150_000
# name: arguments of the program, the page that it writes, height of the picture in pixels
PICTURES = {
    "call": (["run", EXAMPLES / "res-2-8.toml", "--out", "call"], "call/report.html", 1325),
    "decode": (["decode", EXAMPLES / "call.wav", "--html", "decode.html"], "decode.html", 1190),
}
GREYS, COLOURS = 12, 20


def palette(image: Image.Image) -> Image.Image:
    """A few greys for text and spectrograms, the colours of the figures, and those that cover most pixels of the picture."""
    step = 255 / (GREYS - 1)
    chosen = [(round(i * step),) * 3 for i in range(GREYS)]
    light = re.findall(r"--c\d: #(\w{6})", STYLE.read_text())[:8]
    chosen += [tuple(bytes.fromhex(colour)) for colour in light]
    counted = sorted(image.getcolors(image.width * image.height), reverse=True)
    chosen += [rgb for _, rgb in counted if max(rgb) - min(rgb) > 8][:COLOURS]
    result = Image.new("P", (1, 1))
    result.putpalette([value for rgb in chosen for value in rgb] + [0] * (768 - 3 * len(chosen)))
    return result


def main() -> int:
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        for name, (arguments, page, height) in PICTURES.items():
            subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            shot = pathlib.Path(folder) / f"{name}.png"
            subprocess.run(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 f"--window-size={WIDTH},{height}", "--virtual-time-budget=8000", f"--screenshot={shot}",
                 f"file://{folder}/{page}"],
                check=True, capture_output=True,
            )  # fmt: skip
            picture = IMAGES / f"{name}.png"
            image = Image.open(shot).convert("RGB")
            image.quantize(palette=palette(image), dither=Image.Dither.NONE).save(picture, optimize=True)
            size = picture.stat().st_size
            print(f"{picture}: {size} bytes")
            if size > LIMIT_BYTES:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
