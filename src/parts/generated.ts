import type { Draw } from '../kinds/generators/kind.ts';
import { readTemplate } from '../kinds/generators/template.ts';
import { entriesOf, statedValue } from './fact.ts';
import type { Field, Resource, Unique } from './resources.ts';

/** What the service makes for a field of a new row. */
export interface Generated {
  make(draw: Draw): string | number;
  /** What it makes, as a regular expression; of a counted integer none. */
  readonly pattern: string | undefined;
  /** Whether it is counted: one more for each row. */
  readonly counts: boolean;
  /** The fields of its row that it holds. */
  readonly fields: readonly string[];
  /** The number that a value of it was counted to; nothing where it is none of it. */
  numberIn(value: unknown): number | undefined;
}

/** What `generate: integer` makes: a number that is counted. */
const counted: Generated = {
  make: (draw) => draw.count?.() ?? 1,
  pattern: undefined,
  counts: true,
  fields: [],
  numberIn: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined),
};

/** What is generated for a field, or what is wrong with how it is stated; nothing where nothing is. */
export function generatedOf(resource: Resource, field: Field): Generated | { readonly wrong: string } | undefined {
  if (field.generate === undefined) return undefined;
  if (field.generate === 'integer') return counted;
  const read = readTemplate(field.generate, { fields: fieldsBefore(resource, field) });
  if ('wrong' in read) return read;
  const { make, pattern, counts, fields, numberIn } = read.template;
  return { make, pattern, counts, fields, numberIn: (value) => (typeof value === 'string' ? numberIn(value) : undefined) };
}

/** The identifier, and what is generated above the field: none is made of what is made of itself. */
function fieldsBefore(resource: Resource, { name }: Field): string[] {
  const identifier = statedValue(resource.identifier)?.field;
  const names = entriesOf(resource.fields).map(([one]) => one);
  const above = entriesOf(resource.fields).slice(0, names.indexOf(name));
  const generated = above.flatMap(([one, { generate }]) => (generate === undefined || one === identifier ? [] : [one]));
  return identifier === undefined || identifier === name ? generated : [identifier, ...generated];
}

/**
 * The rules by which rows are told apart: those that are stated, and that what is counted is held by one row alone of those that it is
 * counted within, which follows.
 */
export function uniquesOf(resource: Resource): readonly Unique[] {
  const counted = entriesOf(resource.fields).flatMap(([name, field]): Unique[] => {
    const generated = generatedOf(resource, field);
    if (!generated || 'wrong' in generated || !generated.counts) return [];
    return [{ at: field.at, fields: field.within === undefined ? [name] : [field.within, name] }];
  });
  return counted.length === 0 ? resource.unique : [...resource.unique, ...counted];
}
