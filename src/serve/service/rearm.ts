import { createHash } from 'node:crypto';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { machinesOf } from '../../parts/states.ts';
import type { Row } from '../../store/store.ts';
import type { Engine } from '../operations/engine.ts';
import { follower } from '../resources/act.ts';
import { setTimers } from '../resources/kept-row.ts';
import type { RowModel } from '../resources/model.ts';

/**
 * Brings the timers of stored rows up to a document whose timed transitions are not those that they were set for, and says
 * of how many rows of which resource. What a timer fired for it does not fire for again; one that no transition has any more
 * is dropped when it is due.
 */
export async function rearm(engine: Engine): Promise<string[]> {
  const { store, models } = engine;
  const told: string[] = [];
  for (const model of models.values()) {
    const words = timedWords(engine, model);
    const key = `timers of ${model.name}`;
    const known = await store.read((rows) => rows.record(key, 0)?.fingerprint);
    const isFirst = known === undefined;
    if (known === words || (isFirst && words === none)) continue;
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
const none = '';

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
  if (timed.length + alarms.length === 0) return none;
  const told = alarms.length === 0 ? [] : [alarms];
  // One field is said by itself, as it was when there could be no more.
  const fields = machines.length < 2 ? machines[0]?.field : machines.map(({ field }) => field);
  return createHash('sha256')
    .update(JSON.stringify(derived.made === '' ? [fields, timed, ...told] : [fields, timed, derived.made, ...told]))
    .digest('base64url');
}

/** How many rows are set right in one change. */
const pageMost = 500;

async function rearmRows({ store, models, clock }: Engine, model: RowModel): Promise<number> {
  let count = 0;
  for (let after = 0; ; ) {
    const page: readonly Row[] = await store.change((rows) => {
      const found = rows.scan(model.name, after, pageMost);
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
