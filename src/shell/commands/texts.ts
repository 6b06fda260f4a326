/** Models programs that run shell text given as an argument. */

import { type Field, joinFields, tail } from "../expand/field.ts";
import { normalize } from "../path.ts";
import { type Call, markCommandUnknown, type Runner } from "../walk/call.ts";
import { NO_CONTENT } from "../walk/state.ts";
import { contentOf, fileContent } from "../walk/streams.ts";
import { hasOption, type OptionSpec, optionValue, optionValues, readOptions } from "./options.ts";
import { shellCode, shellInput } from "./stdin-code.ts";

interface TextRunner extends OptionSpec {
  /** Options whose value is shell text. */
  text: readonly string[];
}

/** Programs with options that hold shell text. */
export const TEXT_OPTIONS: Record<string, TextRunner> = {
  script: {
    short: "c:aeE:fI:m:O:o:qT:t::B:",
    long: "command= log-in= log-out= log-io= quiet return append flush timing",
    text: ["c", "command"],
  },
  tar: {
    short: "I:F:C:f:b:g:H:K:L:N:T:X:V:",
    long: "use-compress-program= to-command= info-script= new-volume-script= rsh-command= rmt-command= checkpoint-action= checkpoint directory= file= exclude= strip-components= transform=",
    text: [
      "I",
      "use-compress-program",
      "to-command",
      "F",
      "info-script",
      "new-volume-script",
      "rsh-command",
      "rmt-command",
    ],
  },
  rsync: {
    short: "e:f:T:B:M:",
    long: "rsh= rsync-path= exclude= include= filter= files-from=",
    text: ["e", "rsh", "rsync-path"],
  },
  split: {
    short: "a:b:C:l:n:t:",
    long: "filter= bytes= lines= number= suffix-length=",
    text: ["filter"],
  },
  sort: {
    short: "k:o:S:t:T:",
    long: "compress-program= output= key= field-separator= temporary-directory= buffer-size= parallel= files0-from=",
    text: ["compress-program"],
  },
  man: {
    short: "P:H::C:M:S:s:L:m:p:r:R:E:T::",
    long: "pager= html config-file= manpath= locale= preprocessor=",
    text: ["P", "pager", "H", "html"],
  },
  tcpdump: { short: "z:w:r:i:c:C:G:W:Z:F:s:", text: ["z"] },
  "nix-shell": { short: "p:", long: "run= command= packages=", text: ["run", "command"] },
  nodemon: { short: "x:e:w:i:", long: "exec= ext= watch= ignore=", text: ["x", "exec"] },
  "cargo-watch": { short: "x:s:w:", long: "exec= shell=", text: ["s", "shell"] },
  vagrant: { short: "c:", long: "command=", text: ["c", "command"] },
  zip: { short: "b:n:t:x:i:", long: "unzip-command=", text: ["TT", "unzip-command"] },
  wget: { long: "use-askpass=", text: ["use-askpass"] },
  hyperfine: {
    short: "p:c:S:w:r:s:",
    long: "prepare= cleanup= setup= shell= warmup= runs=",
    text: ["p", "prepare", "c", "cleanup", "s", "setup"],
  },
  doppler: { long: "command= project= config= token=", text: ["command"] },
  bpftrace: { short: "c:p:e:o:", text: ["c"] },
  execlineb: { short: "c:p:s:S:", text: ["c"] },
};

export function textOption(call: Call, run: Runner): void {
  const spec = TEXT_OPTIONS[call.name];
  if (!spec) return;
  const options = readOptions(call.argv, spec);
  for (const value of optionValues(options, ...spec.text)) run.text(call, value);
  const unzip = call.name === "zip" ? call.argv[call.argv.findIndex((field) => field.value === "-TT") + 1] : undefined;
  if (unzip && call.argv.some((field) => field.value === "-TT")) run.text(call, unzip);
  if (call.name === "script" && !hasOption(options, ...spec.text) && call.stdin.kind !== "none") shellInput(call, run);
  for (const value of optionValues(options, "checkpoint-action")) {
    if (/^exec=/.test(value.prefix)) run.text(call, tail(value, 5));
  }
}

/** Models `pee 'a' 'b'` and `mispipe 'a' 'b'`, all of whose operands are shell text. */
export function textOperands(call: Call, run: Runner): void {
  for (const field of readOptions(call.argv, {}).operands) run.text(call, field);
}

/** Models `sops exec-env FILE TEXT`. */
export function sops(call: Call, run: Runner): void {
  const { operands } = readOptions(call.argv, { long: "user= pristine background same-process" });
  if (/^exec-(?:env|file)$/.test(operands[0]?.value ?? "") && operands[2]) run.text(call, operands[2]);
}

/** Models `watch cmd args`, whose operands are joined into shell text. */
export function watch(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "bcCd::eghn:pq:rtwx",
    long: "interval= differences exec precise no-title color errexit chgexit beep equexit=",
    stop: true,
  });
  call.fact.wrapper = true;
  if (options.operands.length === 0) return;
  if (hasOption(options, "x", "exec")) run.argv(call, options.operands);
  else run.text(call, joinFields(options.operands));
}

export function concurrently(call: Call, run: Runner): void {
  for (const text of readOptions(call.argv, { short: "n:c:p:k", long: "names= prefix= prefix-colors=" }).operands)
    run.text(call, text);
}

/** Models `hyperfine`, whose operands and some options are shell text. */
export function hyperfine(call: Call, run: Runner): void {
  textOption(call, run);
  for (const text of readOptions(call.argv, TEXT_OPTIONS.hyperfine ?? {}).operands) run.text(call, text);
}

export function entr(call: Call, run: Runner): void {
  const options = readOptions(call.argv, { short: "acdnprsxz", stop: true });
  call.fact.wrapper = true;
  const [first] = options.operands;
  if (first && hasOption(options, "s")) run.text(call, first);
  else run.argv(call, options.operands);
}

export function flock(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "sexnuow:E:Fv",
    long: "shared exclusive nonblock unlock close timeout= wait= conflict-exit-code= no-fork verbose",
    stop: true,
  });
  call.fact.wrapper = true;
  const [, ...rest] = options.operands;
  if (rest[0]?.value === "-c" || rest[0]?.value === "--command") {
    if (rest[1]) run.text(call, rest[1]);
  } else run.argv(call, rest);
}

/** Models `su`, `sg`, `runuser` and `capsh`: `-c TEXT`, or a command after the options. */
export function su(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "c:g:G:s:lmpPu:fw:T",
    long: "command= session-command= group= supp-group= shell= login preserve-environment user= whitelist-environment=",
  });
  const text = optionValue(options, "c", "command", "session-command");
  if (text) run.text(call, text);
  else if (call.name === "su" || (call.name === "sg" && !options.operands[1])) shellOfUser(call, run);
  else if (call.name === "runuser" && hasOption(options, "u", "user")) run.argv(call, options.operands);
  else if (call.name === "sg" && options.operands[1]) run.text(call, joinFields(options.operands.slice(1)));
  else if (call.name === "capsh")
    markCommandUnknown(call, call.fact.span, "`capsh` starts a shell with different privileges");
}

/** Models `su`, `sudo -i` and similar commands, which start a shell if they are given no command. */
export function shellOfUser(call: Call, run: Runner): void {
  if (call.stdin.kind !== "none") shellInput(call, run);
}

/** Models `at` and `batch`, which run their standard input later, outside the supervised process tree. */
export function at(call: Call, run: Runner): void {
  const [file] = optionValues(readOptions(call.argv, { short: "f:q:t:lmvVbMrd" }), "f");
  const path = file?.shape ? normalize(file.shape, call.cwd) : null;
  if (file) shellCode(call, run, path === null ? NO_CONTENT : (contentOf(call, path) ?? fileContent(path)));
  else if (call.stdin.kind !== "none") shellInput(call, run);
}

/** Models `tmux new 'cmd'` and `screen -dm cmd`, which run commands in a separate server. */
export function multiplexer(call: Call, run: Runner): void {
  if (call.stdin.kind !== "none") shellInput(call, run);
  if (call.name === "screen") {
    const options = readOptions(call.argv, { short: "aAc:dDe:h:lLmp:qrRs:S:t:T:UvwxX:", stop: true });
    if (hasOption(options, "X"))
      markCommandUnknown(call, call.fact.span, "this command types into another `screen` session");
    run.argv(call, options.operands);
    return;
  }
  const texts: Field[] = [];
  const index = call.argv.findIndex((field) =>
    /^(?:new(?:-session|-window)?|neww|split-window|splitw|respawn-pane|respawn-window|run-shell|run|if-shell|if|popup|display-popup|send-keys|send|pipe-pane)$/.test(
      field.value ?? "",
    ),
  );
  if (index < 0) return;
  const options = readOptions(call.argv, { short: "AdDEPXbhvZIfc:e:F:n:s:t:x:y:l:p:w:", stop: true }, index + 1);
  texts.push(...options.operands);
  if (texts.length > 0)
    run.text(call, joinFields(texts.filter((field) => !/^(?:Enter|C-m|KPEnter)$/.test(field.value ?? ""))));
}
