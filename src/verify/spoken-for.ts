/** Whom a run can speak for: users whose credential was not given, and callers whose credential is taken nowhere. */

import { entriesOf } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import type { TrialCaller } from './exchange/callers.ts';
import { isDone, type TrialExchange } from './exchange/exchange.ts';
import type { VerifyReport } from './report.ts';

/** Answers that one caller was given. */
interface Heard {
  done: number;
  unknown: number;
}

/** So few answers say nothing of a credential. */
const unknownLeast = 3;

export class SpokenFor {
  readonly #callers = new Map<TrialCaller, Heard>();

  /** Takes note of what a case was answered. */
  heard(exchanges: readonly TrialExchange[]): void {
    for (const exchange of exchanges) {
      const { caller, status } = exchange;
      if (caller?.credential === undefined || caller.bad !== undefined) continue;
      const heard = this.#callers.get(caller) ?? { done: 0, unknown: 0 };
      // What may be done is told to everybody (RFC 9110 section 9.3.7).
      if (isDone(exchange) && exchange.sent.method !== 'OPTIONS') heard.done += 1;
      if (status === 401) heard.unknown += 1;
      this.#callers.set(caller, heard);
    }
  }

  /** The callers for whom nothing was done, and who were told that nobody knows them (RFC 9110 section 15.5.2). */
  get rejected(): string[] {
    return [...this.#callers].filter(([, { done, unknown }]) => done === 0 && unknown >= unknownLeast).map(([{ name }]) => name);
  }
}

/** The users of a document that asks for credentials of whom nobody was given. */
export function unspokenIn(spec: Spec, callers: readonly TrialCaller[]): string[] {
  if (entriesOf(spec.authentication.schemes).length === 0) return [];
  const given = new Set(callers.filter(({ bad }) => bad === undefined).map(({ user }) => user));
  return entriesOf(spec.purpose.users).flatMap(([user]) => (given.has(user) ? [] : [user]));
}

/** What a person has to know first of a run that could speak for few; nothing where it could for all. */
export function spokenNotes({ unspoken, rejected }: Pick<VerifyReport, 'unspoken' | 'rejected'>): string[] {
  const named = (words: readonly string[]) => words.map((word) => `\`${word}\``).join(', ');
  return [
    ...(rejected.length > 0
      ? [`The credential of ${named(rejected)} is taken nowhere: it was answered 401. What only it may do was not looked at.`]
      : []),
    ...(unspoken.length > 0
      ? [
          `No credential was given for ${named(unspoken)}: --as ${unspoken[0]}=CREDENTIAL. What only they may do was not looked at.`,
        ]
      : []),
  ];
}
