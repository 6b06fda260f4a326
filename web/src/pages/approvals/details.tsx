import { For, type JSX, Show } from "solid-js";
import type { Approval, ShownCommand } from "../../../../src/core/approval.ts";
import { Marked } from "../../ui/marked.tsx";
import { Shown } from "../../ui/shown.tsx";

/** Everything a person needs to decide, besides the command itself. */
export function ApprovalFacts(props: { approval: Approval }) {
  const request = () => props.approval.request;
  return (
    <dl class="facts">
      <Show when={request().changed.length > 0}>
        <Fact name="Asked again">
          <For each={request().changed}>
            {(what) => (
              <p class="warn-text">
                It was approved, but since then <Shown text={what} />
              </p>
            )}
          </For>
        </Fact>
      </Show>
      <Fact name="Why you are asked">
        <ul class="reasons">
          <For each={request().reasons}>
            {(reason) => (
              <li>
                <Shown text={reason.message} /> <code class="rule">{reason.rule}</code>
              </li>
            )}
          </For>
        </ul>
      </Fact>
      <Show when={request().intent}>
        {(intent) => (
          <Fact name="The agent says">
            <blockquote class="intent">
              <Marked text={intent().text} marks={intent().marks.map((span) => ({ ...span, kind: "hidden-char" }))} />
            </blockquote>
            <p class="hint">The agent's own words, not a fact.</p>
          </Fact>
        )}
      </Show>
      <Fact name="Would run">
        <ul class="would-run">
          <For each={request().commands}>{(command) => <WouldRun command={command} cwd={request().cwd} />}</For>
          <Show when={!request().analyzable}>
            <li class="warn-text">and what cannot be known before it runs</li>
          </Show>
        </ul>
      </Fact>
      <Show when={request().stdin}>
        {(stdin) => (
          <Fact name="With this input">
            <pre class="block" tabIndex={0}>
              <Marked text={stdin().text} marks={stdin().marks.map((span) => ({ ...span, kind: "hidden-char" }))} />
            </pre>
          </Fact>
        )}
      </Show>
      <Fact name="In">
        <code>
          <Shown text={request().cwd} />
        </code>
      </Fact>
      <Show when={request().environment.length > 0}>
        <Fact name="Adds variables">
          <For each={request().environment}>
            {({ name, value }) => (
              <code class="line">
                <Shown text={`${name}=${value}`} />
              </code>
            )}
          </For>
        </Fact>
      </Show>
      <Fact name="Confined by">
        <Shown text={request().confinement} />
      </Fact>
      <Fact name="Bound to">
        <details>
          <summary>
            {request().covers.length} {request().covers.length === 1 ? "file" : "files"}, looked at again right before
            it runs
          </summary>
          <ul>
            <For each={request().covers}>
              {(file) => (
                <li>
                  <code>
                    <Shown text={file.path} />
                  </code>{" "}
                  <span class="muted">
                    {file.role}
                    {file.sha256 === null ? ", by its place and times: too large to read" : ""}
                  </span>
                </li>
              )}
            </For>
          </ul>
        </details>
      </Fact>
      <Show when={props.approval.quorum.rule !== "any" || props.approval.quorum.approvers.length > 0}>
        <Fact name="Who decides">
          {props.approval.quorum.rule} of <Shown text={props.approval.quorum.approvers.join(", ")} />
        </Fact>
      </Show>
    </dl>
  );
}

export function Fact(props: { name: string; children: JSX.Element }) {
  return (
    <div class="fact">
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

function WouldRun(props: { command: ShownCommand; cwd: string }) {
  const where = () => (props.command.cwd === null ? "in a folder that cannot be known" : `in ${props.command.cwd}`);
  const more = () => [
    props.command.program,
    ...(props.command.cwd === props.cwd ? [] : [where()]),
    ...(props.command.via.length > 0 ? [`through ${props.command.via.join(", ")}`] : []),
  ];
  return (
    <li>
      <code>
        <Shown text={props.command.text} />
      </code>
      <span class="muted">
        <Shown text={more().join("; ")} />
      </span>
      <For each={props.command.notes}>
        {(note) => (
          <span class={`tag note-tag ${toneOf(note)}`}>
            <Shown text={note} />
          </span>
        )}
      </For>
    </li>
  );
}

/** What it deletes and whom it reaches is seen first. */
function toneOf(note: string): string {
  if (note.startsWith("deletes ")) return "bad";
  return note.startsWith("connects to ") ? "odd" : "warn";
}
