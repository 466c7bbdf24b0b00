import { bareSql, type Connection, type FoundValues, type Sql } from './connection.ts';
import type { StoreNames } from './dialect.ts';
import { pointQueries, type Wanted } from './facts.ts';
import { flushSql } from './flush.ts';
import { markNames } from './ops.ts';
import type { State, WrittenFacts } from './state.ts';

/** What came of a body. */
export type BodyOutcome = { readonly value: unknown } | { readonly error: unknown };

/** Statements, and what is done with what they find. */
export interface BatchQuestion {
  readonly sql: readonly Sql[];
  learn(found: readonly (readonly FoundValues[])[]): void;
}

/** What answers everything that is wanted. */
export function questionOf(state: State, { points, asks }: Wanted): BatchQuestion {
  const lookups = pointQueries(state.shapes, points.values());
  const list = [...asks.values()];
  return {
    sql: [...lookups.map(({ sql }) => sql), ...list.flatMap(({ ask }) => ask.sql)],
    learn(found) {
      let at = 0;
      for (const { learn } of lookups) learn(found[at++] ?? [], state.facts);
      for (const { ask, own } of list) {
        state.learn(ask, own, ask.value(found.slice(at, at + ask.sql.length)));
        at += ask.sql.length;
      }
    },
  };
}

/** How often one body may ask for more before it is taken for one that asks for something else each time. */
const roundsMost = 2000;

/** Something that bodies are run by. */
export interface BatchMeans<B> {
  readonly connection: Connection;
  readonly state: State;
  readonly bodies: readonly B[];
  /** Runs a body to its end, or until it asks for what is not known. */
  readonly run: (body: B) => BodyOutcome;
  /** All tables with rows, for one that clears them. */
  readonly rowTables: () => Promise<readonly string[]>;
}

/**
 * Runs bodies one after the other inside a transaction that is open. What a body asks for is fetched, together with what the later ones will
 * ask for, and it is run again.
 */
export async function runBodies<B>(means: BatchMeans<B>): Promise<BodyOutcome[]> {
  const { state, bodies, run } = means;
  const outcomes: BodyOutcome[] = [];
  for (let index = 0; index < bodies.length; index++) {
    for (let round = 0; ; round++) {
      state.begin(round > 0);
      const outcome = run(bodies[index] as B);
      if (!state.isStopped) {
        if ('error' in outcome) state.undo();
        const mustFlush = state.own.ops.some(({ kind }) => kind === 'erase' || kind === 'clear');
        state.keep();
        if (mustFlush) await flush(means);
        outcomes.push(outcome);
        break;
      }
      if (round === roundsMost) {
        state.undo();
        outcomes.push({ error: new Error('the body asks the store for something else each time it is run') });
        break;
      }
      await fetch(means, index);
    }
  }
  return outcomes;
}

/** Fetches what the body at a place has asked for, and what those after it will. */
async function fetch<B>(means: BatchMeans<B>, index: number): Promise<void> {
  const { connection, state } = means;
  const own = state.takeOwn();
  state.undo();
  const asks = [...state.wanted.asks.values()];
  if (asks.length > 0) await flush(means);
  if (!asks.some((one) => one.own > 0 || one.ask.isUndone)) {
    lookAhead(means, index + 1);
    const question = questionOf(state, takeWanted(state));
    question.learn(await connection.send(question.sql));
    return;
  }
  // The body looks at what it wrote itself: that is written for as long as the question takes.
  const question = questionOf(state, takeWanted(state));
  const over = [bareSql('SAVEPOINT body'), ...(await flushes(means, own))];
  const found = await connection.send([...over, ...question.sql, bareSql('ROLLBACK TO body'), bareSql('RELEASE body')]);
  question.learn(found.slice(over.length));
}

/** Finds out which points the later bodies will ask for. */
function lookAhead<B>({ state, bodies, run }: BatchMeans<B>, from: number): void {
  const { asks } = state.wanted;
  const known = new Map(asks);
  guess(state, bodies.slice(from), run);
  for (const key of asks.keys()) if (!known.has(key)) asks.delete(key);
}

/** Runs bodies for what they will ask for; nothing of what they do is kept. */
export function guess<B>(state: State, bodies: readonly B[], run: (body: B) => BodyOutcome): void {
  state.isGuessing = true;
  try {
    for (const body of bodies) {
      state.begin(true);
      run(body);
      state.undo();
    }
  } finally {
    state.isGuessing = false;
  }
}

export function takeWanted(state: State): Wanted {
  const { wanted } = state;
  state.forgetWanted();
  return wanted;
}

/** Brings what the bodies that are done have written into the database; the transaction goes on. */
async function flush<B>(means: BatchMeans<B>): Promise<void> {
  const { state, connection } = means;
  const statements = await flushes(means, state.done);
  if (statements.length > 0) await connection.send(statements);
  state.flushed();
}

async function flushes<B>({ state, rowTables }: BatchMeans<B>, written: WrittenFacts): Promise<Sql[]> {
  const clears = written.ops.some(({ kind }) => kind === 'clear');
  return flushSql(state, written, clears ? await rowTables() : []);
}

/** What brings all that is left into the database. */
export function rest<B>(means: BatchMeans<B>): Promise<Sql[]> {
  return flushes(means, means.state.done);
}

/** What changed beside rows, by what of a store's row says so: the number of the change that did. */
export function marksOf(written: ReadonlySet<string>, names: StoreNames, last: number): Sql {
  const set = ['last', ...markNames.filter((mark) => written.has(mark))].map((name) => `${name} = $1::int8`).join(', ');
  return { text: `UPDATE ${names.own('store')} SET ${set}`, values: [String(last)] };
}
