/** Each step of a request and when it was over, ms since the epoch with fractions. */
export interface Stage {
  step: string;
  atMs: number;
}

/** A request that is asked about may wait for a person: so many may be under way. */
const MOST_KEPT = 2000;

/** How far requests have come, for the traces of those that end. Forgets the oldest rather than grow. */
export class Stages {
  readonly #stages = new Map<string, Stage[]>();

  note(step: string, session: string): void {
    const atMs = performance.timeOrigin + performance.now();
    const known = this.#stages.get(session);
    // One that changed after its approval is judged again: the last time counts.
    if (known) known.push({ step, atMs });
    else this.#stages.set(session, [{ step, atMs }]);
    if (this.#stages.size <= MOST_KEPT) return;
    this.#stages.delete(this.#stages.keys().next().value as string);
  }

  /** Once. */
  take(session: string): readonly Stage[] {
    const stages = this.#stages.get(session) ?? [];
    this.#stages.delete(session);
    return stages;
  }
}
