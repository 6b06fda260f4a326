import { type Finding, fail, type Machine, ok } from "./finding.ts";

/** sockaddr_un holds 107 bytes and a NUL; the keeper's socket has a short name inside the state folder. */
const LONGEST_FOLDER = 107 - 32;

export function checkSocketPath({ state }: Machine): Finding {
  const length = Buffer.byteLength(state);
  if (length <= LONGEST_FOLDER) return ok("socket path", `${length} bytes of ${LONGEST_FOLDER}`);
  const fix = "Choose a shorter folder with `--state DIR` or SALLYPORT_STATE.";
  return fail(
    "socket path",
    `the state folder's path has ${length} bytes; sockets in it can have ${LONGEST_FOLDER}`,
    fix,
  );
}
