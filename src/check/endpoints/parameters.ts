import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { Parameter } from '../../parts/parameters.ts';
import type { Resource } from '../../parts/resources.ts';
import { onlyType, typesOf } from '../subject/json-types.ts';
import { fieldOf, fieldVocabulary, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** What parameters do: filter, sort, or nothing. */
export const parameterRules: readonly Rule[] = [
  error(
    'endpoints/unknown-filter',
    'A parameter filters by a field that the resource does not have.',
    'Write the name of a field under `filters`.',
    (subject) =>
      eachListed(subject, ({ at, filters }, resource) =>
        filters === undefined || !states(subject, at, 'filters')
          ? []
          : unstated(fieldVocabulary(resource), rootOf(filters), below(at, 'filters')),
      ),
  ),
  warning(
    'endpoints/idle-parameter',
    'A parameter of a list has no field of its name, filters by none, sorts nothing, and no expression reads it.',
    'Say what it does: `filters: FIELD` or `sorts: true`.',
    (subject) => eachListed(subject, (parameter, resource, endpoint) => idle(subject, parameter, resource, endpoint)),
  ),
  error(
    'endpoints/filter-op',
    'A filter compares in a way that its field cannot be compared.',
    'Use `=`, `!=` or `in`; order needs numbers, text or times, `prefix` and `contains` need text.',
    (subject) => eachListed(subject, impossibleOp),
  ),
  error(
    'endpoints/filter-type',
    'A filter takes another type of value than its field has.',
    "Leave the parameter's type out; it is its field's.",
    (subject) => eachListed(subject, otherType),
  ),
  warning(
    'endpoints/op-without-filter',
    '`op` stands on a parameter that filters nothing.',
    'Add `filters: FIELD`, or take `op` out.',
    (subject) =>
      eachParameter(subject, ({ name, at, filters, chooses }) =>
        filters === undefined && chooses?.by !== 'path' && states(subject, at, 'op')
          ? [{ message: `\`${name}\` filters nothing.`, at: below(at, 'op') }]
          : [],
      ),
  ),
  error(
    'endpoints/style',
    'A parameter has a style that its place does not have.',
    'Path: simple, label, matrix. Query: form, spaceDelimited, pipeDelimited, deepObject. Header: simple. Cookie: form.',
    (subject) =>
      eachParameter(subject, ({ name, at, style, in: place }) =>
        style === undefined || styles[place].includes(style)
          ? []
          : [{ message: `\`${name}\` stands in the ${place}, which has no style \`${style}\`.`, at: below(at, 'style') }],
      ),
  ),
  warning(
    'endpoints/required-default',
    'A parameter is required and has a default, which is never used.',
    'Take `required` or `default` out.',
    (subject) =>
      eachParameter(subject, ({ name, at, required, default: usual }) =>
        required && usual
          ? [{ message: `\`${name}\` is always sent, so its default is never used.`, at: below(at, 'default') }]
          : [],
      ),
  ),
];

const styles: Readonly<Record<Parameter['in'], readonly string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

function eachParameter({ endpoints }: Subject, find: (parameter: Parameter, endpoint: Endpoint) => readonly Wrong[]): Wrong[] {
  return endpoints.flatMap((endpoint) => entriesOf(endpoint.parameters).flatMap(([, parameter]) => find(parameter, endpoint)));
}

/** What is found at each parameter of each list whose resource is stated. */
function eachListed(
  subject: Subject,
  find: (parameter: Parameter, resource: Resource, endpoint: Endpoint) => readonly Wrong[],
): Wrong[] {
  return eachParameter(subject, (parameter, endpoint) => {
    const effect = statedValue(endpoint.does);
    const resource = effect?.verb === 'list' ? subject.resources.get(effect.resource) : undefined;
    return resource ? find(parameter, resource, endpoint) : [];
  });
}

function states({ spec }: Subject, at: string, word: string): boolean {
  return valueAt(spec.document.tree, below(at, word)) !== undefined;
}

/** A filter may go into a value: `to.city`. */
function rootOf(field: string): string {
  return field.split('.')[0] as string;
}

function idle(
  subject: Subject,
  { name, at, filters, sorts, in: place }: Parameter,
  resource: Resource,
  endpoint: Endpoint,
): Wrong[] {
  if (place !== 'query' || sorts || filters === undefined || states(subject, at, 'filters')) return [];
  if (unstated(fieldVocabulary(resource), rootOf(filters), at).length === 0 || isKnownElsewhere(subject, name, endpoint))
    return [];
  const isRead = subject.expressions.some(
    ({ use: { source } }) => source.includes(`params.${name}`) || source.includes(`params['${name}']`),
  );
  return isRead
    ? []
    : [{ message: `\`${name}\` is no field of \`${resource.name}\`, and nothing says what it does.`, at, onKey: true }];
}

/** The parameters of pagination, expansion and version need no naming, and may be named. */
function isKnownElsewhere({ spec }: Subject, name: string, endpoint: Endpoint): boolean {
  const pages = statedValue(endpoint.pagination ?? spec.limits.pagination);
  const words = [...Object.values(pages?.names ?? {}), pages?.size];
  const selection = statedValue(spec.versioning.select);
  const schemes = entriesOf(spec.authentication.schemes).map(([, scheme]) => statedValue(scheme.carrier));
  return (
    [...words, ...schemes, endpoint.expand?.parameter, endpoint.select?.parameter, selection?.carrier].includes(name) ||
    !isStated(spec.limits.pagination)
  );
}

function impossibleOp({ at, filters, op }: Parameter, resource: Resource): Wrong[] {
  const field = filters === undefined ? undefined : fieldOf(resource, filters);
  const shape = field && statedValue(field.shape);
  const type = shape && onlyType(shape);
  if (!field || !type) return [];
  const allowed = ops[op];
  if (!allowed || allowed.includes(type)) return [];
  const message = `\`${op}\` cannot compare \`${field.name}\`, which is of type ${type}.`;
  return [{ message, at: below(at, 'op'), also: [{ message: 'The field stands here.', at: field.at }] }];
}

/** The types that each operator can do; one that is not listed can do all. */
const ops: Readonly<Partial<Record<Parameter['op'], readonly string[]>>> = {
  '<': ['string', 'number', 'integer'],
  '<=': ['string', 'number', 'integer'],
  '>': ['string', 'number', 'integer'],
  '>=': ['string', 'number', 'integer'],
  prefix: ['string'],
  contains: ['string', 'array'],
  in: ['string', 'number', 'integer', 'boolean'],
};

function otherType({ name, at, filters, shape, op }: Parameter, resource: Resource): Wrong[] {
  const field = filters === undefined ? undefined : fieldOf(resource, filters);
  const fieldShape = field && statedValue(field.shape);
  const own = statedValue(shape);
  if (!field || !fieldShape || !own) return [];
  const one = op === 'in' && isMap(own.items) ? own.items : own;
  const theirs = onlyType(fieldShape) === 'array' && isMap(fieldShape.items) ? fieldShape.items : fieldShape;
  const [sent, kept] = [scalarsOf(typesOf(one)), scalarsOf(typesOf(theirs))];
  if (sent.length === 0 || kept.length === 0 || sent.some((type) => kept.includes(type))) return [];
  const message = `\`${name}\` takes ${sent.join(' or ')}, and \`${field.name}\` is ${kept.join(' or ')}.`;
  return [{ message, at, onKey: true, also: [{ message: 'The field stands here.', at: field.at }] }];
}

/** The types of single values; a whole number is a number. Lists and maps are compared in ways of their own. */
function scalarsOf(types: ReadonlySet<string> | undefined): string[] {
  const words = [...(types ?? [])].map((type) => (type === 'integer' ? 'number' : type));
  return words.every((type) => type === 'string' || type === 'number' || type === 'boolean' || type === 'null')
    ? words.filter((type) => type !== 'null')
    : [];
}
