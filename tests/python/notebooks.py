#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the notebooks of examples/notebooks with the installed package offhook, and compares or stores their outputs.

    notebooks.py [--write] [FOLDER]

Stored outputs are text and PNG only. Without --write, each notebook must be stored with outputs and be smaller than
150 kB, and a run must print the stored lines again. Needs nbclient, ipykernel and matplotlib.
"""

import argparse
import pathlib
import sys

import nbclient
import nbformat

LIMIT_BYTES = 150_000
KEPT = ("text/plain", "image/png")


def run(file):
    """@return the notebook with the outputs of a complete run, without values that differ between runs"""
    notebook = nbformat.read(file, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(file.parent)}}).execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        cell.metadata.clear()
        if "outputs" in cell:  # warnings of libraries
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.get("outputs", []):
            if "data" in output:
                output["data"] = {kind: output["data"][kind] for kind in KEPT if kind in output["data"]}
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def printed(notebook):
    return "".join(output.get("text", "") for output in outputs(notebook) if output.output_type == "stream")


def problems(file):
    """@return differences between the stored notebook and a run, as text"""
    stored = nbformat.read(file, as_version=4)
    found = []
    if not any("image/png" in output.get("data", {}) for output in outputs(stored)):
        found.append("is stored without a picture")
    other = {kind for output in outputs(stored) for kind in output.get("data", {})} - set(KEPT)
    if other:
        found.append(f"has outputs of {', '.join(sorted(other))}; expected text and PNG only")
    if file.stat().st_size > LIMIT_BYTES:
        found.append(f"has {file.stat().st_size} bytes; expected at most {LIMIT_BYTES}")
    again = run(file)
    if printed(again) != printed(stored):
        found.append(f"printed {printed(again)!r}; stored is {printed(stored)!r}")
    if len(outputs(again)) != len(outputs(stored)):
        found.append(f"made {len(outputs(again))} outputs; {len(outputs(stored))} are stored")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the outputs")
    default = pathlib.Path(__file__).resolve().parents[2] / "examples/notebooks"
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default)
    options = parser.parse_args()
    failed = False
    for file in sorted(options.folder.glob("*.ipynb")):
        if options.write:
            nbformat.write(run(file), file)
            print(f"{file.name}: {file.stat().st_size} bytes")
            continue
        found = problems(file)
        failed |= bool(found)
        print(f"{file.name}: " + ("; ".join(found) or "prints the stored lines"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
