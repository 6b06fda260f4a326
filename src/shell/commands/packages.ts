/** Models package managers and build tools that start a command. */

import { joinFields, tail } from "../expand/field.ts";
import { type Call, markCommandUnknown, type Runner, recordTarget } from "../walk/call.ts";
import { hasOption, optionValue, optionValues, readOptions } from "./options.ts";

const NPX = {
  short: "c:p:yq",
  long: "call= package= yes no shell= node-options= workspace= prefix= cwd=",
  stop: true,
};

/** Models `npx cmd`, `npm exec -- cmd`, `pnpm dlx cmd` and `yarn run cmd`. The code of packages is not analyzed. */
export function npm(call: Call, run: Runner): void {
  const direct = call.name === "npx" || call.name === "pnpx" || call.name === "bunx";
  const at = direct ? 0 : call.argv.findIndex((field, index) => index > 0 && !field.value?.startsWith("-"));
  const sub = direct ? "exec" : (call.argv[at]?.value ?? "");
  scriptShell(call, run);
  const dashes = call.argv.findIndex((field) => field.value === "--");
  if (sub === "explore" && dashes > 0) run.argv(call, call.argv.slice(dashes + 1), { label: "npm explore" });
  if (call.name === "yarn" && sub === "node") run.argv(call, call.argv.slice(at), { label: "yarn" });
  if (call.name === "yarn" && sub === "workspaces") {
    const inner = call.argv.findIndex((field, index) => index > at && /^(?:run|exec)$/.test(field.value ?? ""));
    if (inner > 0) run.argv(call, call.argv.slice(inner + 1), { label: "yarn workspaces" });
  }
  if (!/^(?:exec|x|dlx|run|run-script)$/.test(sub)) return;
  const options = readOptions(call.argv, NPX, at + 1);
  const text = optionValue(options, "c", "call");
  if (text) run.text(call, text);
  if (sub === "run" || sub === "run-script") return;
  if (options.operands.length > 0)
    run.argv(call, options.operands, { label: direct ? call.name : `${call.name} ${sub}` });
}

/** Models `--script-shell=x` and `npm config set script-shell x`: npm runs all scripts with this program. */
function scriptShell(call: Call, run: Runner): void {
  for (const [index, field] of call.argv.entries()) {
    const found = /^(?:--)?script-shell(=|$)/.exec(field.prefix);
    const value = found?.[1] === "=" ? tail(field, found[0].length) : call.argv[index + 1];
    if (!found || !value) continue;
    run.text(call, value);
    markCommandUnknown(call, field.span, "this command sets the shell that runs the scripts of packages");
  }
}

/** Models `mvn exec:exec -Dexec.executable=x -Dexec.args=y`. */
export function maven(call: Call, run: Runner): void {
  const property = (name: string) => {
    const field = call.argv.find((one) => one.prefix.startsWith(`-D${name}=`));
    return field ? tail(field, name.length + 3) : null;
  };
  const program = property("exec.executable");
  const args = property("exec.args");
  if (program) run.text(call, args ? joinFields([program, args]) : program);
}

/** Models `uv run`, `conda run -n x`, `mise exec --` and `nix develop -c`. */
export function runInEnvironment(call: Call, run: Runner): void {
  const at = call.argv.findIndex((field) => /^(?:run|exec|x|tool|develop|shell)$/.test(field.value ?? ""));
  if (at < 0) return;
  const options = readOptions(
    call.argv,
    {
      short: "n:p:c:m:",
      long: "name= prefix= with= python= package= extra= group= directory= project= command= env-file= cwd= module=",
      stop: true,
    },
    at + 1,
  );
  if (hasOption(options, "m", "module")) return;
  const command =
    call.name === "nix"
      ? call.argv.slice(call.argv.findIndex((field) => field.value === "-c" || field.value === "--command") + 1)
      : options.operands;
  if (call.name === "nix" && command.length === call.argv.length) return;
  run.argv(call, command, { label: `${call.name} run` });
}

export function go(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    wordy: true,
    long: "exec= toolexec= vettool= o= C= ldflags= gcflags= tags= run= count= timeout= mod= overlay= modfile= bench= p=",
  });
  for (const value of optionValues(options, "exec", "toolexec", "vettool")) run.text(call, value);
}

export function cargo(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "p:j:F:Z:s:x:w:",
    long: "config= features= package= target= manifest-path= bin= example= profile= shell=",
  });
  for (const value of optionValues(options, "config"))
    if (/runner|linker|rustc|wrapper|credential/.test(value.value ?? "?")) {
      markCommandUnknown(call, value.span, "a configuration option makes `cargo` run other programs");
      const command = /=\s*[["']*([^"'\]]+)/.exec(value.value ?? "")?.[1];
      if (command) run.text(call, { ...value, value: command });
    }
  if (call.argv[1]?.value === "watch") for (const value of optionValues(options, "s", "shell")) run.text(call, value);
}

/** Settings of apt whose value is a command. */
const APT_HOOKS = /(?:invoke(?:-success)?|pre-install-pkgs|proxy-auto-detect|dir::bin::[\w-]+)(?:::)*\s*=?\s*/i;

/** Models `apt-get -o DPkg::Pre-Invoke::=cmd`, which runs a command before or after the installation. */
export function apt(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "o:c:t:a:yqdsmfbuVhP",
    long: "option= config-file= target-release= default-release= host-architecture= assume-yes quiet",
  });
  for (const value of optionValues(options, "o", "option")) {
    const hook = APT_HOOKS.exec(value.prefix);
    if (hook) {
      const code = tail(value, hook.index + hook[0].length);
      run.text(call, { ...code, value: code.value?.replace(/^[\s{"']+|[\s}"';]+$/g, "") ?? null });
    } else if (value.value === null || /^dir(?:::|$)|invoke|instdir|admindir|--root/i.test(value.value))
      markCommandUnknown(call, value.span, "an option makes the package manager use other programs or folders");
  }
  if (hasOption(options, "c", "config-file"))
    markCommandUnknown(call, call.fact.span, "the package manager reads another configuration file");
}

/** Models `dpkg --pre-invoke=cmd` and `dpkg --root=folder`. */
export function dpkg(call: Call, run: Runner): void {
  const options = readOptions(call.argv, {
    short: "iPrlLsSpVCDGOEBRxXceI",
    long: "pre-invoke= post-invoke= status-logger= root= instdir= admindir= log= force= path-include= path-exclude=",
  });
  for (const value of optionValues(options, "pre-invoke", "post-invoke", "status-logger")) run.text(call, value);
  for (const value of optionValues(options, "root", "instdir", "admindir")) recordTarget(call, "write", value, true);
  if (hasOption(options, "x", "X", "extract", "vextract") && options.operands[1])
    recordTarget(call, "write", options.operands[1], true);
}

/** Models `rpm --eval '%(cmd)'`: rpm expands macros, and `%(…)` is the output of a command. */
export function rpm(call: Call, run: Runner): void {
  for (const field of call.argv.slice(1)) {
    const code = /%\(([^)]*)\)/.exec(field.value ?? "");
    if (code?.[1]) run.text(call, { ...field, value: code[1] });
  }
}

/** Models `cmake -E env cmd` and `cmake -E rm`. */
export function cmake(call: Call, run: Runner): void {
  if (call.argv[1]?.value !== "-E") return;
  const sub = call.argv[2]?.value;
  const rest = call.argv.slice(3);
  if (sub === "env" || sub === "time")
    run.argv(
      call,
      rest.slice(
        Math.max(
          0,
          rest.findIndex((word) => !/=|^--/.test(word.value ?? "")),
        ),
      ),
    );
  else if (/^(?:rm|remove|remove_directory)$/.test(sub ?? "") && call.argv[0]) {
    run.argv(call, [{ ...call.argv[0], value: "rm", prefix: "rm", shape: "rm" }, ...rest], { label: "cmake -E" });
  }
}

/**
 * Models busybox and toybox, whose first operand is the applet, and the dynamic loader, whose first operand is a
 * program.
 */
export function multicall(call: Call, run: Runner): void {
  call.fact.wrapper = true;
  const options = readOptions(call.argv, {
    long: "library-path= coreutils-prog= preload= audit= argv0= inhibit-cache list verify install help inhibit-rpath=",
    stop: true,
  });
  if (hasOption(options, "preload", "audit"))
    markCommandUnknown(call, call.fact.span, "this command loads code into the program");
  const applet = optionValue(options, "coreutils-prog");
  run.argv(call, applet ? [applet, ...options.operands] : options.operands);
}

/** Models `cmd /c`, the Windows shell. */
export function cmd(call: Call, run: Runner): void {
  const at = call.argv.findIndex((field) => /^\/[ck]$/i.test(field.value ?? ""));
  markCommandUnknown(call, call.fact.span, "code for `cmd` is not analyzed");
  const words = at > 0 ? call.argv.slice(at + 1) : [];
  if (words.length > 0) run.text(call, joinFields(words));
}
