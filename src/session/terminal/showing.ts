import type { Screen } from "../../contract/terminal.ts";

/** Loaded when first asked for, like the terminal itself. */
export async function pictureOf(screen: Screen, format: "svg" | "png"): Promise<Uint8Array> {
  if (format === "png") return (await import("../../present/screen/png.ts")).screenPng(screen);
  return Buffer.from((await import("../../present/screen/svg.ts")).screenSvg(screen));
}
