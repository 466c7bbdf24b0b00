import type { Pointer } from '../../document/document.ts';
import { nearest } from '../../document/nearest.ts';
import { entriesOf, type Fact, isStated, type Named } from '../../parts/fact.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Machine } from '../../parts/states.ts';
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
  const remedy = meant === undefined ? `State it under \`${home}\`${known(words)}.` : `Write \`${meant}\`.`;
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

function known(words: ReadonlySet<string>): string {
  return words.size === 0 || words.size > 12 ? '' : `, or name one of ${listed(words, 12)}`;
}
