#!/usr/bin/env python3
"""scripts/setup.sh against a machine made of small fakes: dpkg-query, apt-get and sudo on PATH."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "setup.sh"
DEBIAN_12 = "ID=debian\nVERSION_ID=12\n"
# Everything is installed but what the file `absent` names; asking is logged like installing.
DPKG_QUERY = '#!/bin/sh\nfor name; do :; done\ngrep -qx "$name" "$FAKE/absent" || printf installed\n'
# Notes each call and whether services were blocked at that time, then ends with the status of `apt_status`.
APT_GET = ('#!/bin/sh\necho "apt-get $*" >>"$FAKE/calls"\n[ -x "$RINGWARD_SETUP_POLICY_FILE" ] && '
           'echo blocked >>"$FAKE/calls"\necho "apt says no" \nexit "$(cat "$FAKE/apt_status")"\n')
SUDO = '#!/bin/sh\necho "sudo" >>"$FAKE/calls"\nshift\nexec "$@"\n'


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringward-setup-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "bin").mkdir()
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("sudo", SUDO)):
            (self.root / "bin" / name).write_text(text)
            (self.root / "bin" / name).chmod(0o755)
        self.policy = self.root / "policy-rc.d"
        self.machine()

    def machine(self, absent=(), os_release=DEBIAN_12, apt_status=0):
        (self.root / "absent").write_text("\n".join(absent) + "\n")
        (self.root / "os-release").write_text(os_release)
        (self.root / "apt_status").write_text(str(apt_status))

    def run_setup(self, *arguments):
        """Runs the script: (exit code, output, calls of apt-get without those of sudo)."""
        environment = {**os.environ, "FAKE": str(self.root), "PATH": f"{self.root}/bin:{os.environ['PATH']}",
                       "RINGWARD_SETUP_OS_RELEASE": str(self.root / "os-release"),
                       "RINGWARD_SETUP_POLICY_FILE": str(self.policy)}
        done = subprocess.run([SETUP, *arguments], env=environment, capture_output=True, text=True, check=False)
        calls = self.root / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        return done.returncode, done.stdout + done.stderr, [line for line in lines if line != "sudo"]

    def test_nothing_missing_calls_no_apt(self):
        status, output, calls = self.run_setup("--with-integration", "--with-lint")
        self.assertEqual((status, calls), (0, []))
        self.assertIn("packages are there", output)

    def test_installs_exactly_what_is_missing_with_services_blocked(self):
        self.machine(absent=["libgloo-dev", "ccache"])
        status, output, calls = self.run_setup()
        self.assertEqual(status, 0, output)
        self.assertEqual(calls[1::2], ["blocked", "blocked"])
        self.assertTrue(calls[0].endswith(" update"), calls)
        self.assertTrue(calls[2].endswith("install --no-install-recommends ccache libgloo-dev"), calls)
        self.assertFalse(self.policy.exists())

    def test_the_npm_of_another_nodejs_will_do(self):
        self.machine(absent=["npm"])
        (self.root / "bin" / "npm").write_text("#!/bin/sh\n")
        (self.root / "bin" / "npm").chmod(0o755)
        status, output, calls = self.run_setup("--with-integration")
        self.assertEqual((status, calls), (0, []), output)

    def test_a_failing_apt_is_shown_and_the_block_removed(self):
        self.machine(absent=["cmake"], apt_status=100)
        status, output, _ = self.run_setup()
        self.assertEqual(status, 3)
        self.assertIn("apt says no", output)
        self.assertFalse(self.policy.exists())

    def test_somebody_elses_policy_stays(self):
        self.policy.write_text("#!/bin/sh\nexit 101\n")
        self.machine(absent=["cmake"], apt_status=1)
        self.run_setup()
        self.assertEqual(self.policy.read_text(), "#!/bin/sh\nexit 101\n")

    def test_packages_of_integration_are_asked_for_only_then(self):
        self.machine(absent=["chromium", "clang-tidy-14"])
        self.assertEqual(self.run_setup("--check")[0], 0)
        self.assertEqual(self.run_setup("--check", "--with-integration")[:2], (1, "setup: missing: chromium\n"))
        self.assertEqual(self.run_setup("--check", "--with-lint")[2], [])

    def test_refuses_another_system_in_one_line(self):
        for os_release, named in (("ID=ubuntu\nVERSION_ID=22.04\n", "ubuntu 22.04"), ("ID=arch\n", "arch")):
            with self.subTest(named):
                self.machine(absent=["cmake"], os_release=os_release)
                status, output, calls = self.run_setup()
                self.assertEqual((status, calls), (3, []))
                self.assertTrue(output.startswith(f"setup: needs Debian 12, this is {named};"), output)

    def test_refuses_an_unknown_argument(self):
        self.assertEqual(self.run_setup("--with-everything")[0], 2)


if __name__ == "__main__":
    unittest.main()
