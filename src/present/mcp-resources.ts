import type { SessionInfo } from "../contract/session.ts";
import { MODEL_BYTES } from "./caps.ts";
import { truncateMiddle } from "./truncate.ts";

const TITLE_BYTES = 120;

/** How a session and its output are listed. */
export function resourceTexts({ command, status, exitCode, name }: SessionInfo) {
  const title = truncateMiddle(command.replaceAll(/\s+/g, " "), { maxBytes: TITLE_BYTES }).text.replaceAll("\n", " ");
  const outcome = exitCode === null ? status : `${status}, exit code ${exitCode}`;
  return {
    about: { title, description: `Session ${name}: ${outcome}` },
    output: { title: `Output of ${title}`, description: `What session ${name} wrote, both streams in order` },
  };
}

export function templateTexts() {
  const words = { stdout: "wrote to stdout", stderr: "wrote to stderr", output: "wrote, both streams in order" };
  const bounds = `\`offset\` and \`limit\` are bytes, ${MODEL_BYTES} at most; without them both ends of it`;
  return {
    session: { title: "A session", description: "One of your sessions: command, state, times, usage; as JSON" },
    log: (part: keyof typeof words) => ({
      title: `A session's ${part}`,
      description: `What one of your sessions ${words[part]}. ${bounds}`,
    }),
  };
}

const LONGEST_COMMAND = 16 << 10;

/** Everything known about a session; of an over-long command both ends. */
export function sessionJson(info: SessionInfo): string {
  const cut = (text: string) => truncateMiddle(text, { maxBytes: LONGEST_COMMAND }).text;
  const args = info.args && cut(JSON.stringify(info.args)) === JSON.stringify(info.args) ? info.args : null;
  return JSON.stringify(
    { ...info, command: cut(info.command), args, intent: info.intent && cut(info.intent) },
    null,
    2,
  );
}
