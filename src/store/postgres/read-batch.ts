import { Superseded } from '../failures.ts';
import { type BodyOutcome, questionOf, takeWanted } from './batch.ts';
import { bareSql, type Connection, type FoundValues, type SessionUse, type Sql } from './connection.ts';
import type { State } from './state.ts';

/** What reads need of their store. */
export interface ReadsMeans<B> {
  readonly name: string;
  /** Nothing is known yet; `putsOffAsks` where no question that may be long is asked. */
  readonly newState: (putsOffAsks: boolean) => State;
  readonly run: (state: State, body: B) => BodyOutcome;
  readonly connect: (use: SessionUse, questionMs?: number) => Promise<Connection>;
  /** The generation of tables that this process works with; nothing before it knows any. */
  readonly generation: () => number | undefined;
  /** Finds out which one there is. */
  readonly asksGeneration: Sql;
}

/** A read that is waited for. */
export interface WaitingRead<B> {
  readonly body: B;
  /** The tables that it was made for. */
  readonly generation: number | undefined;
  /** Throws where nobody waits any more. */
  readonly goesOn: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How often bodies may ask for more before one is taken for one that asks for something else each time. */
const roundsMost = 10_000;

/** Reads that are asked together. All that one of them is told is of one moment. */
export class ReadBatch<B> {
  readonly #means: ReadsMeans<B>;
  readonly #generation: number | undefined;
  readonly #putOff: ((one: WaitingRead<B>) => void) | undefined;
  /** Those that have not come to their end yet. */
  left: readonly WaitingRead<B>[];

  /** @param putOff Takes the bodies that ask what may be long; where it is not there they are carried out too. */
  constructor(means: ReadsMeans<B>, waiting: readonly WaitingRead<B>[], putOff?: (one: WaitingRead<B>) => void) {
    this.#means = means;
    this.#generation = means.generation();
    this.#putOff = putOff;
    this.left = waiting.filter((one) => {
      if (one.generation !== this.#generation) one.reject(new Superseded(means.name));
      return one.generation === this.#generation;
    });
  }

  /** Carries them out, over a connection that is looked for once something has to be asked. */
  async carryOut(connected: () => Promise<Connection>): Promise<void> {
    let state = this.#settle(this.#newState());
    if (this.left.length === 0) return;
    const connection = await connected();
    const question = questionOf(state, state.wanted);
    if (question.sql.length === 1) {
      takeWanted(state);
      // One statement is of one moment; who needs more begins anew.
      // The tables were still the same after it.
      const found = await connection.send([...question.sql, ...this.#asksGeneration]);
      this.#checkGeneration(found.slice(question.sql.length));
      question.learn(found);
      this.#settle(state);
      state = this.#settle(this.#newState());
    }
    await this.#carryOutWhole(connection, state);
  }

  /** Everything of one moment: a transaction that sees nothing that is committed after its first question. */
  async #carryOutWhole(connection: Connection, state: State): Promise<void> {
    if (this.left.length === 0) return;
    try {
      for (let round = 0; this.left.length > 0; round++) {
        if (round === roundsMost) throw new Error('a body asks the store for something else each time it is run');
        const head = round === 0 ? [bareSql('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')] : [];
        const question = questionOf(state, takeWanted(state));
        const tables = round === 0 ? this.#asksGeneration : [];
        const found = await connection.send([...head, ...question.sql, ...tables]);
        if (round === 0) this.#checkGeneration(found.slice(head.length + question.sql.length));
        question.learn(found.slice(head.length));
        this.#settle(state);
      }
    } catch (error) {
      if (!connection.isLost) await connection.send([bareSql('ROLLBACK')]).catch(() => {});
      throw error;
    }
    // Nobody waits for its end; one that fails shows with the next question.
    connection.send([bareSql('COMMIT')]).catch(() => {});
  }

  #newState(): State {
    return this.#means.newState(this.#putOff !== undefined);
  }

  get #asksGeneration(): readonly Sql[] {
    return this.#generation === undefined ? [] : [this.#means.asksGeneration];
  }

  /** @throws {Superseded} where the tables are those of another document by now. */
  #checkGeneration([rows]: readonly (readonly FoundValues[])[]): void {
    const row = rows?.[0];
    if (this.#generation !== undefined && Number(row?.[0]) !== this.#generation) throw new Superseded(this.#means.name);
  }

  /** Runs what is left: settles the bodies that come to their end, and keeps those that ask for more. */
  #settle(state: State): State {
    this.left = this.left.filter((one) => {
      state.begin(false);
      const outcome = this.#means.run(state, one.body);
      if (state.isPutOff) this.#putOff?.(one);
      else if (state.isStopped) return true;
      else if ('error' in outcome) one.reject(outcome.error);
      else one.resolve(outcome.value);
      return false;
    });
    return state;
  }
}
