/** Things in bodies: where they lie, what names them, which of their members were sent, and where a list has them. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';
import type { Described } from './description.ts';
import { type Family, plainName } from './families.ts';
import { misfitOf, typesOf } from './fitting.ts';

type Steps = readonly string[];

const wrappers = [
  'data',
  'result',
  'results',
  'item',
  'response',
  'payload',
  'body',
  'resource',
  'entity',
  'object',
  'attributes',
];
const idWords = ['id', '_id', 'uuid', 'guid', 'uid', 'sid', 'identifier'];
const nameWords = ['key', 'slug', 'name', 'code', 'number', 'handle', 'token', 'arn', 'username', 'login'];
const keptSecret = /password|secret|token|credential|captcha|signature/i;

/** The members that may name a thing of the family, the likeliest first. */
function namesOf({ parameter, noun }: Family): string[] {
  const base = plainName(parameter);
  const ids = [...idWords, `${plainName(noun)}id`].map(plainName);
  const ending = [...idWords, ...nameWords].map(plainName).find((word) => base.endsWith(word));
  if (ending !== undefined && idWords.includes(ending)) return [base, ...ids, 'key'];
  return [base, ...(ending === undefined ? [] : [ending]), ...ids, ...nameWords.map(plainName)];
}

/** The member of a described thing that names it. */
export function namingMember(described: Described, schema: Json | undefined, family: Family): string | undefined {
  const members = Object.entries(described.membersOf(schema)).filter(([, member]) => {
    const [type = 'string'] = typesOf(described.flat(member)).filter((one) => one !== 'null');
    return ['string', 'integer', 'number'].includes(type);
  });
  for (const name of namesOf(family)) {
    const found = members.find(([member]) => plainName(member) === name);
    if (found) return found[0];
  }
  return undefined;
}

/** Where the thing lies in a described answer, and the member that names it there. */
export interface ThingPlace {
  readonly steps: Steps;
  readonly naming: string | undefined;
}

export function placeOfThing(described: Described, schema: Json | undefined, family: Family): ThingPlace {
  let level: Steps[] = [[]];
  for (let depth = 0; depth < 3; depth++) {
    for (const steps of level) {
      const here = schemaAt(described, schema, steps);
      const naming = namingMember(described, here, family);
      if (naming !== undefined) return { steps, naming };
    }
    level = level.flatMap((steps) =>
      inner(described, schemaAt(described, schema, steps), family).map((name) => [...steps, name]),
    );
  }
  return { steps: [], naming: undefined };
}

/** Members that may hold the thing itself. */
function inner(described: Described, schema: Json | undefined, { noun }: Family): string[] {
  const maps = Object.entries(described.membersOf(schema)).filter(([, one]) => typesOf(described.flat(one))[0] === 'object');
  const called = maps
    .map(([name]) => name)
    .filter((name) => {
      const plain = plainName(name);
      return wrappers.includes(plain) || plain === plainName(noun) || plainName(noun).endsWith(plain);
    });
  return called.length > 0 ? called : maps.length === 1 ? maps.map(([name]) => name) : [];
}

export function schemaAt(described: Described, schema: Json | undefined, steps: Steps): Json | undefined {
  let here = schema;
  for (const step of steps) {
    const members = described.membersOf(here);
    here = Object.hasOwn(members, step) ? members[step] : undefined;
  }
  return here;
}

export function valueAt(value: Json | undefined, steps: Steps): Json | undefined {
  let here = value;
  for (const step of steps) here = isMap(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  return here;
}

/** The members that were sent and that an answer has a place for, with where they have to be. */
export function shownOf(described: Described, sent: Json | undefined, schema: Json, place: ThingPlace) {
  const found: { readonly sent: Json; readonly steps: Steps }[] = [];
  for (const [steps, value] of leavesOf(sent)) {
    if (steps.some((step) => keptSecret.test(step)) || value === null) continue;
    for (const to of [steps, [...place.steps, ...steps], [...place.steps, ...steps.slice(1)]]) {
      const there = to.length === 0 ? undefined : schemaAt(described, schema, to);
      if (there === undefined) continue;
      const flat = described.flat(there);
      const isShown = flat.writeOnly !== true && typesOf(flat).length > 0 && !misfitOf(described, value, flat);
      if (isShown) found.push({ sent: value, steps: to });
      break;
    }
  }
  return found;
}

function leavesOf(value: Json | undefined, steps: Steps = []): [Steps, Json][] {
  if (!isMap(value)) return value === undefined ? [] : [[steps, value]];
  return Object.entries(value).flatMap(([name, member]) => (steps.length > 4 ? [] : leavesOf(member, [...steps, name])));
}

/** The first member that an answer shows otherwise than it was sent, in a few words. */
export function otherwise(sent: ReturnType<typeof shownOf>, body: Json | undefined): string | undefined {
  for (const one of sent) {
    const shown = valueAt(body, one.steps);
    if (!isSame(one.sent, shown)) return `${one.steps.join('.')}: sent ${short(one.sent)}, shown ${short(shown)}`;
  }
  return undefined;
}

/** Equal; lists and maps may have been completed, moments written otherwise. */
function isSame(sent: Json, shown: Json | undefined): boolean {
  if (shown === undefined) return Array.isArray(sent) && sent.length === 0;
  if (Array.isArray(sent))
    return Array.isArray(shown) && sent.length === shown.length && sent.every((one, at) => isSame(one, shown[at]));
  if (isMap(sent))
    return isMap(shown) && Object.entries(sent).every(([name, one]) => !(name in shown) || isSame(one, shown[name]));
  if (sent === shown) return true;
  return typeof sent === 'string' && /^\d{4}-\d\d-\d\d/.test(sent) && Date.parse(sent) === Date.parse(String(shown));
}

export function short(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Where the things of a list lie in its described answer, and how they name themselves. */
export interface ListPlace {
  readonly steps: Steps;
  readonly item: ThingPlace;
}

export function placeOfList(described: Described, schema: Json | undefined, family: Family): ListPlace | undefined {
  let level: Steps[] = [[]];
  for (let depth = 0; depth < 3; depth++) {
    const lists = level.flatMap((steps) => {
      const items = described.flat(schemaAt(described, schema, steps)).items;
      const item = items === undefined ? undefined : placeOfThing(described, items, family);
      return item?.naming === undefined ? [] : [{ steps, item }];
    });
    // Of several lists beside each other nobody knows which it is, but by its name.
    const called = lists.find(({ steps }) => plainName(steps.at(-1) ?? '').includes(plainName(family.noun)));
    if (called ?? lists.length === 1) return called ?? lists[0];
    if (lists.length > 1) return undefined;
    level = level.flatMap((steps) =>
      Object.keys(described.membersOf(schemaAt(described, schema, steps))).map((name) => [...steps, name]),
    );
  }
  return undefined;
}

/** A thing whose answer says that it was taken away. */
export function isMarkedDeleted(thing: Json | undefined): boolean {
  if (!isMap(thing)) return false;
  return Object.entries(thing as JsonMap).some(([name, value]) => {
    const plain = plainName(name);
    if (/^(?:is)?(?:deleted|archived|trashed|removed|disabled|cancell?ed)$/.test(plain)) return value === true;
    if (isMomentOfEnd(name)) return value !== null && value !== undefined && value !== '';
    return /^(?:status|state|lifecyclestate)$/.test(plain) && endsThings.test(String(value));
  });
}

/** Words of a status that take a thing away, or out of the list of those that are there. */
export const endsThings = /delet|archiv|cancel|remov|inactiv|closed|terminat/i;

/** Whether a member says when a thing was taken away. */
export function isMomentOfEnd(name: string): boolean {
  return /^(?:deleted|archived|removed|cancell?ed)(?:at|on|date)$/.test(plainName(name));
}
