/** Content of streams: the output of commands, and what descriptors and files contain when a command reads them. */
import type { Unknown } from "../../core/facts.ts";
import type { Field } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { originalOf } from "./made-files.ts";
import { NO_CONTENT, type Origin, type State, type StreamContent } from "./state.ts";
import type { Sink, Walk } from "./walk.ts";
import { pushSteps } from "./walk.ts";

/** Collects the output of the commands that a step runs, and passes it to `done` after all of them. */
export function captureOutput(walk: Walk, step: () => void, done: (content: StreamContent) => void): void {
  const sink: Sink = { parts: [], uncertain: false };
  let outer: Sink | null;
  pushSteps(
    walk,
    () => {
      outer = walk.sink;
      walk.sink = sink;
    },
    step,
    () => {
      walk.sink = outer;
      done(joinContents(walk, sink.parts, sink.uncertain));
    },
  );
}

export function emit(walk: Walk, content: StreamContent): void {
  if (content.kind !== "none") walk.sink?.parts.push(content);
}

const SOMETIMES: Unknown = { span: { start: 0, end: 0 }, why: "some of the commands that print it may not run" };

/** Joins contents, one after the other. The known parts of a content that is not fully known are kept as likely text. */
export function joinContents(walk: Walk, parts: readonly StreamContent[], sometimes = false): StreamContent {
  const [only] = parts;
  if (parts.length === 1 && only && !(sometimes && only.kind === "text")) return only;
  if (parts.length === 0) return { kind: "unknown", why: "the output of a command" };
  if (parts.every((part) => part.kind === "unknown")) return joinUnknown(parts);
  const read = parts.map((part) => readContent(walk, part));
  const unknown = read.find((part) => part.kind === "unknown");
  const texts = read.flatMap((part) => (part.kind === "text" ? [part] : []));
  const input = read.some((part) => part.kind !== "none" && part.input);
  const uncertain =
    texts.find((part) => part.uncertain)?.uncertain ??
    (unknown ? { ...SOMETIMES, why: unknown.why } : sometimes ? SOMETIMES : null);
  const remote = read.some((part) => part.kind === "unknown" && part.remote) || uncertain?.remote;
  return {
    kind: "text",
    text: texts.map(({ text }) => text).join(unknown ? "\n" : ""),
    field: null,
    uncertain: uncertain && { ...uncertain, ...(remote ? { remote } : {}), ...(input ? { input } : {}) },
    input,
    pattern: texts.some(({ pattern }) => pattern),
  };
}

type UnknownContent = Extract<StreamContent, { kind: "unknown" }>;

function joinUnknown(parts: readonly UnknownContent[]): StreamContent {
  const paths = parts.flatMap((part) => part.paths ?? []);
  return {
    kind: "unknown",
    why: parts[0]?.why ?? "",
    remote: parts.some((part) => part.remote),
    input: parts.some((part) => part.input),
    ...(parts.every((part) => part.paths) ? { paths } : {}),
  };
}

const STDIN_PATHS = /^\/dev\/(?:stdin|fd\/0)$|^\/proc\/(?:self|thread-self)\/fd\/0$/;
const DESCRIPTOR_PATH = /^\/(?:dev|proc\/(?:self|thread-self))\/fd\/(\d+)$/;

/** Reports whether the path names standard output, so that a command that writes to it prints. */
export function isStandardOutput(path: string): boolean {
  return /^\/dev\/(?:stdout|fd\/1)$|^\/proc\/(?:self|thread-self)\/fd\/1$/.test(path);
}

interface Reader {
  walk: Walk;
  stdin: StreamContent;
  descriptors: State["descriptors"];
}

interface Printer extends Reader {
  name: string;
  argv: readonly Field[];
  origin: Origin;
  cwd: string | null;
}

/**
 * Returns what a command finds in a file or descriptor, as far as the text determines it. Undefined for a path that the
 * text does not write, and for a descriptor that it does not open.
 */
export function contentOf({ walk, stdin, descriptors }: Reader, path: string): StreamContent | undefined {
  if (STDIN_PATHS.test(path)) return stdin;
  const descriptor = DESCRIPTOR_PATH.exec(path)?.[1];
  const open = descriptor === undefined ? undefined : descriptors.get(Number(descriptor));
  const found = open ?? walk.state.written.get(path);
  if (found && found !== WRITTEN) return settle(walk, found);
  const original = originalOf(walk, path);
  return original === null ? found : (walk.state.written.get(original) ?? fileContent(original));
}

/** Replaces content of files that the text writes, and of process substitutions, by what was written to them. */
export function settle(walk: Walk, content: StreamContent): StreamContent {
  if (content.kind !== "unknown" || !content.paths?.some((path) => walk.state.written.has(path))) return content;
  return joinContents(
    walk,
    content.paths.map((path) => walk.state.written.get(path) ?? fileContent(path)),
  );
}

/** Returns the content of a file that exists before the command runs. It is read only if it is used as code. */
export function fileContent(path: string): StreamContent {
  const remote = /^\/dev\/(?:tcp|udp)\//.test(path);
  return { kind: "unknown", why: remote ? "data from the network" : "the contents of a file", remote, paths: [path] };
}

/**
 * Reads the files of a content that is used as code, if the context allows it. The text is never certain, because a
 * file can change before the command runs.
 */
export function readContent(walk: Walk, given: StreamContent): StreamContent {
  const content = settle(walk, given);
  if (content.kind !== "unknown" || !content.paths) return content;
  const texts = content.paths.map((path) => {
    if (walk.filesRead >= limits.files) return null;
    walk.filesRead++;
    return walk.context.readFile?.(path) ?? null;
  });
  if (texts.every((text) => text === null)) return content;
  const uncertain: Unknown = {
    span: { start: 0, end: 0 },
    why: "it is read from a file, which may change before the command runs",
    ...(content.remote ? { remote: true } : {}),
  };
  return { kind: "text", text: texts.map((text) => text ?? "").join("\n"), field: null, uncertain };
}

/** The content of a file that the text writes, if it is not known. */
export const WRITTEN: Extract<StreamContent, { kind: "unknown" }> = {
  kind: "unknown",
  why: "a file that is written by the same command line",
};

/** Records what redirections write to files, after what the files contain already if they append. */
export function writeTargets(
  walk: Walk,
  targets: readonly { path: string; append: boolean }[],
  content: StreamContent,
): void {
  const { written } = walk.state;
  for (const { path, append } of targets) {
    written.set(path, append ? joinContents(walk, [written.get(path) ?? fileContent(path), content]) : content);
  }
}

/** Returns the standard input of a new process that reads nothing its parent has not read. */
export function emptyContent(): StreamContent {
  return { kind: "text", text: "", field: null, uncertain: null };
}

/** Returns the output of a command that no model describes. It comes from another machine if its input does. */
export function unmodeledOutput(call: Printer): StreamContent {
  const { name, stdin, argv, origin, walk } = call;
  const what = name === "" ? "a command" : `\`${name.slice(0, 40)}\``;
  const remote =
    origin.remote ||
    isRemoteSource(call) ||
    isRemote(stdin) ||
    argv.some((field) => field.uncertain?.remote || (field.content && isRemote(field.content))) ||
    (walk.state.written.size > 0 && argv.some((field) => isRemote(operandContent(call, field.shape))));
  return {
    kind: "unknown",
    why: `the output of ${what}`,
    remote,
    input: stdin.kind !== "none" && stdin.input === true,
  };
}

function operandContent(call: Printer, shape: string | null): StreamContent {
  if (shape === null || shape === "" || shape.startsWith("-")) return NO_CONTENT;
  const path = shape.startsWith("/") ? shape : call.cwd === null ? null : `${call.cwd}/${shape.replace(/^\.\//, "")}`;
  return (path === null ? undefined : contentOf(call, path)) ?? NO_CONTENT;
}

export function isRemote(content: StreamContent): boolean {
  if (content.kind === "unknown") return content.remote === true;
  return content.kind === "text" && content.uncertain?.remote === true;
}

/** Programs whose output comes from another machine. */
const REMOTE_SOURCES = new Set(
  (
    "curl wget wget2 fetch aria2c axel http https xh httpie curlie GET POST lwp-request lynx links elinks w3m " +
    "nc ncat netcat socat telnet ftp tftp lftp sftp ncftp ssh scp sshpass rsync smbclient dig drill host nslookup " +
    "rclone s3cmd gsutil ipfs dog doggo"
  ).split(" "),
);
/** Programs whose output comes from another machine only with one of these arguments. */
const REMOTE_WITH: Record<string, RegExp> = {
  openssl: /^s_client$/,
  git: /^--remote(?:=|$)/,
  aws: /^s3:\/\//,
  az: /^(?:download|rest)$/,
  gcloud: /^(?:storage|ssh)$/,
  gh: /^(?:api|release|gist|repo)$/,
  glab: /^(?:api|release|snippet|repo)$/,
  kubectl: /^exec$/,
  docker: /^(?:exec|run)$/,
  podman: /^(?:exec|run)$/,
  busybox: /^(?:wget|nc|telnet|tftp|ftpget)$/,
};

function isRemoteSource({ name, argv }: Printer): boolean {
  if (REMOTE_SOURCES.has(name)) return true;
  return argv.slice(1).some((field) => REMOTE_WITH[name]?.test(field.value ?? field.prefix));
}
