import type { Change, DrawnAct, DrawnCellar } from './drawn-cellar.ts';

/** What somebody does; a box is named by where it stands among all. */
export interface Deed {
  readonly does:
    | 'make crate'
    | 'change crate'
    | 'open crate'
    | 'shut crate'
    | 'drop crate'
    | 'make box'
    | 'open box'
    | 'drop box';
  readonly crate: string;
  readonly box: number;
  readonly names: readonly string[];
}

interface Crate {
  readonly id: string;
  readonly names: readonly string[];
  readonly state: string;
}

interface Box {
  readonly id: number;
  readonly crate: string;
  readonly name: string;
  readonly count: number;
  readonly state: string;
}

/** All rows of a cellar; a line is what it says. */
export interface Rows {
  readonly crates: readonly Crate[];
  readonly boxes: readonly Box[];
  readonly lines: readonly string[];
}

/** Why something is not done: it is refused, before anything of it is stored or after; or it comes to what may never be. */
export class No {
  readonly why: 'before' | 'after' | 'unfit';
  constructor(why: No['why']) {
    this.why = why;
  }
}

/** The rows as the document says they become, reckoned once more by hand. */
export class Reckoning {
  rows: Rows;
  readonly said: DrawnCellar;
  #made: number;
  constructor(said: DrawnCellar, rows: Rows) {
    this.said = said;
    this.rows = rows;
    this.#made = Math.max(0, ...rows.boxes.map(({ id }) => id));
  }

  do({ does, crate, names }: Deed, box: number): void {
    const [kind] = names;
    if (does === 'make crate') this.#makeCrate(crate, names);
    else if (does === 'make box') this.#makeBox(this.#crate(crate).id, kind ?? '', 'before');
    else if (does === 'open box') this.#openBox(box);
    else if (does === 'drop box') this.#dropBox(box);
    else if (does === 'open crate') this.#moveCrate(crate, 'open');
    else if (does === 'shut crate') this.#moveCrate(crate, 'shut');
    else if (does === 'drop crate') this.#dropCrate(crate);
    else {
      const before = this.#crate(crate);
      const next = { ...before, names };
      if (String(before.names) === String(names)) return;
      this.#putCrate(next);
      this.#follow('crate updated', next);
    }
  }

  #crate(id: string): Crate {
    const found = this.rows.crates.find((one) => one.id === id);
    if (!found) throw new No('before');
    return found;
  }

  #box(id: number): Box {
    const found = this.rows.boxes.find((one) => one.id === id);
    if (!found) throw new No('before');
    return found;
  }

  #putCrate(crate: Crate): void {
    this.rows = { ...this.rows, crates: this.rows.crates.map((one) => (one.id === crate.id ? crate : one)) };
  }

  #putBox(box: Box): void {
    this.rows = { ...this.rows, boxes: this.rows.boxes.map((one) => (one.id === box.id ? box : one)) };
  }

  #makeCrate(id: string, names: readonly string[]): void {
    if (this.rows.crates.some((one) => one.id === id)) throw new No('before');
    const made = { id, names, state: 'shut' };
    this.rows = { ...this.rows, crates: [...this.rows.crates, made] };
    this.#follow('crate created', made);
  }

  #moveCrate(id: string, state: 'open' | 'shut'): void {
    const before = this.#crate(id);
    if (before.state === state) throw new No('before');
    const next = { ...before, state };
    this.#putCrate(next);
    this.#follow(`crate ${state}`, next);
  }

  #dropCrate(id: string): void {
    const gone = this.#crate(id);
    const { crates, boxes } = this.rows;
    const within = boxes.filter(({ crate }) => crate === id);
    this.rows = { ...this.rows, crates: crates.filter((one) => one !== gone), boxes: boxes.filter(({ crate }) => crate !== id) };
    for (const box of within.toReversed()) this.#follow('box deleted', box);
    this.#follow('crate deleted', gone);
  }

  #makeBox(crate: string, kind: string, unfit: 'before' | 'unfit'): void {
    if (kind.length > 4) throw new No(unfit);
    const isTaken = this.rows.boxes.some((one) => one.crate === crate && one.name === kind);
    if (this.said.isUnique && isTaken) throw new No('before');
    this.#made += 1;
    const made = { id: this.#made, crate, name: kind, count: 0, state: 'shut' };
    this.rows = { ...this.rows, boxes: [...this.rows.boxes, made] };
    this.#follow('box created', made);
  }

  #openBox(id: number): void {
    const before = this.#box(id);
    if (before.state === 'open') throw new No('before');
    const next = { ...before, state: 'open' };
    this.#putBox(next);
    this.#follow('box open', next);
  }

  #countBox(id: number, count: number): void {
    const before = this.#box(id);
    if (count > 2) throw new No('before');
    const next = { ...before, count };
    this.#putBox(next);
    if (before.count !== count) this.#follow('box updated', next);
  }

  #dropBox(id: number): void {
    const gone = this.#box(id);
    this.rows = { ...this.rows, boxes: this.rows.boxes.filter((one) => one !== gone) };
    this.#follow('box deleted', gone);
  }

  #makeLine(text: string): void {
    if (this.said.isUnique && this.rows.lines.includes(text)) throw new No('before');
    this.rows = { ...this.rows, lines: [...this.rows.lines, text] };
  }

  #follow(change: Change, row: Crate | Box): void {
    for (const act of this.said.acts[change]) {
      for (const item of this.#items(act, row)) {
        try {
          this.#once(act, row, item);
        } catch (no) {
          if (!(no instanceof No)) throw no;
          if (no.why !== 'before') throw no;
          if (!act.skips) throw new No('after');
        }
      }
    }
  }

  /** What it is done for: the names of a crate, the boxes of it, or once. */
  #items({ does }: DrawnAct, row: Crate | Box): readonly (string | Box)[] {
    if (!('names' in row)) return [row.name];
    if (does === 'line') return [''];
    if (does === 'lines' || does === 'make boxes') return row.names;
    return this.rows.boxes.filter(({ crate }) => crate === row.id);
  }

  #once({ does, label, isConditional }: DrawnAct, row: Crate | Box, item: string | Box): void {
    const called = typeof item === 'string' ? item : item.name;
    const isWanted = does === 'line' && 'names' in row ? row.names.length > 1 : called !== 'b';
    if (isConditional && !isWanted) return;
    if (does === 'line') this.#makeLine(`${label} ${'names' in row ? row.id : row.name}`);
    else if (does === 'lines') this.#makeLine(`${label} ${called}`);
    else if (does === 'make boxes') this.#makeBox(String(row.id), called, 'unfit');
    else if (does === 'open crate') this.#moveCrate((row as Box).crate, 'open');
    else if (does === 'open boxes') this.#openBox((item as Box).id);
    else if (does === 'drop boxes') this.#dropBox((item as Box).id);
    else this.#countBox((item as Box).id, (item as Box).count + 1);
  }
}
