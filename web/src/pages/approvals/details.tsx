import { For, type JSX, Show } from "solid-js";
import type { Approval, ShownCommand } from "../../../../src/core/approval.ts";
import { Marked } from "../../ui/marked.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";

const QUORUM = { any: "any of", majority: "a majority of", unanimous: "all of" };

/** Everything about a request other than the command itself. */
export function ApprovalFacts(props: { approval: Approval }) {
  const request = () => props.approval.request;
  return (
    <dl class="facts">
      <Show when={request().changed.length > 0}>
        <Fact name="Changed">
          <For each={request().changed}>
            {(what) => (
              <p class="warn-text">
                This command was approved earlier, but since then <Prose text={what} />.
              </p>
            )}
          </For>
        </Fact>
      </Show>
      <Fact name="Reason">
        <ul class="reasons">
          <For each={request().reasons}>
            {(reason) => (
              <li>
                <Prose text={reason.message} /> <code class="rule">{reason.rule}</code>
              </li>
            )}
          </For>
        </ul>
      </Fact>
      <Show when={request().intent}>
        {(intent) => (
          <Fact name="Intent">
            <blockquote class="intent">
              <Marked text={intent().text} marks={intent().marks.map((span) => ({ ...span, kind: "hidden-char" }))} />
            </blockquote>
            <p class="hint">Agent's claim, unverified</p>
          </Fact>
        )}
      </Show>
      <Fact name="Would run">
        <ul class="would-run">
          <For each={request().commands}>{(command) => <WouldRun command={command} cwd={request().cwd} />}</For>
          <Show when={!request().analyzable}>
            <li class="warn-text">and commands that are only known when it runs</li>
          </Show>
        </ul>
      </Fact>
      <Show when={request().stdin}>
        {(stdin) => (
          <Fact name="Standard input">
            <pre class="block" tabIndex={0}>
              <Marked text={stdin().text} marks={stdin().marks.map((span) => ({ ...span, kind: "hidden-char" }))} />
            </pre>
          </Fact>
        )}
      </Show>
      <Fact name="Directory">
        <code>
          <Shown text={request().cwd} />
        </code>
      </Fact>
      <Show when={request().environment.length > 0}>
        <Fact name="Environment">
          <For each={request().environment}>
            {({ name, value }) => (
              <code class="line">
                <Shown text={`${name}=${value}`} />
              </code>
            )}
          </For>
        </Fact>
      </Show>
      <Fact name="Sandbox">
        <Prose text={request().confinement} />
      </Fact>
      <Fact name="Files">
        <details>
          <summary>
            {request().covers.length === 1 ? "1 file is" : `${request().covers.length} files are`} checked again before
            the command runs
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
                    {file.sha256 === null ? ", checked by inode, size and timestamps" : ""}
                  </span>
                </li>
              )}
            </For>
          </ul>
        </details>
        <Show when={request().unbound.length > 0}>
          <p class="warn-text">This command reads files that may change before it runs:</p>
          <ul>
            <For each={request().unbound}>
              {(what) => (
                <li>
                  <Prose text={what} />
                </li>
              )}
            </For>
          </ul>
        </Show>
      </Fact>
      <Show when={props.approval.quorum.rule !== "any" || props.approval.quorum.approvers.length > 0}>
        <Fact name="Approvers">
          {QUORUM[props.approval.quorum.rule]} <Shown text={props.approval.quorum.approvers.join(", ")} />
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
  const where = () => (props.command.cwd === null ? "in an unknown directory" : `in ${props.command.cwd}`);
  const more = () => [
    props.command.program,
    ...(props.command.cwd === props.cwd ? [] : [where()]),
    ...(props.command.via.length > 0 ? [`via ${props.command.via.join(", ")}`] : []),
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
            <Prose text={note} />
          </span>
        )}
      </For>
    </li>
  );
}

/** Returns the CSS class of a note. Deletions and network access stand out from other notes. */
function toneOf(note: string): string {
  if (note.startsWith("deletes ")) return "bad";
  return note.startsWith("connects to ") ? "odd" : "warn";
}
