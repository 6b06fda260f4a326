/**
 * Generates docs/library-api.md from the declarations and comments of the published types: `node scripts/api.ts`. A test
 * compares the page with the sources and runs its examples.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunRequest } from "../src/core/request.ts";
import { type Declaration, Declarations } from "./declarations.ts";

const ROOT = join(import.meta.dirname, "..");
const FILE = join(ROOT, "docs/library-api.md");

/** A section of the page. */
interface Section {
  title: string;
  intro: string;
  /** Every export is in one section. Types that are in none are added where they are first referred to. */
  names: string[];
}

const SECTIONS: Section[] = [
  {
    title: "Open a gateway",
    intro: "How-to: [Build an agent with the library](library.md).",
    names: ["openGateway", "GatewayOptions", "ConfigFile", "Gateway", "GatewayEvent", "Retention", "CleanReport"],
  },
  {
    title: "Run commands",
    intro:
      "How-to: [Run a command and wait](library.md#run-a-command-and-wait), " +
      "[Run a command in the background](library.md#run-a-command-in-the-background).",
    names: ["RunRequest", "RunOptions", "StartOptions", "RunResult", "Status", "ResourceUsage"],
  },
  {
    title: "Manage sessions",
    intro: "A session is one started command with its record and output.",
    names: [
      "SessionHandle",
      "Session",
      "SessionInfo",
      "SessionLimits",
      "ListQuery",
      "SessionsQuery",
      "SessionList",
      "KillOptions",
      "ProcessInfo",
      "AgentInfo",
      "Capture",
    ],
  },
  {
    title: "Read output",
    intro:
      "[Output of a command](output.md) explains how output is stored and what happens when there is too much of it.",
    names: ["LogQuery", "FollowQuery", "LogSlice", "LogChunk", "StreamName", "StreamInfo"],
  },
  {
    title: "Control terminals",
    intro:
      "How-to: [Control an interactive program](library.md#control-an-interactive-program). See also [Terminals](terminals.md).",
    names: ["WaitConditions", "WaitOutcome", "TerminalSize", "Screen", "ScreenRun", "Repaint"],
  },
  {
    title: "Decide approvals",
    intro: "How-to: [Ask for approval](library.md#ask-for-approval). See also [Approvals](approvals.md).",
    names: [
      "Approvals",
      "ApprovalCallback",
      "Approval",
      "ApprovalRequest",
      "ApprovalStatus",
      "ApprovalDecision",
      "Quorum",
      "Grants",
      "Grant",
    ],
  },
  {
    title: "Check policy",
    intro: "How-to: [Restrict a command](library.md#restrict-a-command). See also [Policy](policy.md).",
    names: [
      "CheckOptions",
      "Verdict",
      "SandboxEnforcement",
      "SandboxLevel",
      "UnsupportedFeature",
      "Decision",
      "Reason",
      "Security",
      "Ask",
      "ModeVerdict",
      "PolicyInForce",
      "CommandFact",
      "Word",
      "Span",
      "Unknown",
    ],
  },
  {
    title: "Read the audit log",
    intro: "See also [Audit log](audit.md).",
    names: ["AuditLog", "AuditEntry", "AuditFilter"],
  },
  {
    title: "Follow changes",
    intro: "`gateway.changes` reports changes to sessions and approvals that any process makes in the state folder.",
    names: ["ChangeFeed", "Change", "ChangeList", "Position"],
  },
  {
    title: "Use the work queue",
    intro: "See also [Work queue](work-queue.md).",
    names: ["WorkQueue", "WorkItem", "NewWorkItem", "ClaimedItem"],
  },
  {
    title: "Offer tools to a model",
    intro: "How-to: [Offer tools to a model](library.md#offer-tools-to-a-model). See also [Toolsets](toolsets.md).",
    names: ["tools", "Tool", "ToolsetName", "Toolset", "ToolAnnotations", "CallContext", "ToolAnswer", "ToolFailure"],
  },
  {
    title: "Serve several callers",
    intro: "How-to: [Serve several agents or users](library.md#serve-several-agents-or-users).",
    names: ["Acting", "Scope", "Tier", "SessionOperation", "Tokens", "SignIns"],
  },
  {
    title: "Handle errors",
    intro: "How-to: [Handle errors](library.md#handle-errors).",
    names: ["SallyportError", "ErrorType", "Recovery"],
  },
];

/** Text that replaces the declaration. */
const REPLACED: Record<string, string> = {
  ConfigFile: "[Configuration](configuration.md) lists the keys.",
  Session: "The class that implements [`SessionHandle`](#sessionhandle). It has no other members.",
};

/** Makes the compiler write out the fields of `RunRequest`, which is inferred from its schema. */
const EXPANDED = `import type { RunRequest } from "${join(ROOT, "src/index.ts")}";
export const request = (given: RunRequest) => ({ ...given });
`;

const HEAD = `# Library reference

This page documents every function, class and type of the \`sallyport\` package: its members, defaults, units and errors. To
learn how to use the package, read [Build an agent with the library](library.md) first.

The examples use this gateway, and some of them open others:

\`\`\`ts
import { openGateway } from "sallyport";

const gateway = await openGateway({ policy: { sandbox: "off" } });
\`\`\`

Times are ISO 8601 strings in UTC unless the name ends in \`Ms\`. Types marked as not exported are part of the declarations,
but cannot be imported by name.
`;

/** The API of the package, as written by the compiler. */
export interface Api {
  /** The exports, by name. */
  exported: Map<string, Declaration>;
  page: string;
}

/** Compiles the declarations of the sources and generates the page from them. */
export function readApi(): Api {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-types-"));
  try {
    const scratch = join(folder, "scratch.ts");
    writeFileSync(scratch, EXPANDED);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const compilerOptions = {
      noEmit: false,
      rewriteRelativeImportExtensions: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: "/",
      outDir: join(folder, "out"),
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    const files = [join(ROOT, "src/index.ts"), scratch];
    const config = { extends: join(ROOT, "tsconfig.json"), compilerOptions, include: [], files };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    execFileSync(process.execPath, [join(ROOT, "node_modules/.bin/tsc"), "--singleThreaded", "-p", folder], {
      stdio: "inherit",
    });
    const declarations = new Declarations(join(folder, "out", ROOT, "src/index.d.ts"));
    const exported = new Map(declarations.exported().map((each) => [each.name, each]));
    const request = exported.get("RunRequest");
    if (request) request.text = requestText(readFileSync(join(folder, "out", folder, "scratch.d.ts"), "utf8"));
    return { exported, page: page(declarations, exported) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function page(declarations: Declarations, exported: Map<string, Declaration>): string {
  const missing = [...exported.keys()].filter((name) => !SECTIONS.some(({ names }) => names.includes(name)));
  if (missing.length > 0) throw new Error(`Add ${missing.join(", ")} to a section in scripts/api.ts.`);
  const sections = SECTIONS.map(({ title, intro, names }) => ({
    title,
    intro,
    declarations: names.map((name) => declarations.get(name)),
  }));
  const usedBy = addReferences(declarations, sections);
  const text = sections.map(({ title, intro, declarations: listed }) => {
    const entries = listed.map((each) => entry(each, exported.has(each.name) ? null : (usedBy.get(each.name) ?? null)));
    return [`## ${title}`, intro, ...entries].join("\n\n");
  });
  return `${[HEAD.trimEnd(), contents(sections), ...text].join("\n\n")}\n`;
}

type Listed = Pick<Section, "title"> & { declarations: Declaration[] };

/**
 * Adds the types that are in no section to that of the first declaration that refers to them. Returns, for each type,
 * the name of that declaration.
 */
function addReferences(declarations: Declarations, sections: Listed[]): Map<string, string> {
  const listed = new Set(SECTIONS.flatMap(({ names }) => names));
  const usedBy = new Map<string, string>();
  for (const section of sections) {
    // The list grows while it is read, so that the references of added types are added too.
    for (const { name } of section.declarations) {
      if (name in REPLACED) continue;
      for (const each of declarations.referencesOf(name)) {
        if (!usedBy.has(each.name)) usedBy.set(each.name, name);
        if (listed.has(each.name)) continue;
        listed.add(each.name);
        section.declarations.push(each);
      }
    }
  }
  return usedBy;
}

function contents(sections: Listed[]): string {
  const rows = sections.map(({ title, declarations }) => {
    const names = declarations.map(({ name }) => `[${name}](#${name.toLowerCase()})`);
    return `| [${title}](#${title.toLowerCase().replaceAll(" ", "-")}) | ${names.join(", ")} |`;
  });
  return ["| task | symbols |", "| --- | --- |", ...rows].join("\n");
}

function entry({ name, doc, text, example }: Declaration, usedBy: string | null): string {
  const note = usedBy === null ? "" : `Not exported. Used by [\`${usedBy}\`](#${usedBy.toLowerCase()}).`;
  const code = REPLACED[name] ?? `\`\`\`typescript\n${text}\n\`\`\``;
  const sample = example === "" ? "" : `Example:\n\n\`\`\`ts\n${example.trimEnd()}\n\`\`\``;
  return [`### ${name}`, name in REPLACED && example === "" ? "" : doc, note, code, sample]
    .filter(Boolean)
    .join("\n\n");
}

/** Returns the fields of a request as the compiler wrote them, with the descriptions of the schema. */
function requestText(declared: string): string {
  const fields = /=> \{\n([\s\S]*)\n\};/.exec(declared)?.[1] ?? "";
  const { limits, ...shape } = RunRequest.shape;
  const schemas: Record<string, { description?: string | undefined }> = { limits, ...limits.unwrap().shape, ...shape };
  const described = fields.replaceAll(/^( +)(\w+)\??:/gm, (start, indent: string, name: string) => {
    const description = schemas[name]?.description;
    return description ? `${indent}/** ${description}. */\n${start}` : start;
  });
  return `interface RunRequest {\n${described.replaceAll(" | undefined;", ";").replaceAll("    ", "  ")}\n}`;
}

if (import.meta.main) writeFileSync(FILE, readApi().page);
