import type { ResourceUsage } from "../../core/result.ts";
import { formatSize } from "../../text/size.ts";
import type { Outcome } from "../message.ts";

/** What a signal usually means when nobody asked Sallyport to send it. */
const USUAL_CAUSE: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: "it aborted itself, usually on a failed assertion or a corrupted heap",
  SIGALRM: "a timer it had set ran out",
  SIGBUS: "it used memory that is not there, such as a mapped file that was cut or a full tmpfs",
  SIGFPE: "an arithmetic error such as an integer division by zero",
  SIGHUP: "its terminal or session was closed",
  SIGILL: "an instruction this processor does not have: perhaps built for another one",
  SIGINT: "something interrupted it, as Ctrl-C does",
  SIGKILL: "something other than Sallyport killed it, possibly the kernel for want of memory",
  SIGPIPE: "it wrote to a pipe that nobody reads any more",
  SIGQUIT: "something asked it to quit, as Ctrl-\\ does",
  SIGSEGV: "it used memory it may not use, usually a bug in the program or a stack overflow",
  SIGSYS: "it made a system call that the sandbox does not allow",
  SIGTERM: "something other than Sallyport asked it to end",
  SIGTRAP: "it stopped at a breakpoint or a failed check of its runtime",
  SIGXCPU: "it used up its processor time",
  SIGXFSZ: "it wrote a file larger than allowed",
};

export function signalMessage({ signal, resourceUsage }: Outcome): string {
  return `Ended by ${signalCause(signal as NodeJS.Signals, resourceUsage)}.`;
}

/** `SIGSEGV: it used memory…`; with what it used where that may be the cause. */
export function signalCause(signal: NodeJS.Signals, usage: ResourceUsage | null): string {
  const cause = USUAL_CAUSE[signal];
  const peak = signal === "SIGKILL" && usage ? ` (it had used up to ${formatSize(usage.memoryPeakBytes)})` : "";
  return cause === undefined ? signal : `${signal}: ${cause}${peak}`;
}
