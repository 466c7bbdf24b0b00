import { MODEL } from './model.js';

/** Rows in memory, with transactions: what a refused one did is undone, and what it would have sent is not sent. */
export class Store {
  #tables = new Map(Object.keys(MODEL).map((name) => [name, new Map()]));
  #children = new Map();
  #counters = new Map();
  #journal = null;
  #after = null;

  transaction(work) {
    if (this.#journal) return work();
    this.#journal = [];
    this.#after = [];
    let after = [];
    try {
      const result = work();
      after = this.#after;
      return result;
    } catch (error) {
      for (const undo of this.#journal.reverse()) undo();
      throw error;
    } finally {
      this.#journal = null;
      this.#after = null;
      for (const effect of after) effect();
    }
  }

  /** Something to be done once what is under way is stored. */
  afterwards(effect) {
    if (this.#after) this.#after.push(effect);
    else effect();
  }

  undo(step) {
    this.#journal?.push(step);
  }

  get(resource, id) {
    return this.#tables.get(resource).get(id);
  }

  /** All rows, the oldest first. */
  all(resource) {
    return [...this.#tables.get(resource).values()];
  }

  /** The rows of a resource whose field refers to a row. */
  children(resource, field, id) {
    const ids = this.#children.get(`${resource}.${field}`)?.get(id) ?? [];
    return [...ids].map((child) => this.get(resource, child));
  }

  /** What a row refers to, some steps up. */
  up(resource, row, ...path) {
    let found = row;
    let name = resource;
    for (const field of path) {
      name = MODEL[name].fields[field].ref;
      found = this.get(name, found[field]);
    }
    return found;
  }

  next(counter) {
    const before = this.#counters.get(counter) ?? 0;
    this.#counters.set(counter, before + 1);
    this.undo(() => this.#counters.set(counter, before));
    return before + 1;
  }

  put(resource, row) {
    const table = this.#tables.get(resource);
    const before = table.get(row.id);
    table.set(row.id, row);
    if (before === undefined) this.#link(resource, row);
    this.undo(() => {
      if (before !== undefined) table.set(row.id, before);
      else {
        table.delete(row.id);
        this.#unlink(resource, row);
      }
    });
    return row;
  }

  remove(resource, row) {
    const table = this.#tables.get(resource);
    const before = [...table];
    table.delete(row.id);
    this.#unlink(resource, row);
    this.undo(() => {
      table.clear();
      for (const [id, one] of before) table.set(id, one);
      this.#link(resource, row);
    });
  }

  #refs(resource) {
    return Object.entries(MODEL[resource].fields).filter(([, { ref }]) => ref !== undefined);
  }

  #link(resource, row) {
    for (const [field] of this.#refs(resource)) {
      const key = `${resource}.${field}`;
      if (!this.#children.has(key)) this.#children.set(key, new Map());
      const rows = this.#children.get(key);
      if (!rows.has(row[field])) rows.set(row[field], new Set());
      rows.get(row[field]).add(row.id);
    }
  }

  #unlink(resource, row) {
    for (const [field] of this.#refs(resource)) this.#children.get(`${resource}.${field}`)?.get(row[field])?.delete(row.id);
  }
}
