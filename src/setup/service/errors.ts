import { SallyportError } from "../../core/error.ts";

/** A path or argument that a systemd unit cannot contain. */
export function unusableValue(value: string, why: string): SallyportError {
  return new SallyportError("InvalidRequest", `A systemd unit cannot contain ${JSON.stringify(value)}: it ${why}.`, [
    { action: "change_path", hint: "Use a path without such characters." },
  ]);
}

/** The file exists, and is not one that `service install` has written. */
export function foreignUnit(path: string): SallyportError {
  return new SallyportError("InvalidRequest", `${path} exists and was not written by \`sallyport service install\`.`, [
    { action: "remove_file", hint: "Remove or rename it, then try again." },
  ]);
}

/** The unit contains changes that would be lost. */
export function editedUnit(path: string, unit: string): SallyportError {
  return new SallyportError("InvalidRequest", `${path} has been edited since it was written.`, [
    {
      action: "keep_changes",
      hint: `Move the changes to a file of their own with \`systemctl edit ${unit}\`, or discard them with \`--yes\`.`,
    },
  ]);
}

/** Systemd does not run, or does not run for this user. */
export function noSystemd(scope: "user" | "system", why: string): SallyportError {
  const [manager, hint] =
    scope === "user"
      ? [
          "The systemd manager of this user",
          "Log in as this user (`su` and `sudo` start no manager), or install a system unit as root with `--system`.",
        ]
      : [
          "systemd",
          "In a container, start the service as its main process. Elsewhere, use the init system's own files.",
        ];
  return new SallyportError("InvalidRequest", `${manager} cannot be reached: ${why}.`, [
    { action: "use_other_manager", hint },
    { action: "only_write", hint: "Write the unit without starting it with `--no-start`, or print it with `--print`." },
  ]);
}

export function systemctlFailed(args: readonly string[], why: string): SallyportError {
  return new SallyportError("InvalidRequest", `\`systemctl ${args.join(" ")}\` failed: ${why}`, [
    {
      action: "read_log",
      hint: "`sallyport service status` shows the state of the unit, and `journalctl` its output.",
    },
  ]);
}

export function unknownAccount(name: string): SallyportError {
  return new SallyportError("InvalidRequest", `There is no user "${name}" on this machine.`, [
    { action: "create_user", hint: "Create the account first, or use the name of another one." },
  ]);
}
