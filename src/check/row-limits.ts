import { below } from '../document/pointer.ts';
import { statedValue } from '../parts/fact.ts';
import { fieldCountedApart, type RowLimit } from '../parts/row-limits.ts';
import { unstated } from './subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from './subject/rule.ts';

/** How many rows there may be: of what, and what counts apart. */
export const rowLimitRules: readonly Rule[] = [
  error(
    'limits/rows',
    'A limit of rows is of something of which no rows are kept, counts apart what no field says, or does not say how many.',
    'Write a resource with an identifier, one of its fields or what a field is set to where a row is made, and `limit`.',
    (subject) => limitsOf(subject).flatMap((rule) => wrongIn(subject, rule)),
  ),
  warning(
    'limits/rows-of-nothing',
    'A limit of no rows lets none be made.',
    'Write how many there may be; to allow none, take the endpoint out.',
    (subject) =>
      limitsOf(subject).flatMap(({ limit, at }) =>
        limit === 0 ? [{ message: 'None can be made.', at: below(at, 'limit') }] : [],
      ),
  ),
];

function limitsOf({ spec }: Subject): readonly RowLimit[] {
  return statedValue(spec.limits.rows) ?? [];
}

function wrongIn(subject: Subject, rule: RowLimit): Wrong[] {
  const { of, per, limit, at } = rule;
  if (Number.isNaN(limit)) return [{ message: 'It does not say how many: `limit`.', at }];
  const resource = subject.resources.get(of);
  if (!resource) return unstated(subject.names.resources, of, below(at, 'of'));
  if (resource.identifier.standing === 'none')
    return [{ message: `\`${of}\` is a value, of which no rows are kept.`, at: below(at, 'of') }];
  if (per === undefined || resource.fields.standing === 'open' || fieldCountedApart(rule, resource) !== undefined) return [];
  const message = /^\w+$/.test(per)
    ? `\`${of}\` has no field \`${per}\`.`
    : `No field of \`${of}\` is set to \`${per}\` where one is made: state \`owner: { type: string, readOnly: true, set: { create: ${per} } }\`.`;
  return [{ message, at: below(at, 'per') }];
}
