import type { Escape } from "./escape.ts";

/** The assumed width of the terminal: a longer line has wrapped, and its earlier rows cannot be changed. */
const WIDEST = 1024;

/** One line of a terminal. A cell is one UTF-16 code unit of the string. */
export class Row {
  #settled = "";
  #cells = "";
  #rewritten = false;

  /** Overwrites cells. Returns the column after the written text. */
  write(column: number, run: string): number {
    if (column === this.#cells.length) this.#cells += run;
    else this.#replace(column, run, run.length);
    const end = column + run.length;
    return end > WIDEST ? this.#wrap(end) : end;
  }

  /** Erases from the column (0), up to it (1), or the whole line (2). */
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
    // Trailing blanks of a rewritten line were erased text.
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

/** How many rows the cursor can move up, as on a tall terminal. Rows above are final. */
const REACH = 100;
const FARTHEST = 1000;

/** A terminal with unlimited scrollback. The cursor can reach only the last rows. */
export class TextGrid {
  #settled: string[] = [];
  #rows: Row[] = [new Row()];
  #row = 0;
  #column = 0;

  write(run: string): void {
    this.#column = this.#current.write(this.#column, run);
  }

  control(code: number): void {
    if (code === 0x0a || code === 0x0b || code === 0x0c) this.#newLine();
    else if (code === 0x0d) this.#column = 0;
    else if (code === 0x08) this.#column = Math.max(0, this.#column - 1);
    else if (code === 0x7f) this.write("\u2421");
    // Bell and shift characters are invisible on a terminal.
    else if (code !== 0x07 && code !== 0x0e && code !== 0x0f) this.write(String.fromCharCode(0x2400 + code));
  }

  apply({ kind, action, parameters }: Escape): void {
    if (action === null) return;
    if (kind === "plain") {
      if (action === "D" || action === "E") this.#newLine();
      if (action === "M") this.#up(1);
      return;
    }
    const first = parameters[0] ?? 0;
    const count = Math.min(FARTHEST, Math.max(1, first));
    switch (action) {
      case "A":
        this.#up(count);
        return;
      case "F":
        this.#column = 0;
        this.#up(count);
        return;
      case "B":
        this.#down(count);
        return;
      case "E":
        this.#column = 0;
        this.#down(count);
        return;
      case "C":
        this.#column = Math.max(this.#column, Math.min(FARTHEST, this.#column + count));
        return;
      case "D":
        this.#column = Math.max(0, this.#column - count);
        return;
      case "G":
      case "`":
        this.#column = count - 1;
        return;
      case "K":
        this.#current.erase(first, this.#column);
        return;
      case "X":
        this.#current.blank(this.#column, count);
        return;
      case "@":
        this.#current.insert(this.#column, count);
        return;
      case "P":
        this.#current.remove(this.#column, count);
        return;
      case "J":
        if (first === 0) this.#eraseBelow();
        else this.#startNewRow();
        return;
      case "H":
      case "f":
      case "d":
        this.#startNewRow();
        return;
    }
  }

  finish(): string {
    return [...this.#settled, ...this.#rows.map(String)].join("\n").toWellFormed();
  }

  get #current(): Row {
    return this.#rows[this.#row] as Row;
  }

  #newLine(): void {
    this.#column = 0;
    this.#row++;
    if (this.#row === this.#rows.length) this.#rows.push(new Row());
    if (this.#rows.length < REACH * 2) return;
    for (const row of this.#rows.splice(0, REACH)) this.#settled.push(row.toString());
    this.#row -= REACH;
  }

  #up(count: number): void {
    this.#row = Math.max(0, this.#row - count);
  }

  #down(count: number): void {
    this.#row = Math.min(this.#rows.length - 1, this.#row + count);
  }

  #eraseBelow(): void {
    this.#current.erase(0, this.#column);
    this.#rows.length = this.#row + 1;
  }

  /** Starts a new row after absolute positioning or clearing, so that earlier text is kept and not overwritten. */
  #startNewRow(): void {
    this.#row = this.#rows.length - 1;
    if (!this.#current.isEmpty) this.#newLine();
    this.#column = 0;
  }
}
