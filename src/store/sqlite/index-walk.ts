import type { Scalar } from '../store.ts';
import { continuations, exact, exactSql, type OrderColumn } from './condition.ts';
import type { IndexPath } from './index-path.ts';
import { PartScan, type TableSelection } from './scan.ts';
import { bound, type Slices, type Stretch, type Walk, type WalkedTable, type WalkWidth, Width } from './walk.ts';

/** A part of an index as what goes along it has to know it. */
export interface WalkedPath extends IndexPath {
  /** What the columns of the index have to meet, as SQL. */
  readonly where: Pick<TableSelection, 'where' | 'slots' | 'equal'>;
  /** The columns after those that are fixed, in the direction of the walk. */
  readonly sorted: readonly OrderColumn[];
}

/** Along a part of an index, from its beginning or from a row on: the rows outside of it are not looked at. */
export class IndexWalk implements Walk {
  readonly among = 't.seq IN (SELECT value FROM json_each(?))';
  readonly isInOrder: boolean;
  readonly #path: WalkedPath;
  readonly #params: readonly Scalar[];
  readonly #width: WalkWidth;
  readonly #tellsNumbers: boolean;
  /** What goes on after a row, by which of its values are absent. */
  readonly #continued = new Map<string, PartScan>();
  readonly #scanOf: (place: readonly Scalar[] | undefined) => PartScan;
  readonly #start: readonly Scalar[] | undefined;

  /** Nothing where SQLite would not read the rows off an index in that order. `start` has the values of a row in the order of the question. */
  static along(
    table: WalkedTable,
    path: WalkedPath,
    params: readonly Scalar[],
    width: WalkWidth,
    start: readonly Scalar[] | undefined,
  ): IndexWalk | undefined {
    const place = start && path.isInOrder ? [...path.restAt.map((at) => start[at]!), start.at(-1)!] : undefined;
    // A row that was passed is passed by the order alone; in another one all are looked at.
    const walk = new IndexWalk(table, path, params, width, place, path.isWhole && (!start || path.isInOrder));
    return walk.#scanOf(undefined).isRange && (!place || walk.#scanOf(place).isRange) ? walk : undefined;
  }

  private constructor(
    { database, from }: WalkedTable,
    path: WalkedPath,
    params: readonly Scalar[],
    width: WalkWidth,
    start: readonly Scalar[] | undefined,
    tellsNumbers: boolean,
  ) {
    this.isInOrder = path.isInOrder;
    this.#path = path;
    this.#params = params;
    this.#width = width;
    this.#start = start;
    this.#tellsNumbers = tellsNumbers;
    const columns = [...path.sorted.map(exactSql), 't.seq'];
    const order = [
      ...path.sorted.map(({ sql, descending }) => `${sql}${descending ? ' DESC' : ''}`),
      `t.seq${path.newestFirst ? ' DESC' : ''}`,
    ];
    const selection = { from, columns, places: columns, order: order.join(', '), ...path.where };
    this.#scanOf = (place) => {
      const isAbsent = place?.slice(0, -1).map((value) => value === null);
      const key = isAbsent?.join() ?? 'first';
      const known = this.#continued.get(key);
      if (known) return known;
      const parts = isAbsent
        ? continuations(path.sorted, 't.seq', path.newestFirst, isAbsent, params.length)
        : [{ sql: '', slots: [] }];
      const made = new PartScan(database, selection, parts);
      this.#continued.set(key, made);
      return made;
    };
  }

  *through(look: (stretch: Stretch) => boolean): Slices<void> {
    const { sorted } = this.#path;
    const width = new Width(this.#width);
    let place = this.#start;
    for (;;) {
      const scan = this.#scanOf(place);
      const values = bound(scan.slots, place ? [...this.#params, ...place] : this.#params);
      const { rows } = width;
      const isOver = width.measured(() => {
        const found = scan.rows.all(...values, rows, 0);
        const last = found.at(-1);
        if (!last) return true;
        place = [...sorted.map(({ type }, at) => exact(type, last[at]!)), last.at(-1)!];
        const numbers = found.map((row) => Number(row.at(-1)));
        const isWanted = look({ values: [JSON.stringify(numbers)], numbers: this.#tellsNumbers ? numbers : undefined });
        return !isWanted || found.length < rows;
      });
      if (isOver) return;
      yield;
    }
  }
}
