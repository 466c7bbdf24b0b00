import { readTemplate } from '../../kinds/generators/template.ts';
import { generatedOf } from '../../parts/inner-values.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Expectation } from './expectation.ts';

/** An identifier of a new row, as far as its form. */
export function identifierExpected(word: string | undefined, { at }: Field): Expectation {
  if (word === undefined || word === 'integer' || word === 'client') return { is: 'unknown', because: 'generated', at };
  const read = readTemplate(word);
  if (!('template' in read)) return { is: 'unknown', because: 'generated', at };
  return { is: 'pattern', pattern: new RegExp(read.template.pattern), because: 'generated', at };
}

/** What is generated for a field of a new row, as far as its form. */
export function generatedExpected(resource: Resource, field: Field): Expectation {
  const at = `${field.at}/generate`;
  const read = generatedOf(resource, field);
  if (!read || 'wrong' in read || read.pattern === undefined) return { is: 'unknown', because: 'generated', at };
  return { is: 'pattern', pattern: new RegExp(read.pattern), because: 'generated', at };
}
