import { MODEL_BYTES } from "../../core/output-limits.ts";
import type { SessionInfo } from "../../core/session.ts";
import { truncateMiddle } from "../../text/truncate.ts";

const TITLE_BYTES = 120;

/** How a session and its output are listed. */
export function resourceTexts({ command, status, exitCode, name }: SessionInfo) {
  const title = truncateMiddle(command.replaceAll(/\s+/g, " "), { maxBytes: TITLE_BYTES }).text.replaceAll("\n", " ");
  const outcome = exitCode === null ? status : `${status}, exit code ${exitCode}`;
  return {
    about: { title, description: `Session ${name}: ${outcome}` },
    output: { title: `Output of ${title}`, description: `What session ${name} wrote, both streams in order` },
    screen: { title: `Screen of ${title}`, description: `What a person at the terminal of session ${name} would see` },
  };
}

export function templateTexts() {
  const words = { stdout: "wrote to stdout", stderr: "wrote to stderr", output: "wrote, both streams in order" };
  const bounds = `\`offset\` and \`limit\` are bytes, ${MODEL_BYTES} at most; without them both ends of it`;
  return {
    screen: {
      title: "A session's screen",
      description: "What a person would see at the terminal of one of your sessions that has one",
    },
    session: { title: "A session", description: "One of your sessions: command, state, times, usage; as JSON" },
    log: (part: keyof typeof words) => ({
      title: `A session's ${part}`,
      description: `What one of your sessions ${words[part]}. ${bounds}`,
    }),
  };
}

const LONGEST_TEXT = 8 << 10;
const MOST_WORDS = 200;

/** Everything known about a session; of over-long texts both ends, of over-long lists the beginning. */
export function sessionJson(info: SessionInfo): string {
  return JSON.stringify(
    info,
    (_, value: unknown) => {
      if (typeof value === "string") return truncateMiddle(value, { maxBytes: LONGEST_TEXT }).text;
      if (!Array.isArray(value) || JSON.stringify(value).length <= LONGEST_TEXT) return value;
      return [...shortened(value), `[… ${value.length} in all]`];
    },
    2,
  );
}

function shortened(list: unknown[]): unknown[] {
  const most = Math.floor(LONGEST_TEXT / MOST_WORDS);
  const cut = (value: unknown) => (typeof value === "string" ? truncateMiddle(value, { maxBytes: most }).text : value);
  return list.slice(0, MOST_WORDS).map(cut);
}
