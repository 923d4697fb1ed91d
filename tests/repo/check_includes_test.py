"""The include check must let good trees pass and name every kind of wrong include."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_includes.py"
TABLE = "tendril_room(low)\ntendril_room(mid USES low)\ntendril_room(top USES mid LIBRARIES ${SOME})\ntendril_room(other)\n"


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "CMakeLists.txt").write_text(TABLE)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, SCRIPT, root], capture_output=True, text=True)


class CheckIncludes(unittest.TestCase):
    def refuses(self, name, text, message):
        result = check({name: text})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(message, result.stdout)

    def test_down_and_through_is_allowed(self):
        result = check({"src/top/a.cpp": '#include "tendril/mid/a.h"\n#include "tendril/low/a.h"\n#include "top/private.h"\n#include <fmt/core.h>\n',
                        "include/tendril/low/a.h": "#include <Eigen/Core>\n#include <vector>\n"})
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("2 files checked, 0 includes", result.stdout)

    def test_up_is_refused(self):
        self.refuses("src/low/a.cpp", '\n#include "tendril/mid/a.h"\n', "src/low/a.cpp:2: tendril/mid/a.h: room 'low' must not use 'mid'")

    def test_sideways_is_refused(self):
        self.refuses("include/tendril/mid/a.h", "#include <tendril/other/a.h>\n", "room 'mid' must not use 'other'")

    def test_private_header_of_another_room_is_refused(self):
        self.refuses("src/mid/a.cpp", '#include "low/private.h"\n', "a private header of another room")

    def test_private_header_in_a_public_one_is_refused(self):
        self.refuses("include/tendril/mid/a.h", '#include "mid/private.h"\n', "must not include a private one")

    def test_foreign_package_in_a_public_header_is_refused(self):
        self.refuses("include/tendril/low/a.h", "#include <fmt/core.h>\n", "no package but Eigen")

    def test_unknown_room_is_refused(self):
        self.refuses("src/cellar/a.cpp", "int a;\n", "lies in no room")

    def test_empty_tree_is_refused(self):
        self.assertNotEqual(check({}).returncode, 0)


if __name__ == "__main__":
    unittest.main()
