/** No terminal is wider: a longer line has wrapped, and what was written further back is out of reach. */
const WIDEST = 1024;

/** One line of a terminal, cells counted as string indexes. */
export class Row {
  #settled = "";
  #cells = "";
  #rewritten = false;

  /** Writes over what is there; returns the column after it. */
  write(column: number, run: string): number {
    if (column === this.#cells.length) this.#cells += run;
    else this.#replace(column, run, run.length);
    const end = column + run.length;
    return end > WIDEST ? this.#wrap(end) : end;
  }

  /** From the column on, up to it, or all of it. */
  erase(which: number, column: number): void {
    if (which === 0) this.#replace(column, "", WIDEST);
    if (which === 1) this.#replace(0, " ".repeat(column + 1), column + 1);
    if (which === 2) this.#replace(0, "", WIDEST);
  }

  blank(column: number, count: number): void {
    this.#replace(column, " ".repeat(count), count);
  }

  insert(column: number, count: number): void {
    this.#replace(column, " ".repeat(count), 0);
    if (this.#cells.length > WIDEST) this.#cells = this.#cells.slice(0, WIDEST);
  }

  remove(column: number, count: number): void {
    this.#replace(column, "", count);
  }

  get isEmpty(): boolean {
    return this.#cells === "" && this.#settled === "";
  }

  toString(): string {
    // What was blanked out is not there any more.
    let end = this.#cells.length;
    if (this.#rewritten) while (this.#cells[end - 1] === " ") end--;
    return this.#settled + this.#cells.slice(0, end);
  }

  #replace(column: number, run: string, count: number): void {
    this.#rewritten = true;
    if (run === "" && column >= this.#cells.length) return;
    this.#cells = this.#cells.slice(0, column).padEnd(column) + run + this.#cells.slice(column + count);
  }

  #wrap(end: number): number {
    const keep = end % WIDEST;
    this.#settled += this.#cells.slice(0, end - keep);
    this.#cells = this.#cells.slice(end - keep);
    return keep;
  }
}
