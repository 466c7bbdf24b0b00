import type { Endpoint } from './endpoints.ts';
import { entriesOf } from './fact.ts';
import type { Order, Parameter } from './parameters.ts';

/** What a word that sorts asks for: a field, or the name that the parameter has for one; a leading `-` turns the order. */
export function sortKeyOf({ sortNames }: Pick<Parameter, 'sortNames'>, word: string): Order {
  const name = word.replace(/^[-+]/, '');
  return { field: sortNames?.[name] ?? name, descending: word.startsWith('-') };
}

/** The parameter that says in which direction a list is sorted. */
export function directorOf({ parameters }: Pick<Endpoint, 'parameters'>): Parameter | undefined {
  return entriesOf(parameters).find(([, { directs }]) => directs !== undefined)?.[1];
}

/** Whether what was sent for the direction turns the order: it begins with `desc`, whatever its case. */
export function isTurning(sent: unknown): boolean {
  return typeof sent === 'string' && /^desc/i.test(sent);
}
