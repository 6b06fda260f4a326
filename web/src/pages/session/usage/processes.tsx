import { createMemo, For, Show } from "solid-js";
import type { ProcessInfo } from "../../../../../src/core/gateway.ts";
import { formatDuration, formatSize } from "../../../../../src/text/format.ts";
import { Shown } from "../../../ui/shown.tsx";
import { treeOf } from "./tree.ts";
import "./usage.css";

/** The current process tree of a session. */
export function ProcessTree(props: { processes: readonly ProcessInfo[]; live: boolean }) {
  const nodes = createMemo(() => treeOf(props.processes));
  return (
    <Show
      when={nodes().length > 0}
      fallback={<p class="center muted">{props.live ? "Loading…" : "No running processes"}</p>}
    >
      <div class="card table-card" role="region" aria-label="Processes" tabIndex={0}>
        <table class="processes">
          <caption class="unseen">Processes of the session, children below their parents</caption>
          <thead>
            <tr>
              <th scope="col">Command</th>
              <th scope="col">PID</th>
              <th scope="col">State</th>
              <th scope="col">CPU time</th>
              <th scope="col">Memory</th>
            </tr>
          </thead>
          <tbody>
            <For each={nodes()}>
              {({ process, depth }) => (
                <tr>
                  <td class="process" data-depth={Math.min(depth, 12)}>
                    <span class="branch" aria-hidden="true">
                      {depth > 0 ? `${"  ".repeat(depth - 1)}└ ` : ""}
                    </span>
                    <code>
                      <Shown text={process.command} />
                    </code>
                  </td>
                  <td>{process.pid}</td>
                  <td>{process.state}</td>
                  <td>{formatDuration(process.cpuMs)}</td>
                  <td>{formatSize(process.memoryBytes)}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </Show>
  );
}
