import type { Pointer } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isToken } from '../../kinds/http-token.ts';
import { type Effect, resourceVerbs } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, type Fact, isStated, type Named, statedValue } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Machine, machinesOf, transitionsOf } from '../../parts/states.ts';
import type { Vocabulary, Wrong } from './rule.ts';

/** The words of a fact that is a map; closed where it is known that there are no others. */
export function vocabularyOf(what: string, home: string, fact: Fact<Named<unknown>>, isWhole: boolean): Vocabulary {
  return {
    what,
    home,
    words: new Set(entriesOf(fact).map(([word]) => word)),
    closed: isWhole && (isStated(fact) || fact.standing === 'none'),
  };
}

/** What is wrong where a word is spoken of that is not stated; nothing where it is stated, or may be. */
export function unstated(vocabulary: Vocabulary, word: string, at: Pointer, more: Partial<Wrong> = {}): Wrong[] {
  const { what, of, words, closed, home } = vocabulary;
  if (!closed || words.has(word)) return [];
  const meant = nearest(word, words);
  const remedy = meant === undefined ? `State it under \`${home}\`${known(words, word)}.` : `Write \`${meant}\`.`;
  const message = of === undefined ? `The ${what} \`${word}\` is not stated.` : `\`${of}\` has no ${what} \`${word}\`.`;
  return [{ message, remedy, at, ...more }];
}

/** The fields of a resource, as words that can be spoken of. */
export function fieldVocabulary(resource: Resource): Vocabulary {
  const home = `resources.${resource.name}.fields`;
  return { ...vocabularyOf('field', home, resource.fields, !resource.additionalProperties), of: resource.name };
}

/** The states of a machine, as words that can be spoken of. */
export function stateVocabulary(machine: Machine): Vocabulary {
  const stated = isStated(machine.states) ? machine.states.value : [];
  return {
    what: 'state',
    of: machine.resource,
    home: `states.${machine.key}.states`,
    words: new Set(stated),
    closed: isStated(machine.states) || machine.states.standing === 'none',
  };
}

/** The field of a resource by its name, where both are stated. */
export function fieldOf(resource: Resource | undefined, name: string): Field | undefined {
  return resource && isStated(resource.fields) ? resource.fields.value[name] : undefined;
}

/** `a`, `b` and `c`, as code. */
export function listed(words: Iterable<string>, max = 8): string {
  const all = [...words].map((word) => `\`${word}\``);
  const shown = all.length > max ? [...all.slice(0, max), `${all.length - max} more`] : all;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** What there is: of many, those that end with the same word, such as the operations of a resource. */
function known(words: ReadonlySet<string>, word: string): string {
  const [, last] = /^\S+ (.+)$/.exec(word) ?? [];
  const alike = words.size > 12 && last !== undefined ? [...words].filter((one) => one.endsWith(` ${last}`)) : [...words];
  return alike.length === 0 || alike.length > 12 ? '' : `, or name one of ${listed(alike, 12)}`;
}

/** What an answer's own header fields are for: they follow from its body and its connection (RFC 9110 sections 7.6.1 and 8, RFC 9112). */
const ownFields: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

/** The names of header fields under a place that are none, or that follow from the answer itself. */
export function badHeaderNames(names: readonly string[], at: string): Wrong[] {
  return names.flatMap((name) => {
    const place = { at: below(at, name), onKey: true };
    if (!isToken(name)) return [{ message: `\`${name}\` is no header name.`, ...place }];
    return ownFields.has(name.toLowerCase()) ? [{ message: `\`${name}\` follows from the answer itself.`, ...place }] : [];
  });
}

/**
 * The endpoints whose effect names what is not there, each with the operation that was most likely meant. One finding says
 * so; what other parts say of that operation is no mistake of theirs.
 */
export function misspeltEffects(
  spec: Spec,
  endpoints: readonly Endpoint[],
  resources: Vocabulary,
): ReadonlyMap<Endpoint, string | undefined> {
  const misspelt = new Map<Endpoint, string | undefined>();
  for (const endpoint of endpoints) {
    const effect = statedValue(endpoint.does);
    if (!effect) {
      if (typeof valueAt(spec.document.tree, below(endpoint.at, 'does')) === 'string') misspelt.set(endpoint, undefined);
    } else if ('resource' in effect) {
      const meant = meantBy(spec, effect, resources);
      if (meant !== effect) misspelt.set(endpoint, typeof meant === 'string' ? meant : undefined);
    }
  }
  return misspelt;
}

type ResourceEffect = Extract<Effect, { resource: string }>;

/** The effect itself where it is there, or may be. */
function meantBy(spec: Spec, effect: ResourceEffect, resources: Vocabulary): ResourceEffect | string | undefined {
  const { resource } = effect;
  const word = effect.verb === 'transition' ? effect.transition : effect.verb;
  if (!resources.words.has(resource)) {
    if (!resources.closed) return effect;
    const meant = nearest(resource, resources.words);
    return meant === undefined ? undefined : `${word} ${meant}`;
  }
  const transitions = effect.verb === 'transition' ? knownTransitions(spec, resource) : undefined;
  if (!transitions || transitions.includes(word)) return effect;
  const meant = nearest(word, [...transitions, ...resourceVerbs]);
  return meant === undefined ? undefined : `${meant} ${resource}`;
}

/** Every transition of a resource; undefined where there may be more. */
export function knownTransitions({ states }: Spec, resource: string): string[] | undefined {
  if (states.all.standing === 'none') return [];
  if (!isStated(states.all)) return undefined;
  const machines = machinesOf(states, resource);
  if (machines.length === 0) return states.all.value[resource]?.standing === 'none' ? [] : undefined;
  const isWhole = machines.every(
    ({ others, transitions }) => !others && (isStated(transitions) || transitions.standing === 'none'),
  );
  return isWhole ? transitionsOf(states, resource).map(([name]) => name) : undefined;
}

/** Whether there is a time zone of this name. */
export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
