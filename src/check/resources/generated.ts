import { below } from '../../document/pointer.ts';
import type { Draw } from '../../kinds/generators/kind.ts';
import { readTemplate } from '../../kinds/generators/template.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { Field } from '../../parts/resources.ts';
import { shortJson, typesOf } from '../subject/json-types.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';
import { eachField } from './fields.ts';

/** What the service makes by itself, held to the shape of the field that it is made for. */
export const generatedRules: readonly Rule[] = [
  error(
    'resources/generate-misfit',
    'What is generated for a field does not fit the shape of the field.',
    'Let the pattern, the format and the lengths take what is made, or generate something else.',
    (subject) =>
      eachField(subject, (field, resource) => {
        const identifier = statedValue(resource.identifier);
        const isIdentifier = identifier?.field === field.name;
        const generate = isIdentifier ? identifier.generate : field.generate;
        const at = below(isIdentifier ? resource.identifier.at : field.at, 'generate');
        return generate === undefined || entryOf(resource.fields, field.name) === undefined
          ? []
          : misfits(subject, field, generate, at);
      }),
  ),
];

/** A few are made: what some of them break, some rows will. */
function misfits({ schemas }: Subject, { name, shape, at: field }: Field, generate: string, at: string): Wrong[] {
  const stated = statedValue(shape);
  const types = stated && typesOf(stated);
  // That it is of another type is told by itself.
  if (!stated || (types && !types.has(generate === 'integer' ? 'integer' : 'string'))) return [];
  for (const made of madeBy(generate)) {
    const why = schemas.misfit(stated, made);
    if (why === undefined) continue;
    const message = `\`${generate}\` makes ${shortJson(made)}, which does not fit \`${name}\`: ${why}.`;
    return [{ message, at, also: [{ message: 'The field stands here.', at: field }] }];
  }
  return [];
}

function madeBy(generate: string): (string | number)[] {
  if (generate === 'client') return [];
  if (generate === 'integer') return [1, 2];
  const read = readTemplate(generate);
  return 'template' in read ? draws.map((draw) => read.template.make(draw)) : [];
}

/** Time and chance of a few moments, always the same. */
const draws: readonly Draw[] = Array.from({ length: 8 }, (_, round) => ({
  nowMs: 1_780_000_000_000 + round * 86_400_000,
  bytes: (length) => Uint8Array.from({ length }, (_byte, at) => (at * 37 + round * 101 + 11) % 256),
  uuid: () => `${String(round).repeat(8)}-1f0${round}-4abc-8def-0123456789a${round}`,
}));
