import type { Change } from "../../../core/changes.ts";
import type { Feed } from "../feed.ts";
import type { Metric } from "../prometheus.ts";
import { TraceExporter } from "./exporter.ts";
import type { TraceSettings } from "./settings.ts";
import { spansOf } from "./spans.ts";
import type { Stages } from "./stages.ts";

/** What traces are made from; the stages are those of the commands that came through this process. */
export interface Tracing {
  settings: TraceSettings;
  stages: Stages;
}

/** Tells a collector of every command that is over, whoever ran it. */
export class Tracer {
  readonly #exporter: TraceExporter;
  readonly #stages: Stages;
  readonly #stop: () => void;

  constructor(feed: Feed, { settings, stages }: Tracing, version: string, onfailure: (error: Error) => void) {
    this.#exporter = new TraceExporter(settings, version, onfailure);
    this.#stages = stages;
    feed.start();
    this.#stop = feed.listen((_, changes) => this.#note(changes));
  }

  metrics(): Metric[] {
    return this.#exporter.metrics();
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#exporter.close();
  }

  /** One whose leftovers live on is told of twice, with the same ids. */
  #note(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.type !== "session" || change.session.status === "running") continue;
      this.#exporter.add(spansOf(change.session, this.#stages.take(change.session.id)));
    }
  }
}
