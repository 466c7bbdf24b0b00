/** Stored rows brought up to a document that derives otherwise, or has other timers, than the one before it. */

import { createHash } from 'node:crypto';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { machinesOf } from '../../parts/states.ts';
import type { Row } from '../../store/store.ts';
import type { Engine } from '../operations/engine.ts';
import { follower } from '../resources/act.ts';
import { recountRow } from '../resources/derive.ts';
import { setTimers } from '../resources/kept-row.ts';
import type { RowModel } from '../resources/model.ts';

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

/**
 * Brings the timers of stored rows up to a document whose timed transitions are not those that they were set for, and says
 * of how many rows of which resource. What a timer fired for it does not fire for again; one that no transition has any more
 * is dropped when it is due.
 */
async function rearm(engine: Engine): Promise<string[]> {
  const { store, models } = engine;
  const told: string[] = [];
  for (const model of models.values()) {
    const words = timedWords(engine, model);
    const key = `timers of ${model.name}`;
    const known = await store.read((rows) => rows.record(key, 0)?.fingerprint);
    const isFirst = known === undefined;
    if (known === words || (isFirst && words === noTimers)) continue;
    const count = await rearmRows(engine, model);
    await store.change((rows) => rows.keep(key, { fingerprint: words, body: '', expiresMs: Number.MAX_SAFE_INTEGER }));
    if (count > 0)
      told.push(
        `The timed transitions of ${model.name} have changed: the timers of its ${count} rows are set as the document says now.`,
      );
  }
  return told;
}

/** What stands for no timed transition at all. */
const noTimers = '';

/** The timed transitions of a resource, as a fingerprint of what they say. */
function timedWords({ compilation }: Engine, { name, derived }: RowModel): string {
  const machines = machinesOf(compilation.spec.states, name);
  const transitions = machines.flatMap((machine) => Object.values(statedValue(machine.transitions) ?? {}));
  const timed = transitions.flatMap(({ name: word, from, after, atTime }) =>
    after || atTime ? [[word, from, after?.ms ?? '', atTime?.source ?? '']] : [],
  );
  const alarms = entriesOf(compilation.spec.events.kinds).flatMap(([kind, { clock }]) =>
    clock?.of === name ? [[kind, clock.at.source]] : [],
  );
  if (timed.length + alarms.length === 0) return noTimers;
  const told = alarms.length === 0 ? [] : [alarms];
  // One field is said by itself, as it was when there could be no more.
  const fields = machines.length < 2 ? machines[0]?.field : machines.map(({ field }) => field);
  return createHash('sha256')
    .update(JSON.stringify(derived.made === '' ? [fields, timed, ...told] : [fields, timed, derived.made, ...told]))
    .digest('base64url');
}

/** How many rows are set right in one change. */
const rowsMost = 500;

async function rearmRows({ store, models, clock }: Engine, model: RowModel): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const page: readonly Row[] = await store.change((rows) => {
      const found = rows.scan(model.name, after, rowsMost);
      const scope = { now: clock.now(), operation: '', version: '', follow: follower(rows, models) };
      for (const row of found) setTimers({ rows, scope }, model, row, model.parse(row));
      return found;
    });
    count += page.length;
    const last = page.at(-1);
    if (!last) return count;
    after = last.seq;
  }
}
