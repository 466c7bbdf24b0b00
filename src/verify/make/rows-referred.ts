import type { Symbolic } from '../exchange/symbol.ts';

/** The rows that a body refers to: made for its first draw, and taken again for the next. */
export class RowsReferred {
  readonly #make: (resource: string) => Promise<Symbolic>;
  readonly #known = new Map<string, Symbolic[]>();
  readonly #taken = new Map<string, number>();

  constructor(make: (resource: string) => Promise<Symbolic>) {
    this.#make = make;
  }

  async one(resource: string): Promise<Symbolic> {
    const known = this.#known.get(resource) ?? [];
    this.#known.set(resource, known);
    const at = this.#taken.get(resource) ?? 0;
    this.#taken.set(resource, at + 1);
    const row = known[at] ?? (await this.#make(resource));
    known[at] = row;
    return row;
  }

  again(): void {
    this.#taken.clear();
  }
}
