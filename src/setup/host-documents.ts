/** The configuration files of one host on this machine. */
import { SallyportError } from "../core/error.ts";
import { type Json, openDocument, type TextDocument } from "./edit/document.ts";
import { inFile } from "./errors.ts";
import { locate, type Places, readText } from "./files.ts";
import { type Host, type HostFile, SCOPES, type Scope } from "./hosts/host.ts";

export interface HostDocument {
  /** The key of the file in `Host.files`. */
  file: string;
  scope: Scope;
  path: string;
  document: TextDocument;
}

/** Opens the files of a host that exist. Those that cannot be used are problems. */
export function openDocuments(host: Host, places: Places): { documents: HostDocument[]; problems: string[] } {
  const documents: HostDocument[] = [];
  const problems: string[] = [];
  for (const scope of SCOPES) {
    for (const [key, file] of Object.entries(host.files)) {
      // A file of our own is the same in every scope.
      if (file.state !== undefined && scope === "project") continue;
      try {
        const opened = open(file, scope, places);
        if (opened) documents.push({ file: key, scope, ...opened });
      } catch (error) {
        if (!(error instanceof SallyportError)) throw error;
        problems.push(error.message.replace(/\.$/, ""));
      }
    }
  }
  return { documents, problems };
}

function open(file: HostFile, scope: Scope, places: Places): { path: string; document: TextDocument } | null {
  const path = locate(file, scope, places);
  if (path === null) return null;
  const { text } = readText(path, scope === "project" ? places.workspace : null);
  if (text === null) return null;
  try {
    return { path, document: openDocument(file.format, text) };
  } catch (error) {
    throw inFile(path, error);
  }
}

export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
