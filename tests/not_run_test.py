#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""not_run.py with files that ctest itself writes: a skip by exit status, by a sentence and by GoogleTest; no skip; no test; no file."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PASSES = 'add_test(passes "/bin/true")\nadd_test(fails "/bin/false")\n'
SKIPS = PASSES + r'''add_test(no_ppp "/bin/sh" "-c" "echo 'SKIPPED: no /dev/ppp'; exit 77")
set_tests_properties(no_ppp PROPERTIES SKIP_RETURN_CODE 77)
add_test(also_no_ppp "/bin/sh" "-c" "echo 'SKIPPED: no /dev/ppp'; exit 77")
set_tests_properties(also_no_ppp PROPERTIES SKIP_RETURN_CODE 77)
add_test(library "/bin/echo" "skipped: libfec-dev was absent")
set_tests_properties(library PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
add_test(google "/bin/printf" "[ RUN      ] A.B\\n/x/a_test.cpp:7: Skipped\\nno recordings in\\nthe folder\\n\\n[  SKIPPED ] A.B (0 ms)\\n")
set_tests_properties(google PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
'''


def line(tests, files=1):
    """@return the output of not_run.py, which reads the file that often, after ctest has run these tests"""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="ascii") as file:
            file.write(tests)
        subprocess.run(["ctest", "--test-dir", folder, "--output-junit", folder + "/tests.xml"], check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        ran = subprocess.run([sys.executable, HERE + "/not_run.py", *[folder + "/tests.xml"] * files], check=True, capture_output=True, text=True)
        return ran.stdout


def expect(got, expected):
    """Ends the test if they differ."""
    if got != expected:
        sys.exit(f"expected {expected!r}, got {got!r}")


expect(line(""), "")
expect(line(PASSES), "All 2 tests ran.\n")
expect(line(PASSES, files=2), "All 4 tests ran.\n")
expect(line(SKIPS), "4 of 6 tests did not run: no_ppp, also_no_ppp (no /dev/ppp); library (libfec-dev was absent); "
       "google (no recordings in the folder)\n")
absent = subprocess.run([sys.executable, HERE + "/not_run.py", "/nonexistent/tests.xml"], check=False, capture_output=True, text=True)
expect((absent.returncode, "expected a JUnit file of ctest" in absent.stderr), (1, True))
