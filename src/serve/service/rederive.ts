import type { Row } from '../../store/store.ts';
import type { Engine } from '../operations/engine.ts';
import { recountRow } from '../resources/derive.ts';
import type { RowModel } from '../resources/model.ts';
import { rearm } from './rearm.ts';

/** Brings what is derived in stored rows, and their timers, up to a document; says in words what was done. */
export async function bringRowsUp(engine: Engine): Promise<string[]> {
  return [...(await rederive(engine)), ...(await rearm(engine))];
}

/**
 * Reckons anew what is derived in stored rows where a document derives otherwise than the one before it, and says of how many rows of
 * which resource. What is derived of derived fields comes right after those: rows are gone through once for each level.
 */
async function rederive(engine: Engine): Promise<string[]> {
  const changed: RowModel[] = [];
  for (const model of engine.models.values()) {
    const known = await engine.store.read((rows) => rows.record(keyOf(model), 0)?.fingerprint);
    if (known !== model.derived.made && !(known === undefined && model.derived.made === none)) changed.push(model);
  }
  const counts = new Map<RowModel, number>();
  const levels = Math.max(0, ...changed.map(({ derived }) => derived.levels));
  for (let level = 1; level <= levels; level++) {
    for (const model of changed) {
      if (model.derived.levels < level) continue;
      const count = await rederiveRows(engine, model, level);
      counts.set(model, Math.max(count, counts.get(model) ?? 0));
    }
  }
  for (const model of changed)
    await engine.store.change((rows) =>
      rows.keep(keyOf(model), { fingerprint: model.derived.made, body: '', expiresMs: Number.MAX_SAFE_INTEGER }),
    );
  return [...counts].flatMap(([{ name }, count]) =>
    count > 0 ? [`What is derived in ${name} has changed: its ${count} rows are reckoned as the document says now.`] : [],
  );
}

/** What stands for nothing derived at all. */
const none = '';

function keyOf({ name }: RowModel): string {
  return `derived fields of ${name}`;
}

/** How many rows are gone through in one change. */
const pageMost = 100;

async function rederiveRows({ store }: Engine, model: RowModel, level: number): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const page: readonly Row[] = await store.change((rows) => {
      const found = rows.scan(model.name, after, pageMost);
      for (const row of found) recountRow(rows, model, row, level);
      return found;
    });
    count += page.length;
    const last = page.at(-1);
    if (!last) return count;
    after = last.seq;
  }
}
