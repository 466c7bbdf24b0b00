/** How an event is told: by which name, what stands around its payload, and the row of a log that it is. */

import type { Pointer } from '../document/document.ts';
import { below } from '../document/pointer.ts';
import { type EnvelopeWord, envelopeMembers, envelopeWord } from '../kinds/envelopes/all.ts';
import type { EnvelopeMembers } from '../kinds/envelopes/kind.ts';
import { durationMs } from '../kinds/measures.ts';
import { type Expression, entriesOf, entryOf, type Fact, type Named, statedValue } from './fact.ts';
import { named, type Source } from './source.ts';

/** By what a kind of event is told. */
interface ToldKind {
  readonly called: string;
  readonly action?: string;
}

/** The part of a document that has its kinds. */
interface OfKinds {
  readonly events: { readonly kinds: Fact<Named<ToldKind>> };
}

/** What whoever listens may ask for to hear of one kind alone: its name, with its action where it has one. */
export function askedFor({ called, action }: ToldKind): string {
  return action === undefined ? called : `${called}.${action}`;
}

/** Whether a word of a subscriber's list means a kind: its name, with its action or for every action, all of a family, or `*`. */
export function meansKind(word: string, kind: ToldKind): boolean {
  if (word === '*' || word === kind.called) return true;
  const whole = askedFor(kind);
  return word === whole || (word.endsWith('.*') && whole.startsWith(word.slice(0, -1)));
}

/** How a kind is told: by its name and its action, where the document states one. What is stored may be of a kind that is gone. */
export function toldAs(spec: OfKinds, name: string): { readonly kind: string; readonly action?: string } {
  const kind = entryOf(spec.events.kinds, name);
  return { kind: kind?.called ?? name, ...(kind?.action !== undefined && { action: kind.action }) };
}

/** Whether kinds are told by more than a name of their own. */
export function hasActions({ events }: OfKinds): boolean {
  return entriesOf(events.kinds).some(([, { action }]) => action !== undefined);
}

/** What expressions of an event that the clock tells are known by. */
export function clockOperation(kind: string): string {
  return `tell ${kind}`;
}

/** The events of a service as rows of a resource: each that is emitted is one. */
export interface EventLog {
  readonly at: Pointer;
  /** The resource whose rows they are. */
  readonly resource: string;
  /** How long a row is kept, in milliseconds; infinite for `forever`, nothing where it is not said, or is no time. */
  readonly keepMs?: number;
  /** What of an event a field holds. */
  readonly set: Named<Expression>;
}

export function readLog(source: Source): Fact<EventLog> {
  return source.fact((value) => {
    if (!value.isMap) return undefined;
    const keep = value.get('keep').text() ?? '';
    const keepMs = keep === 'forever' ? Number.POSITIVE_INFINITY : durationMs(keep);
    return {
      at: value.at,
      resource: value.get('resource').text() ?? '',
      ...(keepMs !== undefined && { keepMs }),
      set: value.get('set').madeValues(),
    };
  });
}

/** The log that a document states. */
export function logOf({ events }: { readonly events: { readonly log: Fact<EventLog> } }): EventLog | undefined {
  return statedValue(events.log);
}

/** What expressions of the log are known by, for events about rows of a resource, or about none. */
export function loggedOf(resource: string | undefined): string {
  return resource === undefined ? 'log what is about no row' : `log ${resource}`;
}

/** What stands around a payload. */
export interface Envelope {
  readonly at: Pointer;
  /** Its kind; nothing where it is a word that is none. */
  readonly word: EnvelopeWord | undefined;
  /** The expressions that it is made with, where anything is written: the document's own, or those of its kind. */
  readonly expressions: Named<Expression>;
  /** Each member with its expression; absent = the payload is sent as it is. */
  readonly members?: EnvelopeMembers;
}

/** Reads what a document writes under `envelope`. */
export function readEnvelope(source: Source): Envelope {
  const standing = source.unstated()?.standing;
  if (standing) return envelopeBy(source.at, standing === 'none' ? standing : undefined);
  if (source.isMap) return envelopeBy(source.at, 'a map', source.expressions());
  return envelopeBy(source.at, { word: source.text() ?? '' });
}

/** The envelope that a document means by what it writes. */
export function envelopeBy(
  at: Pointer,
  written: Parameters<typeof envelopeWord>[0],
  own: Named<Expression> = named([]),
): Envelope {
  const word = envelopeWord(written);
  const sources = named(Object.entries(own).map(([name, { source }]) => [name, source.trim()] as const));
  const members = word && envelopeMembers(word, sources);
  const made = Object.entries(written === undefined ? {} : (members ?? {}));
  const expressions = named(made.map(([name, source]) => [name, own[name] ?? { source, at: below(at, name) }] as const));
  return { at, word, expressions, ...(members && { members }) };
}
