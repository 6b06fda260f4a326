/** What no confined command may do, by how programs complain about it. */
const CALLS: readonly [complaint: RegExp, why: string][] = [
  [
    /no new privileges|effective uid is not 0|must be setuid/i,
    "no confined command gains privileges (sudo, su, setuid programs)",
  ],
  [
    /\bunshare\b|\bsetns\b|user namespace|CLONE_NEW|namespaces?\b.*not permitted/i,
    "no confined command makes namespaces (unshare, containers)",
  ],
  [
    /\bu?mount\b.*(?:permission denied|not permitted|must be superuser|only root)/i,
    "no confined command mounts anything",
  ],
  [/\bptrace\b|PTRACE_/i, "a confined command traces only its own processes"],
  [/\bperf_event|\bbpf\b|BPF_/i, "tracing the kernel is refused (perf, bpf)"],
  [/\bio_uring/i, "io_uring is refused"],
  [/\bmknod\b/i, "no confined command makes devices"],
  [/\bkill\b.*(?:not permitted|EPERM)/i, "a confined command signals only its own processes"],
];

const REFUSED_CALL =
  /not permitted|permission denied|\bE(?:PERM|ACCES)\b|no new privileges|must be|function not implemented|only root/i;

/** Null: nothing points to a refused system call. */
export function blockedCall(line: string): string | null {
  if (!REFUSED_CALL.test(line)) return null;
  const why = CALLS.find(([complaint]) => complaint.test(line))?.[1];
  return why === undefined ? null : `${why}; only \`sandbox: "off"\` lifts that, with a person's approval`;
}
