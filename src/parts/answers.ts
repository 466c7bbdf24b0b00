/** What goes in and out of an endpoint: how a body that is sent holds the fields of a row, what is answered, and what of it callers choose. */

import type { Json, Pointer } from '../document/document.ts';
import type { Effect } from './effects.ts';
import { type Expression, type Fact, isStated, type Named, statedValue } from './fact.ts';
import { readShape, type Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** How a stated body holds the fields of a row. */
export interface Taking {
  /** The members that lead to the map that holds them; none where it is the body itself. */
  readonly path: readonly string[];
  /**
   * The fields that members of other names stand for, by the member; every other member is the field of its own name. What stands in a
   * field that is a map is named by its way: `attributes.title`.
   */
  readonly fields: Named<string>;
}

/** Reads `takes: data.attributes`, or `takes: { FriendlyName: friendly_name, title: attributes.title }`. */
export function readTaking(source: Source): Taking | undefined {
  if (!source.isMap) {
    const path = source.text()?.split('.');
    return path && { path, fields: named<string>([]) };
  }
  if (source.unstated()) return undefined;
  const fields = source.entries().flatMap(([member, field]) => {
    const name = field.text();
    return name === undefined ? [] : [[member, name] as const];
  });
  return { path: [], fields: named(fields) };
}

/** What a body says of the row, by the names of the fields: the whole, or what stands where `takes` says it does. */
export function takenOf({ takes }: { readonly takes?: Taking }, body: unknown): unknown {
  let value = body;
  for (const name of takes?.path ?? []) {
    const members = mapOf(value);
    value = members && Object.hasOwn(members, name) ? members[name] : undefined;
  }
  const sent = takes && mapOf(value);
  return sent && isRenaming(takes) ? placed(sent, takes) : value;
}

/** The same the other way round: a map by the names of fields as a body holds it whose members are called as `takes` says. */
export function sentAs<T>(
  { takes }: { readonly takes?: Taking },
  fields: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  if (!takes || !isRenaming(takes)) return fields;
  const members = new Map(Object.entries(takes.fields).map(([member, field]) => [field, member]));
  return renamed(spread(takes, fields), (field) => members.get(field) ?? field);
}

/** What was sent, each member where its field has it. */
function placed(sent: Readonly<Record<string, unknown>>, takes: Taking): Record<string, unknown> {
  const flat = renamed(sent, (member) => fieldOfMember(takes, member));
  const inner = Object.values(takes.fields).filter((field) => Object.hasOwn(flat, field) && field.includes('.'));
  for (const way of inner) {
    const { [way]: value } = flat;
    delete flat[way];
    const names = way.split('.');
    const last = names.pop() as string;
    let holder = flat;
    for (const name of names) {
      const own: Record<string, unknown> = Object.assign(Object.create(null), mapOf(holder[name]));
      holder[name] = own;
      holder = own;
    }
    holder[last] = value;
  }
  return flat;
}

/** The fields with what stands inside of some beside them, under its way; a map of which nothing is left is left out. */
function spread<T>({ fields: ways }: Taking, fields: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const out: Record<string, T> = Object.assign(Object.create(null), fields);
  for (const way of Object.values(ways)) {
    const [name = '', inner, ...more] = way.split('.');
    const held = mapOf(out[name]);
    if (inner === undefined || more.length > 0 || !held) continue;
    const { [inner]: value, ...rest } = held;
    // What a map of such values holds is one.
    if (value !== undefined) out[way] = value as T;
    if (Object.keys(rest).length === 0) delete out[name];
    else out[name] = rest as T;
  }
  return out;
}

/** The field that a member of a body stands for, or its way inside of one. */
export function fieldOfMember(takes: Taking | undefined, member: string): string {
  return takes && Object.hasOwn(takes.fields, member) ? (takes.fields[member] as string) : member;
}

function isRenaming({ fields }: Taking): boolean {
  return Object.keys(fields).length > 0;
}

/** What two names stand for has the value of the one that was renamed. */
function renamed<T>(map: Readonly<Record<string, T>>, nameOf: (name: string) => string): Record<string, T> {
  const out: Record<string, T> = Object.create(null);
  for (const [name, value] of Object.entries(map)) {
    const other = nameOf(name);
    if (other !== name || !Object.hasOwn(out, name)) out[other] = value;
  }
  return out;
}

function mapOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) return undefined;
  // What is neither null nor a list nor bytes is a map.
  return value as Readonly<Record<string, unknown>>;
}

/** One stated answer of an endpoint. */
export interface Answer {
  readonly at: Pointer;
  /** `200`, or a range such as `4XX`, or `default`. */
  readonly status: string;
  readonly shape: Fact<Shape>;
  /** CEL over what came out, by field of the answer; a lone expression makes the whole. */
  readonly data?: Named<Expression> | Expression;
  /** CEL by header, for those whose value is said. */
  readonly headers: Named<Expression>;
  /** The headers that an answer may lack. */
  readonly optionalHeaders: readonly string[];
  /** The media types of this answer, where they are not those of the endpoint. */
  readonly produces?: readonly string[];
  /** The shapes of headers that are stated by one. */
  readonly headerShapes: Named<Shape>;
  readonly if?: Expression;
  readonly example?: { readonly value: Json };
  /** The shape of each piece of the answer, where it is given as a stream of events or lines. */
  readonly stream?: Shape;
  /** Whole bodies as they may be answered, by name: they explain, and a stand-in shows them. */
  readonly examples: Named<Json>;
}

const answerWords = ['shape', 'data', 'headers', 'produces', 'if', 'example', 'examples', 'stream'] as const;

/** One status may have several answers, told apart by `if`. */
export function readAnswers(source: Source): Answer[] {
  return source.entries().flatMap(([status, entry]) => {
    const list = Array.isArray(entry.value) && !isShortList(entry.value) ? entry.items() : [entry];
    return list.map((item) => readAnswer(status, item));
  });
}

function isShortList(value: readonly Json[]): boolean {
  return value.length === 1 && typeof value[0] === 'string';
}

/** A header is an expression, or a map with its shape and, where that is said too, the expression. */
function readHeaders(source: Source | undefined): Pick<Answer, 'headers' | 'headerShapes' | 'optionalHeaders'> {
  const entries = source?.entries() ?? [];
  return {
    headers: named(
      entries.flatMap(([name, entry]) => {
        const expression = (entry.isMap ? entry.get('data') : entry).expression();
        return expression ? [[name, expression] as const] : [];
      }),
    ),
    headerShapes: named(
      entries.flatMap(([name, entry]) => {
        const shape = entry.isMap ? readShape(entry.get('shape')) : undefined;
        return shape ? [[name, shape] as const] : [];
      }),
    ),
    optionalHeaders: entries.flatMap(([name, entry]) => (entry.isMap && entry.get('required').flag() === false ? [name] : [])),
  };
}

/** What a reply may answer with: its example, or one of several. */
export function repliedWith({ example, examples }: Answer): readonly Json[] {
  return example ? [example.value] : Object.values(examples);
}

function readAnswer(status: string, source: Source): Answer {
  // `example` and `if` are words of JSON Schema too: alone among schema words they make no full form.
  const keys = source.entries().map(([key]) => key);
  const isFull =
    keys.includes('shape') ||
    keys.includes('data') ||
    (keys.length > 0 && keys.every((key) => (answerWords as readonly string[]).includes(key)));
  const body = isFull ? source.get('shape') : source;
  const data = isFull ? source.get('data') : undefined;
  const condition = isFull ? source.get('if').expression() : undefined;
  const stream = isFull && source.has('stream') ? readShape(source.get('stream')) : undefined;
  const expression = data && !data.isMap ? data.expression() : undefined;
  return {
    at: source.at,
    status,
    shape: body.fact((value) => readShape(value)),
    ...(expression ? { data: expression } : data?.isMap && { data: data.madeValues() }),
    ...readHeaders(isFull ? source.get('headers') : undefined),
    ...(isFull && source.has('produces') && { produces: source.get('produces').words() }),
    ...(condition && { if: condition }),
    ...(isFull && source.has('example') && { example: { value: source.get('example').value as Json } }),
    ...(stream && { stream }),
    examples: named(
      isFull && source.get('examples').isMap
        ? source
            .get('examples')
            .entries()
            .map(([name, entry]) => [name, entry.value as Json] as const)
        : [],
    ),
  };
}

/** A parameter by which callers choose what an answer shows of its rows. */
export interface Selecting {
  readonly at: Pointer;
  /** The name of the query parameter. */
  readonly parameter: string;
}

/** How much one request may choose. */
export const selectBounds = {
  /** Names in one request. */
  namesMax: 100,
  /** Steps of one path: `lines.data.price` has three. */
  stepsMax: 8,
} as const;

/** What an endpoint states of it, as its member. */
export function readSelecting(source: Source): { readonly select?: Selecting } {
  if (source.value === undefined || source.unstated()) return {};
  return { select: { at: source.at, parameter: source.get('parameter').text() ?? 'fields' } };
}

const showing: ReadonlySet<string> = new Set(['create', 'read', 'list', 'update', 'replace', 'upsert', 'transition']);

/** Whether an endpoint answers with the rows of its resource as they are: by rule, or by answers that say no more than their shape. */
export function answersWithRows(does: Fact<Effect>, response: Fact<readonly Answer[]>): boolean {
  const effect = statedValue(does);
  if (!effect || !('resource' in effect) || !showing.has(effect.verb)) return false;
  if (!isStated(response)) return response.standing === 'open';
  const made = response.value.filter(({ status }) => /^2/.test(status));
  return effect.verb !== 'list' && made.every((answer) => made.length > 0 && isRow(answer, effect.resource));
}

/** Whether an answer of an endpoint that offers a choice is of what was chosen: a stated row of success. */
export function isOfChosen(
  { does, select }: { readonly does: Fact<Effect>; readonly select?: Selecting },
  answer: Answer,
): boolean {
  const effect = statedValue(does);
  const isWhole = effect !== undefined && 'resource' in effect && isStated(answer.shape) && isRow(answer, effect.resource);
  return select !== undefined && isWhole && /^2/.test(answer.status);
}

function isRow({ shape, data, example, stream }: Answer, resource: string): boolean {
  if (data !== undefined || example !== undefined || stream !== undefined) return false;
  return isStated(shape) ? shape.value.resource === resource && Object.keys(shape.value).length === 1 : true;
}

/** The paths that were chosen: several parameters, or one text parted by commas. */
export function selectedPaths(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list
    .flatMap((entry) => String(entry).split(','))
    .map((path) => path.trim())
    .filter((path) => path !== '');
}
