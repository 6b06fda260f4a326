/**
 * Models commands that run on another machine or in a container. They are analyzed like local ones and marked as
 * remote.
 */

import { type Field, joinFields, literal, tail } from "../expand/field.ts";
import { type Call, markCommandUnknown, type Runner, recordTarget } from "../walk/call.ts";
import { hasOption, optionValue, optionValues, readOptions } from "./options.ts";
import { recordOutputs } from "./outputs.ts";
import { shellInput } from "./stdin-code.ts";

const SSH = { short: "1246AaB:b:c:D:E:e:F:fGgI:i:J:Kkl:L:Mm:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", stop: true };
/** Options of ssh whose value is a command for the local shell. */
const LOCAL =
  /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|PKCS11Provider|SecurityKeyProvider|Match)[= ]/i;

export function ssh(call: Call, run: Runner): void {
  const options = readOptions(call.argv, SSH);
  if (call.name !== "scp") recordOutputs(call, options, run);
  for (const value of optionValues(options, "o")) {
    const found = LOCAL.exec(value.value ?? "");
    if (found) run.text(call, tail(value, found[0].length));
    else if (value.value === null) markCommandUnknown(call, value.span, "an option of `ssh` is known only at run time");
  }
  for (const value of optionValues(options, "S", "F", "I"))
    if (value.value !== "none")
      markCommandUnknown(call, value.span, "`ssh` uses another program or configuration file");
  const [host, ...command] = options.operands;
  if (host?.value) call.fact.network.push(host.value.replace(/^.*@/, ""));
  if (call.name === "ssh" && command.length > 0) run.text(call, joinFields(command), { remote: true });
  else if (host && /^(?:ssh|autossh|mosh)$/.test(call.name) && call.stdin.kind !== "none" && !hasOption(options, "N"))
    shellInput(call, run, { remote: true });
}

const CONTAINER = {
  short: "dite:w:u:v:p:h:l:m:c:a:",
  long: "env= env-file= workdir= user= volume= publish= name= network= net= hostname= entrypoint= mount= label= memory= cpus= platform= pull= restart= cap-add= cap-drop= device= pid= ipc= userns= uts= security-opt= add-host= tmpfs= ulimit= gpus= shm-size= detach-keys= log-driver= log-opt= dns= index= file= project-name= privileged rm interactive tty detach init no-deps build profile=",
  stop: true,
};

export function container(call: Call, run: Runner): void {
  const globals = readOptions(call.argv, {
    short: "H:c:l:Df:p:",
    long: "host= config= context= log-level= tls tlsverify file= project-name= debug profile= env-file=",
    stop: true,
  });
  let at = globals.rest;
  if (call.argv[at]?.value === "compose" || call.argv[at]?.value === "container") {
    at = readOptions(call.argv, CONTAINER, at + 1).rest;
  }
  const sub = call.argv[at]?.value;
  if (sub === undefined || sub === null || !/^(?:exec|run|create|shell)$/.test(sub)) return;
  const options = readOptions(call.argv, CONTAINER, at + 1);
  const entry = options.list.findLast((option) => option.name === "entrypoint")?.value;
  const command = options.operands.slice(1);
  run.argv(call, entry ? [entry, ...command] : command, { remote: true, label: `${call.name} ${sub}` });
}

export function kubectl(call: Call, run: Runner): void {
  const dashes = call.argv.findIndex((field) => field.value === "--");
  const sub = call.argv.find((field, index) => index > 0 && /^(?:exec|run|debug|attach)$/.test(field.value ?? ""));
  if (sub && dashes > 0)
    run.argv(call, call.argv.slice(dashes + 1), { remote: true, label: `${call.name} ${sub.value}` });
}

/** Models `lxc exec box -- cmd`, `lxc-attach -n box -- cmd`, `adb shell cmd` and `wsl cmd`. */
export function containerExec(call: Call, run: Runner): void {
  const dashes = call.argv.findIndex((field) => field.value === "--");
  if (dashes > 0) run.argv(call, call.argv.slice(dashes + 1), { remote: true });
  else if (call.name === "adb") {
    const shell = call.argv.findIndex((field) => field.value === "shell");
    const words = shell > 0 ? call.argv.slice(shell + 1) : [];
    if (words.length > 0) run.text(call, joinFields(words as [Field, ...Field[]]), { remote: true });
    else if (shell > 0 && call.stdin.kind !== "none") shellInput(call, run, { remote: true });
  } else if (call.name === "wsl") run.argv(call, readOptions(call.argv, { short: "d:u:e:", stop: true }).operands);
  else if (call.name === "machinectl" && call.argv[1]?.value === "shell" && call.stdin.kind !== "none")
    shellInput(call, run, { remote: true });
  else if (call.name === "machinectl" && hasOption(readOptions(call.argv, {}), "help")) return;
}

const ANSIBLE = {
  short: "a:m:i:c:e:u:f:l:t:M:D:o:B:P:T:bKkCv",
  long: "args= module-name= inventory= connection= extra-vars= user= forks= limit= tree= module-path= become become-user= become-method= background= poll= timeout= check private-key=",
};

/** Models `ansible HOST -a 'cmd'`. Commands for this machine are not marked as remote. */
export function ansible(call: Call, run: Runner): void {
  const options = readOptions(call.argv, ANSIBLE);
  const module = (optionValue(options, "m", "module-name")?.value ?? "command").replace(/^.*\./, "");
  const args = optionValue(options, "a", "args");
  const local =
    optionValue(options, "c", "connection")?.value === "local" ||
    /^(?:localhost|127\.0\.0\.1|::1)$/.test(options.operands[0]?.value ?? "");
  const target = local ? {} : { remote: true };
  if (hasOption(options, "b", "become"))
    run.argv(call, [literal("sudo", "", call.fact.span), literal("true", "", call.fact.span)], target);
  if (!args) return;
  if (/^(?:command|shell|raw|script|expect)$/.test(module)) {
    // Arguments of the module precede the command: `chdir=/ rm -rf etc`.
    const lead = /^(?:\w+=\S+\s+)*(?:cmd=)?/.exec(args.prefix)?.[0] ?? "";
    const folder = /(?:^|\s)chdir=(\S+)/.exec(lead)?.[1];
    run.text(call, tail(args, lead.length), folder ? { ...target, cwd: folder } : target);
    return;
  }
  const path = /(?:^|\s)(?:path|dest|name)=(\S+)/.exec(args.value ?? "")?.[1];
  if (!path || !local || !/^[/~]/.test(path)) return;
  const field = { ...args, value: path, prefix: path, shape: path };
  recordTarget(call, /state=absent/.test(args.value ?? "") ? "delete" : "write", field, true);
}

const SOCAT_FILES = /^(?:open|creat|create|gopen|file):/i;
const SOCAT_CODE = /^(?:exec|system|shell):/i;

/** Models the addresses of `socat` that are files or commands. With `-u`, data flows to the second address only. */
export function socat(call: Call, run: Runner): void {
  const options = readOptions(call.argv, { short: "uUdDvxhVb:s:t:T:l:L:W:4685" });
  const written = hasOption(options, "u")
    ? options.operands.slice(1)
    : hasOption(options, "U")
      ? options.operands.slice(0, 1)
      : options.operands;
  for (const field of options.operands) {
    const code = SOCAT_CODE.exec(field.prefix);
    if (code) run.text(call, until(tail(field, code[0].length), ","));
    const scheme = SOCAT_FILES.exec(field.prefix)?.[0];
    const file = scheme ? tail(field, scheme.length) : /^[./~]/.test(field.prefix) ? field : null;
    if (file && written.includes(field) && !/,(?:o_)?rdonly\b/.test(field.prefix))
      recordTarget(call, "write", until(file, ","), false);
  }
}

/** Returns the part of a field before the first occurrence of a mark. */
function until(field: Field, mark: string): Field {
  const end = field.value?.indexOf(mark) ?? -1;
  if (field.value === null || end < 0) return field;
  const value = field.value.slice(0, end);
  return { ...field, value, prefix: value, shape: value };
}
