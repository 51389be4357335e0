"""Runs a tool of tools/ over a small tree made for one test."""
import pathlib
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))  # so that tests may import a tool after this module


def run(tool, files, folder=""):
    """Writes `files` (path -> text) into a temporary folder and runs TOOL on it: (exit code, output)."""
    with tempfile.TemporaryDirectory(prefix="ringward-planted-") as root:
        for name, text in files.items():
            path = pathlib.Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOLS / tool, pathlib.Path(root, folder)],
                              capture_output=True, text=True, check=False)
        return done.returncode, (done.stdout + done.stderr).replace(root + "/", "")
