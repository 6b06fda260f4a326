import type { Repaint, Screen } from "../../contract/terminal.ts";
import { notOnTerminal } from "../../present/session-errors.ts";
import type { Registry } from "../registry.ts";
import type { ScreenOptions } from "./emulator.ts";
import { asciicast } from "./recording.ts";
import { type SizeChange, terminalStory } from "./sizes.ts";

type Shown = { id: string; name: string };

export function screenOf(registry: Registry, session: Shown, options: ScreenOptions = {}): Promise<Screen> {
  sizesOf(registry, session);
  const folder = registry.executor.folder(session.id);
  return registry.screens.with(session.id, folder, (terminal) => terminal.screen(options));
}

export function repaintOf(registry: Registry, session: Shown): Promise<Repaint> {
  sizesOf(registry, session);
  const folder = registry.executor.folder(session.id);
  return registry.screens.with(session.id, folder, (terminal) => terminal.repaint());
}

export async function pictureOf(registry: Registry, session: Shown, format: "svg" | "png"): Promise<Uint8Array> {
  const screen = await screenOf(registry, session, { attributes: true });
  // Loaded when first asked for, like the terminal itself.
  if (format === "png") return (await import("../../present/screen/png.ts")).screenPng(screen);
  return Buffer.from((await import("../../present/screen/svg.ts")).screenSvg(screen));
}

export function recordingOf(
  registry: Registry,
  session: Shown & { command: string; startedAt: string },
): AsyncGenerator<string, void, undefined> {
  const { id, name, command, startedAt } = session;
  const head = { startedMs: Date.parse(startedAt), command, title: name };
  return asciicast(registry.executor.folder(id), sizesOf(registry, session), head);
}

/** How large its terminal was when; a session without one has no screen. */
function sizesOf(registry: Registry, { id, name }: Shown): [SizeChange, ...SizeChange[]] {
  const story = terminalStory(registry.executor.folder(id));
  if (story && "sizes" in story) return story.sizes;
  throw notOnTerminal(name);
}
