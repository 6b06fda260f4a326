/**
 * Models commands that run on another machine or in a container. They are analyzed like local ones and marked as
 * remote.
 */

import { type Field, joinFields, tail } from "../expand/field.ts";
import { type Call, markCommandUnknown, type Runner } from "../walk/call.ts";
import { hasOption, optionValues, readOptions } from "./options.ts";

const SSH = { short: "1246AaB:b:c:D:E:e:F:fGgI:i:J:Kkl:L:Mm:NnO:o:P:p:Q:qR:S:sTtVvW:w:XxYy", stop: true };
/** Options of ssh whose value is a command for the local shell. */
const LOCAL =
  /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|PKCS11Provider|SecurityKeyProvider|Match)[= ]/i;

export function ssh(call: Call, run: Runner): void {
  const options = readOptions(call.argv, SSH);
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
  } else if (call.name === "wsl") run.argv(call, readOptions(call.argv, { short: "d:u:e:", stop: true }).operands);
  else if (call.name === "machinectl" && hasOption(readOptions(call.argv, {}), "help")) return;
}
