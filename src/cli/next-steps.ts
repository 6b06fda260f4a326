import { configureAccess, deniedText, LIBRARY_WORDING, type Wording } from "../core/next-step.ts";

/** The sentences for people who use the command line. */
export const CLI_WORDING: Wording = {
  ...LIBRARY_WORDING,
  "list-sessions": () => "List all sessions with `sallyport ps -a`.",
  "show-session": ({ session }) => `Show its status and exit code with \`sallyport inspect ${session}\`.`,
  "remove-session": ({ session }) => `Or remove the old session with \`sallyport rm ${session}\`.`,
  "stop-session": ({ session }) =>
    `Stop it first with \`sallyport kill ${session}\`, or remove it with \`sallyport rm --force ${session}\`.`,
  "stop-some-sessions": () => "List the running sessions with `sallyport ps` and stop those that are not needed.",
  "read-output": () => "Read the output up to that point with `sallyport logs`.",
  "open-stdin": () => "Start it with `sallyport run -d -i` to write to it. Input is accepted until stdin is closed.",
  "use-terminal": () => "Start the command with `sallyport run -t`.",
  "write-instead": () => null,
  "use-background": () => "Or start the command with `sallyport run -d`, which requires no timeout.",
  "use-shell": () => "To run shell text, use `sallyport run -c TEXT`.",
  "fix-folder": ({ parameter }) =>
    parameter === "cwd"
      ? "Use an existing folder, or omit `--cwd` to run in the workspace."
      : "Use a path in an existing folder.",
  "enter-workspace": ({ workspace }) => `Use a path in \`${workspace}\`.`,
  "fix-log-file": () => "The log file must be a regular file in an existing, writable folder.",
  "omit-log-file": () => "Use another path.",
  "install-bash": () => "Install bash, or run a program without a shell with `sallyport run -- PROGRAM`.",
  "remove-variable": ({ variable }) => `Remove \`${variable}\` from the \`--env\` options.`,
  "show-approval": ({ approval }) => `Show the approval request with \`sallyport approvals ${approval}\`.`,
  "decide-approval": () => "A person can decide on a terminal with `sallyport approvals`, or in the console.",
  "denied-by-sandbox": (denied) =>
    deniedText(denied, (access) => {
      if (access.field === "writable") return `run it with \`--writable ${access.path}\``;
      if (access.field === "network") return "run it with `--network on`";
      if (access.field === "sockets") return configureAccess(access);
      return `run it with \`--sandbox ${access.profile}\`${access.profile === "off" ? ", which requires approval" : ""}`;
    }),
  "other-profile": () => "Or use `--sandbox read-only`, or `--sandbox off`, which requires approval.",
};
