import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Sandbox } from "../../fixtures/sallyport.ts";

const box = new Sandbox();
after(() => box.remove());

/** Invalid command lines and their exact error messages. */
const MISTAKES: [args: string[], stderr: string][] = [
  [["rnu"], "unknown command `rnu`; did you mean `run`?\n  Try `sallyport --help`."],
  [["lgos", "x"], "unknown command `lgos`; did you mean `logs`?\n  Try `sallyport --help`."],
  [["stop", "web"], "unknown command `stop`; did you mean `kill`?\n  Try `sallyport --help`."],
  [["version"], "unknown command `version`; did you mean `--version`?\n  Try `sallyport --help`."],
  [["-v"], "unknown option `-v`; did you mean `-V`?\n  Try `sallyport --help`."],
  [["xyzzy"], "unknown command `xyzzy`\n  Try `sallyport --help`."],
  [["constructor"], "unknown command `constructor`\n  Try `sallyport --help`."],
  [["--jsno", "ps"], "unknown option `--jsno`; did you mean `--json`?\n  Try `sallyport --help`."],
  [
    ["run", "--timout", "5", "true"],
    "unknown option `--timout`; did you mean `--timeout`?\n  Try `sallyport run --help`.",
  ],
  [["run", "-x"], "unknown option `-x`\n  Try `sallyport run --help`."],
  [["ps", "--all=yes"], "option `--all` takes no value; received `yes`\n  Try `sallyport ps --help`."],
  [["logs", "web", "--tail"], "option `--tail` requires a value\n  Try `sallyport logs --help`."],
  [["run"], "no command given; use `-- PROGRAM [ARG...]` or `-c TEXT`\n  Try `sallyport run --help`."],
  [["run", "-c", " "], "`-c` must not be empty\n  Try `sallyport run --help`."],
  [
    ["run", "-c", "echo", "hi"],
    "unexpected argument `hi` after `-c TEXT`; quote the whole text\n  Try `sallyport run --help`.",
  ],
  [
    ["run", "--timeout", "soon", "--", "true"],
    "`--timeout` must be a duration such as 90, 90s, 250ms, 5m or 1h30m; received `soon`\n  Try `sallyport run --help`.",
  ],
  [
    ["run", "--disk-cap", "-1", "--", "true"],
    "`--disk-cap` must be a size such as 4096, 64K, 64M or 1G; received `-1`\n  Try `sallyport run --help`.",
  ],
  [
    ["run", "--cpu", "0", "--", "true"],
    "`--cpu` must be a number greater than 0, such as 0.5 or 2; received `0`\n  Try `sallyport run --help`.",
  ],
  [
    ["kill", "-s", "TREM", "web"],
    "`--signal` must be a signal such as TERM, SIGINT or 9 (did you mean `SIGTERM`?); received `TREM`\n  Try `sallyport kill --help`.",
  ],
  ...["0", "65", "-9"].map((signal): [string[], string] => [
    ["kill", "-s", signal, "web"],
    `\`--signal\` must be a signal such as TERM, SIGINT or 9 (did you mean \`SIGIO\`?); received \`${signal}\`\n  Try \`sallyport kill --help\`.`,
  ]),
  [
    ["logs", "--offset", "-5", "web"],
    "`--offset` must be a whole number; received `-5`\n  Try `sallyport logs --help`.",
  ],
  [
    ["logs", "--stream", "stdin", "web"],
    "`--stream` must be one of stdout, stderr, merged; received `stdin`\n  Try `sallyport logs --help`.",
  ],
  [
    ["logs", "--since", "yesterday", "web"],
    "`--since` must be a duration such as 5m, or a time such as 2026-11-15T03:00:00Z; received `yesterday`\n  Try `sallyport logs --help`.",
  ],
  ...[":", "0:", "5", "1:0", "-5:3", "a:b"].map((range): [string[], string] => [
    ["logs", "--lines", range, "web"],
    `\`--lines\` must be a range such as 10:20, 10:, :20 or -20:; received \`${range}\`\n  Try \`sallyport logs --help\`.`,
  ]),
  [
    ["logs", "--tail", "5", "--lines", "1:", "web"],
    "use only one of `--tail`, `--lines` and `--offset`/`--limit`\n  Try `sallyport logs --help`.",
  ],
  ...["", "maybe", "0", "65536", "80,", "80,x"].map((network): [string[], string] => [
    ["run", "--network", network, "--", "true"],
    `\`--network\` must be on, off or TCP ports such as 80,443; received \`${network}\`\n  Try \`sallyport run --help\`.`,
  ]),
  [
    ["run", "--sandbox", "loose", "--", "true"],
    "`--sandbox` must be one of off, read-only, workspace-write, isolated; received `loose`\n  Try `sallyport run --help`.",
  ],
  [["check"], "no command given; use `-- COMMAND...`, `-c TEXT` or `--ndjson`\n  Try `sallyport check --help`."],
  [
    ["check", "-c", "ls", "x"],
    "unexpected argument `x` after `-c TEXT`; quote the whole text\n  Try `sallyport check --help`.",
  ],
  [
    ["check", "--security", "none", "ls"],
    "`--security` must be one of deny, allowlist, full; received `none`\n  Try `sallyport check --help`.",
  ],
  [["run", "-e", "=x", "--", "true"], "`--env` must be NAME=VALUE; received `=x`\n  Try `sallyport run --help`."],
  [
    ["run", "-e", "NO_SUCH_VARIABLE", "--", "true"],
    "`--env NO_SUCH_VARIABLE`: variable `NO_SUCH_VARIABLE` is not set\n  Try `sallyport run --help`.",
  ],
];

for (const [args, expected] of MISTAKES) {
  test(`rejects sallyport ${args.join(" ")}`, async () => {
    const { stdout, stderr, code } = await box.run(args);
    assert.deepEqual({ stdout, stderr, code }, { stdout: "", stderr: `sallyport: ${expected}\n`, code: 125 });
  });
}

test("prints a usage error as JSON on stderr with --json", async () => {
  const { stdout, stderr, code } = await box.run(["run", "--json"]);
  assert.deepEqual({ stdout, code }, { stdout: "", code: 125 });
  assert.deepEqual(JSON.parse(stderr), {
    error: {
      type: "InvalidRequest",
      message: "no command given; use `-- PROGRAM [ARG...]` or `-c TEXT`",
      recovery: [{ action: "show_help", hint: "Try `sallyport run --help`." }],
    },
  });
});

test("reports a stdout that cannot be written", async () => {
  const { stderr, code } = await box.run(["--help"], { shell: "> /dev/full" });
  assert.match(
    stderr,
    /^sallyport: cannot write to stdout: .*no space left[^\n]*\n {2}Check the file or program that stdout is redirected to\.\n$/,
  );
  assert.equal(code, 125);
});

test("exits without a message when the reader of stdout closes the pipe", async () => {
  // The reader closes the pipe before anything is written.
  const { stderr, code } = await box.run(["--help"], { shellBefore: "exec 3> >(true); wait $!;", shell: ">&3" });
  assert.deepEqual({ stderr, code }, { stderr: "", code: 141 });
});
