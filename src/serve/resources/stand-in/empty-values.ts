import type { Json } from '../../../document/document.ts';
import { describedAlways } from '../../../parts/samples/described-words.ts';
import { overIn, settledIn } from '../../../parts/samples/first-state.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { alternativesOf } from '../../../parts/shapes/branches.ts';
import type { Value } from '../../exchange/exchange.ts';
import { copy } from '../../http/json.ts';

/** What a thing has where nothing was sent: no list has an item, no flag is set, and what else may be null is. Of the rest nothing is known. */
export function emptyOf(shape: Shape, name: string, samples: Samples): Value {
  const { type, enum: listed, const: constant, default: usual, example, description } = samples.whole(shape);
  const only = constant ?? (Array.isArray(listed) && listed.length === 1 ? listed[0] : undefined);
  const fits = (value: Value) => samples.of(shape, name).fits(value);
  const always = type === 'string' && only === undefined ? describedAlways(name, description) : undefined;
  if (always !== undefined && fits(always)) return always;
  if (usual !== undefined && fits(usual)) return copy(usual);
  if (only !== undefined) return only;
  const state = stateOfNew(listed ?? wordsBesideNull(shape, samples), name);
  if (state !== undefined) return state;
  // Clients go through a list, and not through null.
  if (Array.isArray(type) && type.includes('array') && fits([])) return [];
  if (Array.isArray(type) ? type.includes('null') : Array.isArray(listed) && listed.includes(null)) return null;
  if (type === 'array') return fits([]) ? [] : undefined;
  if (type === 'boolean') return typeof example === 'boolean' && setFlags.test(name) ? example : false;
  return type === 'string' && madeNames.test(name) && typeof example === 'string' && fits(example) ? example : undefined;
}

/** The words of the one form of a value that is not null. */
export function wordsBesideNull(shape: Shape, samples: Samples): Json | undefined {
  const forms = alternativesOf(shape).filter(({ type }) => type !== 'null');
  const [only] = forms;
  return only && forms.length === 1 ? samples.whole(only).enum : undefined;
}

/** The state of a new thing, where its words are listed: that in which the list begins, unless it tells how far something has come, or is of its making. */
export function stateOfNew(listed: Json | undefined, name: string): string | undefined {
  if (!isStateName(name) || !Array.isArray(listed)) return undefined;
  const words = listed.filter((one): one is string => typeof one === 'string');
  return overIn(words, name) ?? settledIn(words);
}

/** Flags that say that a thing is there to be used. */
const setFlags = /^(?:is_?)?(?:active|enabled|visible|available|open|public)$/i;
const madeNames = /^(?:created|updated|modified)(?:_?(?:at|on|date|time))?$/i;

/** The moments at which something was over or was last done, of which nothing that was just made has one: `archived_at`, `completedAt`, `lastUsedOn`. */
export function isOfItsEnd(name: string): boolean {
  return ends.test(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase());
}

const ends =
  /^(?:archived|deleted|cancell?ed|completed|closed|resolved|revoked|suspended|paused|ended|finished|failed|disabled|deactivated|trashed|removed|redeemed|refunded|voided|merged|rejected|last(?:used|login|loggedin|seen|signin|active|accessed))(?:at|on|date|time|datetime|timestamp)$/;

/** `status`, `State`, `verification_status`, `reviewState`. */
export function isStateName(name: string): boolean {
  return /(?:^|_)(?:status|state)$|[a-z](?:Status|State)$/i.test(name);
}

/** `comment_count`, `filesCount`, `num_replies`, `total_members`: how many of something there are. */
export function isCountName(name: string): boolean {
  return /(?:^|_)counts?$|[a-z]Counts?$|^(?:num(?:ber)?_(?:of_)?|total_)[a-z]+s$|^total[A-Z][a-z]+s$|^num(?:ber)?(?:Of)?[A-Z]\w*s$/.test(
    name,
  );
}
