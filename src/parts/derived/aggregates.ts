import { secondsFormat, timeFormat } from '../../kinds/formats/all.ts';
import type { CelType } from '../expressions/cel-type.ts';
import { inferTypes } from '../expressions/infer.ts';
import { childNodes, type Node, parseExpression, type Span } from '../expressions/node.ts';
import { type Scope, scopeOf } from '../expressions/scope.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { named } from '../source.ts';
import type { Spec } from '../spec.ts';

/** What can be reckoned of the rows that refer to a row. */
export type AggregateWord = 'count' | 'exists' | 'sum' | 'min' | 'max';

/** One thing that is reckoned of the rows which refer to a row by one of their fields: `sum(booking.trip, item.seats, item.paid)`. */
export interface Aggregate {
  readonly word: AggregateWord;
  /** What stands for it in the expression around it. */
  readonly name: string;
  /** The resource whose rows refer, and the field by which they do. */
  readonly from: string;
  readonly by: string;
  /** What is added up or compared, as long as the text before it and with nothing else in it, so that offsets stay. */
  readonly value?: string;
  /** Which of the rows count; without it all do. */
  readonly where?: string;
  /** What it comes to; nothing where that cannot be known. */
  readonly shape: Shape;
}

/** What is wrong with an aggregate, with its place in the expression. */
export interface AggregateProblem extends Span {
  readonly message: string;
  readonly remedy: string;
}

/** An expression with a name in the place of each aggregate, as long as it was. */
export interface Extracted {
  readonly source: string;
  readonly aggregates: readonly Aggregate[];
  readonly problems: readonly AggregateProblem[];
  /** The names that stand for what is no aggregate, though it is written like one. */
  readonly unread: readonly string[];
}

/** Each word, with how it is written. */
const words: Readonly<Record<AggregateWord, string>> = {
  count: 'count(comment.issue)',
  exists: 'exists(comment.issue, item.open)',
  sum: 'sum(booking.trip, item.seats)',
  min: 'min(offer.trip, item.price)',
  max: 'max(offer.trip, item.price)',
};

/** The row that is counted, in the condition of an aggregate. */
export function itemScope(resource: string): Scope {
  return scopeOf({ item: { shape: { resource } } });
}

/** The row that is counted, in the value of an aggregate: one that lacks what is read there does not count, so nothing has to be asked for. */
export function itemValueScope(spec: Spec, resource: string): Scope {
  const fields = entriesOf(entryOf(spec.resources.all, resource)?.fields);
  const properties = named(fields.map(([name, { shape }]) => [name, statedValue(shape) ?? {}] as const));
  const shape: Shape = { title: resource, type: 'object', properties, required: fields.map(([name]) => name) };
  return scopeOf({ item: { shape } });
}

/** Takes the aggregates out of an expression that speaks of a row of a resource. */
export function extractAggregates(spec: Spec, resource: string, source: string): Extracted {
  const parsed = parseExpression(source);
  // What cannot be read is said of the expression itself.
  if ('unparsed' in parsed) return { source, aggregates: [], problems: [], unread: [] };
  const read = new Map<string, Aggregate | AggregateProblem>();
  const names = new Map<string, string>();
  let rest = source;
  for (const node of callsIn(parsed.node)) {
    const text = source.slice(node.start, node.end);
    const name = names.get(text) ?? `_${names.size}`.padEnd(text.length, '_');
    if (!names.has(text)) read.set(name, readAggregate(spec, resource, source, node, name));
    names.set(text, name);
    rest = rest.slice(0, node.start) + name + rest.slice(node.end);
  }
  const all = [...read];
  return {
    source: rest,
    aggregates: all.flatMap(([, one]) => ('message' in one ? [] : [one])),
    problems: all.flatMap(([, one]) => ('message' in one ? [one] : [])),
    unread: all.flatMap(([name, one]) => ('message' in one ? [name] : [])),
  };
}

type Call = Extract<Node, { op: 'call' }>;

/** The aggregates of an expression, outermost alone. */
function callsIn(node: Node): Call[] {
  if (node.op === 'call' && !node.on && Object.hasOwn(words, node.name)) return [node];
  return childNodes(node).flatMap(callsIn);
}

function readAggregate(spec: Spec, resource: string, source: string, node: Call, name: string): Aggregate | AggregateProblem {
  // `callsIn` finds calls of these words alone.
  const word = node.name as AggregateWord;
  const [referrer, ...args] = node.args;
  const wrong = (message: string, at: Span = node, remedy = `Write it as in \`${words[word]}\`.`): AggregateProblem => ({
    message,
    remedy,
    start: at.start,
    end: at.end,
  });
  if (referrer?.op !== 'field' || referrer.of.op !== 'name')
    return wrong(`\`${word}\` asks first by which field rows refer to this \`${resource}\`.`, referrer);
  const from = referrer.of.name;
  const by = referrer.name;
  const referring = entryOf(spec.resources.all, from);
  const field = referring && entryOf(referring.fields, by);
  if (!referring || !isStated(referring.identifier) || !field || field.ref !== resource) {
    const known = referrersOf(spec, resource);
    const remedy = known.length > 0 ? `Write one of ${known.map((one) => `\`${one}\``).join(', ')}.` : 'State a field that does.';
    return wrong(`\`${from}.${by}\` is no field of a kept resource that refers to a \`${resource}\`.`, referrer, remedy);
  }
  const hasValue = word === 'sum' || word === 'min' || word === 'max';
  if (args.length < (hasValue ? 1 : 0) || args.length > (hasValue ? 2 : 1))
    return wrong(
      `\`${word}\` takes ${hasValue ? 'a value of each row and, after it,' : 'after that field'} a condition, and nothing else.`,
    );
  const [value, where] = hasValue ? args : [undefined, args[0]];
  const valueText = value && alone(source, value);
  const made = valueText === undefined ? undefined : valueType(spec, from, valueText);
  const shape = made === undefined ? plainShapes[word] : shapeOfType(made, word);
  if (!shape)
    return wrong(
      `\`${word}\` cannot go over such values.`,
      value,
      `It goes over ${word === 'sum' ? 'numbers' : 'numbers, texts and times'}.`,
    );
  return {
    word,
    name,
    from,
    by,
    ...(valueText !== undefined && { value: valueText }),
    ...(where && { where: alone(source, where) }),
    shape,
  };
}

const plainShapes: Readonly<Partial<Record<AggregateWord, Shape>>> = { count: { type: 'integer' }, exists: { type: 'boolean' } };

/** A part of an expression, at the place where it stands in the whole. */
function alone(source: string, { start, end }: Span): string {
  return source.slice(start, end).padStart(end);
}

function valueType(spec: Spec, from: string, source: string): CelType {
  const parsed = parseExpression(source);
  return 'unparsed' in parsed
    ? { is: 'dyn', open: true }
    : inferTypes(spec, itemValueScope(spec, from), source, parsed.node).type;
}

/** The shape of what comes of values of a type: of no rows a sum is nothing, and the least of them absent. */
function shapeOfType(type: CelType, word: AggregateWord): Shape | undefined {
  const one = type.is === 'nullable' ? type.of : type;
  if (one.is === 'int' || one.is === 'double') {
    const name = one.is === 'int' ? 'integer' : 'number';
    return word === 'sum' ? { type: name } : { type: [name, 'null'] };
  }
  if (word === 'sum') return undefined;
  if (one.is === 'string' || one.is === 'ref') return { type: ['string', 'null'] };
  if (one.is !== 'timestamp') return undefined;
  return one.as === 'text'
    ? { type: ['string', 'null'], format: timeFormat }
    : { type: ['integer', 'null'], format: secondsFormat };
}

/** The fields by which rows refer to those of a resource, as they are written. */
function referrersOf(spec: Spec, target: string): string[] {
  const all = isStated(spec.resources.all) ? Object.values(spec.resources.all.value) : [];
  return all.flatMap(({ name, identifier, fields }) =>
    isStated(identifier) && isStated(fields)
      ? Object.values(fields.value).flatMap((field) => (field.ref === target ? [`${name}.${field.name}`] : []))
      : [],
  );
}
