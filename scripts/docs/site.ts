/**
 * Builds the documentation site from README.md, CHANGELOG.md, CONTRIBUTING.md, SECURITY.md and docs/.
 *
 *   npm run docs [OUTPUT FOLDER]     default: site/
 *
 * The sidebar is the list of pages in docs/README.md. The site is static, needs no server and loads nothing from elsewhere.
 */
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Marked, type Tokens } from "marked";
import MiniSearch from "minisearch";
import { slugger } from "./markdown.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const ASSETS = join(import.meta.dirname, "assets");
const INDEX = "docs/README.md";
const KINDS = ["Tutorial", "How-to guides", "Reference", "Explanation", "Project"];
const TOP_PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/** A section of the sidebar: a heading of the index and the pages listed below it. */
export interface Section {
  title: string;
  links: { path: string; title: string }[];
}

interface SearchEntry {
  id: number;
  url: string;
  page: string;
  heading: string;
  text: string;
}

/** Returns the paths of all pages, relative to the root of the repository. */
export function pagePaths(): string[] {
  return [...TOP_PAGES, ...globSync("docs/**/*.md", { cwd: ROOT }).sort()];
}

/** Reads the sidebar from the lists of links below the headings of the index that name a kind of page. */
export function sections(index: string): Section[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")).trim(),
      links: [...part.matchAll(/^[-*] \[([^\]]+)\]\(([^)#]+\.md)\)/gm)].map(([, title = "", target = ""]) => ({
        path: relative(ROOT, resolve(ROOT, dirname(INDEX), target)),
        title: title.replaceAll("`", ""),
      })),
    }))
    .filter(({ title }) => KINDS.includes(title));
}

/** Returns where a page is written: docs/ becomes the top folder of the site, its index the first page. */
function outputPath(path: string): string {
  if (path === INDEX) return "index.html";
  const inside = path.startsWith("docs/") ? path.slice("docs/".length) : `project/${path}`;
  return inside.replace(/\.md$/, ".html");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char] as string);
}

/** Rewrites a link between Markdown files to one between pages of the site; null when the target is not on the site. */
function siteLink(path: string, href: string, known: Set<string>): string | null {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [file = "", anchor] = href.split("#");
  const target = relative(ROOT, resolve(ROOT, dirname(path), file));
  const suffix = anchor === undefined ? "" : `#${anchor}`;
  const from = dirname(outputPath(path));
  if (known.has(target)) return relative(from, outputPath(target)) + suffix;
  if (/^docs\/.*\.(svg|png)$/.test(target)) return relative(from, target.slice("docs/".length));
  return null;
}

/** Renders one page and collects a search entry for each of its sections. */
function render(
  path: string,
  text: string,
  known: Set<string>,
  entries: SearchEntry[],
): { title: string; html: string } {
  const anchor = slugger();
  const plain = (tokens: Tokens.Generic[]) => tokens.map((token) => String(token.text ?? token.raw)).join("");
  let title = path;
  let entry: SearchEntry | undefined;
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === "heading") {
        const heading = plain(token.tokens ?? []);
        if (token.depth === 1) title = heading;
        const id = anchor(heading);
        entry = { id: entries.length, url: `${outputPath(path)}#${id}`, page: title, heading, text: "" };
        entries.push(entry);
        Object.assign(token, { id });
      } else if (entry && ["paragraph", "code", "table", "list"].includes(token.type)) entry.text += ` ${token.raw}`;
    },
    renderer: {
      heading(token) {
        const { id } = token as Tokens.Heading & { id: string };
        const body = this.parser.parseInline(token.tokens);
        return `<h${token.depth} id="${id}"><a class="anchor" href="#${id}">${body}</a></h${token.depth}>\n`;
      },
      link({ href, tokens }) {
        const body = this.parser.parseInline(tokens);
        const target = siteLink(path, href, known);
        return target === null ? body : `<a href="${escapeHtml(target)}">${body}</a>`;
      },
      image({ href, text: alt }) {
        return `<img src="${escapeHtml(siteLink(path, href, known) ?? href)}" alt="${escapeHtml(alt)}">`;
      },
      table(token) {
        return `<div class="table">${Reflect.apply(TABLE, this, [token])}</div>`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { title, html };
}

const TABLE = new Marked().Renderer.prototype.table;

function sidebar(path: string, menu: Section[]): string {
  const from = dirname(outputPath(path));
  const item = (to: string, title: string) => {
    const current = to === path ? ' aria-current="page"' : "";
    return `<li><a href="${relative(from, outputPath(to))}"${current}>${escapeHtml(title)}</a></li>`;
  };
  return menu
    .map(
      ({ title, links }) => `<h2>${escapeHtml(title)}</h2><ul>${links.map((l) => item(l.path, l.title)).join("")}</ul>`,
    )
    .join("\n");
}

/** Builds the site and returns the number of pages. */
export function buildSite(output: string): number {
  const paths = pagePaths();
  const known = new Set(paths);
  const menu = sections(readFileSync(join(ROOT, INDEX), "utf8"));
  const template = readFileSync(join(ASSETS, "page.html"), "utf8");
  const entries: SearchEntry[] = [];
  rmSync(output, { recursive: true, force: true });
  for (const path of paths) {
    const { title, html } = render(path, readFileSync(join(ROOT, path), "utf8"), known, entries);
    const target = join(output, outputPath(path));
    const root = relative(dirname(target), output) || ".";
    const values: Record<string, string> = {
      title: escapeHtml(title),
      root,
      sidebar: sidebar(path, menu),
      content: html,
    };
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(
      target,
      template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? ""),
    );
  }
  for (const image of globSync("docs/**/*.{svg,png}", { cwd: ROOT })) {
    const target = join(output, image.slice("docs/".length));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(ROOT, image), target);
  }
  const search = new MiniSearch<SearchEntry>({
    fields: ["heading", "page", "text"],
    storeFields: ["url", "page", "heading"],
  });
  search.addAll(entries);
  // A script and not a JSON file, so that search works in pages opened from the file system.
  writeFileSync(join(output, "search-index.js"), `window.searchIndex = ${JSON.stringify(JSON.stringify(search))};\n`);
  copyFileSync(join(ROOT, "node_modules/minisearch/dist/umd/index.js"), join(output, "minisearch.js"));
  for (const name of ["site.css", "site.js"]) copyFileSync(join(ASSETS, name), join(output, name));
  return paths.length;
}

if (import.meta.main) {
  const output = resolve(process.argv[2] ?? join(ROOT, "site"));
  const count = buildSite(output);
  console.log(`Built ${count} pages. Open ${join(output, "index.html")}`);
}
