"""Command lines and what must come of them: one row a case. Add rows for every subcommand.

Patterns are regular expressions over the whole stream; "" means that nothing was printed.
"""
import dataclasses
import re


@dataclasses.dataclass
class Case:
    title: str
    program: str  # "ringward", or "demo" (demo.cc)
    args: list
    code: int
    out: str = ""
    err: str = ""
    files: dict = dataclasses.field(default_factory=dict)
    env: dict = dataclasses.field(default_factory=dict)


def exactly(text):
    return re.escape(text) + "\n"


def bad_option(title, args, line, **kw):
    """`demo options ARGS` prints one line and exits with 2."""
    return Case(title, "demo", ["demo", "options", *args], 2, "", exactly("ringward demo options: " + line), **kw)


FRAME = [
    Case("no subcommand", "ringward", [], 2, "", exactly("ringward: no subcommand given (`ringward --help` lists them)")),
    Case("version", "ringward", ["--version"], 0, r"ringward \d+\.\d+\.\d+\n"),
    Case("help of the program", "ringward", ["--help"], 0, r".*Usage: ringward SUBCOMMAND.*completion .*Example:.*"),
    Case("-h", "ringward", ["-h"], 0, r".*Usage: ringward.*"),
    Case("help as a word", "ringward", ["help"], 0, r".*Usage: ringward.*"),
    Case("help of a subcommand", "ringward", ["completion", "--help"], 0,
         r".*Usage: ringward completion \[options\] SHELL\n.*--json .*--config FILE .*Example:.*Exit codes:.*"),
    Case("help SUBCOMMAND", "ringward", ["help", "completion"], 0, r".*Usage: ringward completion .*"),
    Case("help in spite of a bad flag", "ringward", ["completion", "--nonsense", "--help"], 0, r".*Usage: .*"),
    Case("help of something unknown", "ringward", ["help", "nothing"], 2, "", exactly("ringward: unknown subcommand 'nothing'")),
    Case("unknown subcommand", "ringward", ["completon"], 2, "",
         exactly("ringward: unknown subcommand 'completon' (did you mean completion?)")),
    Case("beginning of a subcommand", "ringward", ["comp"], 2, "",
         exactly("ringward: unknown subcommand 'comp' (did you mean completion?)")),
    Case("unknown flag before the subcommand", "ringward", ["--verison"], 2, "",
         exactly("ringward: unknown option '--verison' (did you mean --version?)")),
    Case("control characters stay on one line", "ringward", ["a\nb\x1b[31m"], 2, "",
         exactly(r"ringward: unknown subcommand 'a\nb\x1b[31m'")),
    Case("completion without a shell", "ringward", ["completion"], 2, "",
         exactly("ringward completion: missing SHELL: one of bash, zsh")),
    Case("completion of an unknown shell", "ringward", ["completion", "bsh"], 2, "",
         exactly("ringward completion: SHELL: got 'bsh', expected one of bash, zsh (did you mean bash?)")),
    Case("completion with a word too many", "ringward", ["completion", "bash", "zsh"], 2, "",
         exactly("ringward completion: unexpected argument 'zsh'")),
    Case("json", "ringward", ["completion", "bash", "--json"], 0, r'\{\n  "script": "# bash .*"\n\}\n'),
    Case("run without a program", "ringward", ["run", "-np", "2"], 2, "",
         exactly("ringward run: a program is needed: ringward run -np 4 -- PROGRAM ...")),
    Case("run of a program that is not there", "ringward", ["run", "--", "no-such-program"], 2, "",
         exactly("ringward run: no-such-program: no such program in PATH")),
    Case("run of a file that is no program", "ringward", ["run", "--", "./notes.txt"], 2, "",
         r".*ringward run: \./notes\.txt: not a program that can be started\n", files={"notes.txt": "text"}),
    Case("run over a recording that exists", "ringward", ["run", "--record", "old.rwrec", "--", "true"], 2, "",
         exactly("ringward run: --record old.rwrec: exists, and a recording holds one run"), files={"old.rwrec": "x"}),
    Case("options of the program before --", "ringward", ["run", "true", "--lr", "1"], 2, "",
         exactly("ringward run: unknown option --lr")),
    Case("run tags each line with its rank", "ringward", ["run", "--no-watch", "-q", "--", "printf", "a\nb"], 0, r"\[0\] a\n\[0\] b"),
    Case("run without tags", "ringward", ["run", "--no-watch", "--no-tags", "-q", "--", "printf", "a\\r50%%\\r\\n"], 0, "a\n50%\n"),
    Case("run passes a status on", "ringward", ["run", "--no-watch", "-q", "--", "sh", "-c", "exit 42"], 42, "",
         r"ringward: rank 0 .* exited with status 42.*"),
    Case("run with a document", "ringward", ["run", "--no-watch", "-q", "--json", "--", "true"], 0,
         r'\{\n  "exit_code": 0,\n  "ranks": 1,\n  "culprit": null,\n  "message": ""\n\}\n'),
    Case("an alert to no address", "ringward", ["watch", "--webhook", "host:80"], 2, "",
         exactly("ringward watch: --webhook: 'host:80' is no http:// or https:// address")),
    Case("an alert to no program", "ringward", ["watch", "--alert-command", "no-such-program"], 2, "",
         exactly("ringward watch: --alert-command: 'no-such-program' is no program that can be started")),
    Case("a silence of nothing", "ringward", ["watch", "--silence", "slow-rank"], 2, "",
         exactly("ringward watch: --silence: 'slow-rank' is not KEY=VALUE,… with keys job, cause, category, severity, rank")),
    Case("a test alert to nobody", "ringward", ["watch", "--test-alert"], 2, "",
         exactly("ringward watch: --test-alert: no receiver is given (--alertmanager, --webhook, …)")),
    Case("a test alert to a program", "ringward", ["watch", "--test-alert", "--alert-command", "true"], 0, r"command \S*true: ok\n"),
    Case("a test alert that is not taken", "ringward", ["watch", "--test-alert", "--json", "--alert-command", "false"], 3,
         r'.*"ok": false,\n +"error": "exited with status 1".*'),
    Case("family without a subcommand", "demo", ["demo"], 2, "",
         exactly("ringward demo: needs a subcommand: options, end")),
    Case("family help", "demo", ["demo", "--help"], 0, r"Usage: ringward demo SUBCOMMAND.*demo options .*demo end .*"),
    Case("unknown nested subcommand", "demo", ["demo", "optoins"], 2, "",
         exactly("ringward: unknown demo subcommand 'optoins' (did you mean demo options?)")),
]

DEFAULTS = """data = []
out = ""
epochs = 10
rate = 0.1
wait = "500ms"
hidden = [128, 64]
ranks = 1
fruit = "apple"
size = "64KiB"
shuffle = true
"""


def echo(title, args, changed, **kw):
    """`demo options ARGS` prints the defaults with these lines in place of theirs."""
    lines = {line.split(" = ")[0]: line for line in DEFAULTS.splitlines()}
    for line in changed:
        lines[line.split(" = ")[0]] = line
    return Case(title, "demo", ["demo", "options", *args], 0, exactly("\n".join(lines.values())), **kw)


OPTIONS = [
    echo("defaults", [], []),
    echo("-np N", ["-np", "4"], ["ranks = 4"]),
    echo("-np=N and the long name", ["-np=4", "--ranks", "5"], ["ranks = 5"]),
    echo("greedy list up to the next flag", ["--data", "a", "-", "-1", "--epochs", "3"],
         ['data = ["a", "-", "-1"]', "epochs = 3"]),
    echo("comma list", ["--hidden", "8,4", "--hidden", "2"], ["hidden = [8, 4, 2]"]),
    echo("empty list", ["--hidden="], ["hidden = []"]),
    echo("no-flag", ["--no-shuffle"], ["shuffle = false"]),
    echo("numbers in a German locale", ["--rate", "0.25"], ["rate = 0.25"], env={"LC_ALL": "de_DE.UTF-8"}),
    echo("file", ["--config", "c.toml"], ["epochs = 7", 'wait = "2s"'],
         files={"c.toml": 'epochs = 3\n[demo.options]\nepochs = 7\nwait = "2s"\n[demo.end]\nhow = "x"\n'}),
    echo("flags win over the file", ["--epochs", "9", "--config", "c.toml"], ["epochs = 9"],
         files={"c.toml": "epochs = 3\n"}),
    bad_option("unknown flag", ["--epoch", "3"], "unknown option --epoch (did you mean --epochs?)"),
    bad_option("number out of range", ["--epochs", "0"], "--epochs: got '0', expected a whole number, x >= 1"),
    bad_option("decimal comma", ["--rate", "0,5"], "--rate: got '0,5', expected a number, 0 < x <= 1"),
    bad_option("missing value", ["--rate", "--epochs", "3"], "--rate needs a value: a number, 0 < x <= 1"),
    bad_option("key in the file", ["--config", "c.toml"], "c.toml:2:1: unknown key ephocs (did you mean epochs?)",
               files={"c.toml": "# first\nephocs = 3\n"}),
    bad_option("value in the file", ["--config", "c.toml"],
               "c.toml:3:8: rate: got '2.5', expected a number, 0 < x <= 1",
               files={"c.toml": "[demo.options]\n\nrate = 2.5\n"}),
    bad_option("file that is not there", ["--config", "none.toml"], "none.toml: No such file or directory"),
    bad_option("folder as a file", ["--config", "."], ".: Is a directory"),
    Case("json turns NaN and infinity into null", "demo", ["demo", "options", "--json", "--rate", "0.1"], 0,
         '\\{\n  "rate": 0.1,\n  "nan": null,\n  "infinite": null,\n  "bytes": "\ufffd"\n\\}\n'),
    Case("help shows defaults and ranges", "demo", ["demo", "options", "--help"], 0,
         r".*-np, --ranks N +processes \[default: 1; 1 <= x <= 4096\].*--\[no-\]shuffle .*"),
]

ENDS = [
    Case("found", "demo", ["demo", "end", "found"], 1),
    Case("corrupt input", "demo", ["demo", "end", "corrupt"], 2, "",
         exactly("ringward demo end: model.bin:7: checksum differs")),
    Case("timeout", "demo", ["demo", "end", "timeout"], 3, "", exactly("ringward demo end: rank 3 is silent")),
    Case("out of memory", "demo", ["demo", "end", "memory"], 3, "", exactly("ringward: out of memory")),
    Case("an exception that escaped", "demo", ["demo", "end", "throw"], 3, "",
         exactly(r"ringward: unexpected failure: two\nlines")),
    Case("log lines", "demo", ["demo", "end", "log"], 0, "",
         r'\S+T\S+Z info medium ranks=4 note="two words"\n\S+Z warning large\n'),
    Case("quiet", "demo", ["demo", "end", "log", "-q"], 0, "", r"\S+Z warning large\n"),
    Case("verbose", "demo", ["demo", "end", "log", "-v"], 0, "", r"\S+Z debug small\n.*"),
    Case("log level", "demo", ["demo", "end", "log", "--log-level", "off"], 0),
    Case("log file in a folder that is not there", "demo", ["demo", "end", "log", "--log-file", "/dev/null/x"], 3, "",
         r"ringward demo end: .*\(while opening the log file\)\n"),
    Case("no bar without a terminal", "demo", ["demo", "end", "progress"], 0, "", r"\S+Z info halfway\n"),
]

TINY_BENCH = ["bench", "train", "--layers", "5,3,5", "--batch", "7", "--seconds", "0.01"]
BENCH = [
    Case("bench train", "ringward", TINY_BENCH, 0, r"# one thread.*\nbatch .* wrong\n +7 .* 0\n"),
    Case("bench train on the least kernels", "ringward", [*TINY_BENCH, "--isa", "baseline", "--json"], 0,
         r'.*"isa": "baseline".*"batch": 7,.*"wrong": 0\n.*'),
    Case("bench telemetry", "ringward", ["bench", "telemetry", "--seconds", "0.001"], 0,
         r"call .* what\nmetric +\d+\.\d .*\nphase .*\ncollective .*\nstep .*\nwhole-step .*\noff .*\nclock .*\nhost-sample .*\n"),
    Case("bench telemetry as JSON", "ringward", ["bench", "telemetry", "--seconds", "0.001", "--json"], 0,
         r'\{\n  "calls": \[\n.*"call": "metric",\n      "ns_median": \d.*\}\n'),
    Case("bench allreduce of more than there is", "ringward", ["bench", "allreduce", "-np", "1024", "-e", "16G"], 3, "",
         r"ringward bench allreduce: 1024 ranks need 1\.64e\+04 GiB of memory for buffers of --end, \S+ GiB are available\n"),
    Case("bench train with one width", "ringward", ["bench", "train", "--layers", "5"], 2, "",
         exactly("ringward bench train: --layers needs at least two widths, e.g. 20,10,20")),
    Case("bench train of a width of 0", "ringward", ["bench", "train", "--layers", "5,0,5"], 2, "",
         r"ringward bench train: --layers: got '0', .*\n"),
]

SIMULATE = [
    Case("simulated table on standard output", "ringward",
         ["simulate", "table", "--rows", "2", "--sensors", "4", "--out", "-", "--start", "2026-03-01"], 0,
         r"timestamp,flow_m3h,inflow_m3h,tank_level_m,suction_pressure_bar,mode,label,kind,faulty_sensor\n"
         r"2026-03-01T00:00:00Z,(\d+\.\d,){2}(\d\.\d{3},){2}\w+,0,normal,none\n2026-03-01T00:05:00Z,.*\n"),
    Case("simulated table in a file", "ringward",
         ["simulate", "table", "--rows", "100", "--anomalies", "0.1", "--kinds", "spike,drift", "--out", "t.csv"], 0,
         r"t\.csv: 100 rows, 10 of them anomalous, 21 columns\n  drift +5 rows in 1 event\n  spike +5 rows in \d events\n"),
    Case("simulated table as json", "ringward",
         ["simulate", "table", "--rows", "100", "--anomalies", "0", "--out", "t.csv", "--json"], 0,
         r'\{\n  "file": "t.csv",\n  "seed": 0,\n  "rows": 100,\n  "anomalous_rows": 0,.*"kinds": \[\]\n\}\n'),
    Case("simulated table without a file", "ringward", ["simulate", "table"], 2, "",
         exactly("ringward simulate table: missing --out: a file, or - for standard output")),
    Case("simulated table of an unknown kind", "ringward",
         ["simulate", "table", "--out", "t.csv", "--kinds", "drfit"], 2, "",
         r"ringward simulate table: --kinds: got 'drfit', expected .*drift, spike.*\n"),
    Case("simulated table with too many anomalies", "ringward",
         ["simulate", "table", "--out", "t.csv", "--anomalies", "0.6"], 2, "",
         exactly("ringward simulate table: --anomalies: got '0.6', expected a number, 0 <= x <= 0.5")),
    Case("simulated table at no time", "ringward",
         ["simulate", "table", "--out", "t.csv", "--start", "yesterday"], 2, "",
         exactly("ringward simulate table: --start: got 'yesterday', expected a time like 2026-01-05T00:00:00Z, "
                 "from 1970 to 9999")),
    Case("simulated table in no folder", "ringward", ["simulate", "table", "--out", "none/t.csv"], 2, "",
         r"ringward simulate table: none/t\.csv: .*\n"),
    Case("simulated table twice on standard output", "ringward", ["simulate", "table", "--out", "-", "--json"], 2, "",
         exactly("ringward simulate table: --json and --out - both want standard output: name a file with --out")),
]

WATCH = [
    Case("help of watch", "ringward", ["watch", "--help"], 0, r".*Usage: ringward watch .*--once.*--record FILE.*Example:.*"),
    Case("watch too often", "ringward", ["watch", "--interval", "1ms"], 2, "",
         exactly("ringward watch: --interval: got '1ms', expected a duration such as 30s, 500ms or 2m, 100ms <= x <= 1m")),
    Case("watch that records over something", "ringward", ["watch", "--once", "--record", "there"], 2, "",
         exactly("ringward watch: --record there: exists, and a recording holds one run"), {"there": "x"}),
    Case("watch with an argument", "ringward", ["watch", "job"], 2, "",
         exactly("ringward watch: unexpected argument 'job'")),
    *(Case(f"watch, {title}", "ringward", ["watch", "--once", *args], 2, "", exactly("ringward watch: " + line), files)
      for title, args, line, files in (
          ("no port", ["--listen", "127.0.0.1"],
           "--listen 127.0.0.1: expected an IP address and a port, such as 127.0.0.1:9188 or [::1]:0", {}),
          ("a name", ["--listen", "node7:9188"],
           "--listen node7:9188: expected an IP address and a port, such as 127.0.0.1:9188 or [::1]:0", {}),
          ("open to all", ["--listen", "0.0.0.0:9188"],
           "--listen 0.0.0.0:9188: can be reached from other machines, which needs --token-file, --tls-cert and --tls-key", {}),
          ("open to all with a token", ["--listen", "[::]:9188", "--token-file", "token"],
           "--listen [::]:9188: can be reached from other machines, which needs --token-file, --tls-cert and --tls-key",
           {"token": "0123456789abcdef"}),
          ("half of TLS", ["--listen", "127.0.0.1:0", "--tls-cert", "cert"], "--tls-cert and --tls-key belong together", {}),
          ("a token for nobody", ["--token-file", "token"], "--token-file: means nothing without --listen", {}),
          ("a short token", ["--listen", "127.0.0.1:0", "--token-file", "token"],
           "--token-file token: expected one line of 16 to 512 printable characters without blanks", {"token": "secret"}))),
    *(Case(f"watch over hosts, {title}", "ringward", ["watch", *args], 2, "", exactly("ringward watch: " + line))
      for title, args, line in (
          ("agents from nowhere", ["--agents"], "--agents: means nothing without --listen"),
          ("whom to believe where nobody is asked", ["--agent-ca", "cert"], "--agent-ca: means nothing without --agent-of"),
          ("an agent that records", ["--agent-of", "https://a:1", "--record", "r"], "--record: is the aggregator's, not an agent's"),
          ("an agent that alerts", ["--agent-of", "https://a:1", "--heartbeat", "http://b"],
           "--heartbeat: is the aggregator's, not an agent's"),
          ("an agent that reads logs", ["--agent-of", "https://a:1", "--log", "l"], "--log: is the aggregator's, not an agent's"),
          ("both at once", ["--agent-of", "https://a:1", "--listen", "127.0.0.1:0"], "--listen: is the aggregator's, not an agent's"),
          ("in the clear", ["--agent-of", "http://10.0.0.1:9188"],
           "--agent-of http://10.0.0.1:9188: goes to another machine, which needs https://"),
          ("no address", ["--agent-of", "node0:9188"], "--agent-of node0:9188: expected an address like https://node0:9188"),
          ("TLS that is none", ["--agent-of", "http://127.0.0.1:1", "--agent-ca", "cert"], "--agent-ca: means nothing without https://"))),
    Case("watch without its token", "ringward", ["watch", "--once", "--listen", "127.0.0.1:0", "--token-file", "token"], 2, "",
         r"ringward watch: .*token.*No such file or directory.*\n"),
    Case("watch with a certificate that is none", "ringward",
         ["watch", "--once", "--listen", "127.0.0.1:0", "--tls-cert", "cert", "--tls-key", "cert"], 2, "",
         r"ringward watch: --tls-cert cert: .*\n", {"cert": "x"}),
]

CASES = FRAME + OPTIONS + ENDS + BENCH + SIMULATE + WATCH
