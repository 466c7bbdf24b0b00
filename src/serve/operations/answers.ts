/** What an answer shows of what came out, in the media type that was asked for. */

import { isDeepStrictEqual } from 'node:util';
import { standsFor } from '../../kinds/formats/all.ts';
import { isJson } from '../../kinds/http-token.ts';
import type { Answer } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf } from '../../parts/left-out.ts';
import { isNever } from '../../parts/possible-errors.ts';
import { toNamingSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { type Evaluate, isFailed } from '../exchange/compilation.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { compilePrune, type Prune } from '../exchange/visibility.ts';
import { warn } from '../exchange/warn.ts';
import type { Reply } from '../http/call.ts';
import { toJson } from '../http/json.ts';
import { compileAccept, isXml, type Negotiate, type SentTypes, sentTypes } from '../http/media-type.ts';
import { headerText } from '../http/send.ts';
import { compileXmlWriting, type WriteXml } from '../http/xml-write.ts';
import type { PageTold, Rows } from '../resources/stand-in.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';
import { resolverOf } from './body-decoder.ts';

/** What an effect came to, for the stated answers to be made of. */
interface Result {
  /** The status that follows by rule. */
  readonly status: number;
  /** Names for expressions: result, items, next_cursor, next_url, has_more, total. */
  readonly scope: Readonly<Record<string, Value>>;
  /** The rows that what a stand-in makes up may refer to. */
  readonly work: Rows;
  /** Of a stand-in, what was sent, where nobody knows what comes of it. */
  readonly sent?: Fields;
  /** Of a stand-in, what is known of the page that a list is. */
  readonly page?: PageTold;
}

/** Makes the stated answer of an endpoint, or says why none can be made. */
export type MakeAnswer = (exchange: Exchange, result: Result) => { readonly reply: Reply } | { readonly refusal: Refusal };

/** Compiles the answers that an endpoint states for success; nothing where they follow by rule. */
export function compileAnswers(endpoint: Endpoint, compilation: ViewCompilation): MakeAnswer | undefined {
  if (!isStated(endpoint.response)) return undefined;
  const told = successesOf(endpoint.response.value, compilation);
  // A status goes before its range.
  const candidates = told
    .map((answer) => ({ ...compileAnswer(answer, endpoint, compilation), isRange: !/^\d/.test(answer.status.slice(1)) }))
    .sort((one, other) => Number(one.isRange) - Number(other.isRange));
  if (candidates.length === 0) return undefined;
  return (exchange, result) => {
    const scope = { ...exchange.params, ...answerScope(exchange), ...result.scope };
    const fitting = candidates.filter(({ holds }) => holds === undefined || holds(scope) === true);
    const of = (wanted: number) => fitting.find(({ status, isRange }) => status === wanted && !isRange);
    const wished = compilation.standIn && wishesNoBody(exchange) ? of(204) : undefined;
    const chosen = wished ?? of(result.status) ?? fitting[0];
    if (!chosen) return { refusal: { when: 'internal', message: 'No stated answer fits what came out.' } };
    return chosen.make(scope, result, exchange);
  };
}

/** Whether `Prefer` asks for an answer without its body: `return=minimal` (RFC 7240), or in the older words of OData. */
function wishesNoBody({ call }: Exchange): boolean {
  const { prefer } = call.headers;
  return prefer !== undefined && /(?:^|[;,])\s*return(?:\s*=\s*"?minimal"?|-no-content)\s*(?:[;,]|$)/i.test(String(prefer));
}

/** The stated answers of success; for a stand-in `default` where there are none, unless errors look so in the whole document. */
function successesOf(answers: readonly Answer[], { standIn, spec }: ViewCompilation): readonly Answer[] {
  const successes = answers.filter(({ status }) => /^[23](\d\d|XX)$/i.test(status));
  if (successes.length > 0 || !standIn) return successes;
  const payload = statedValue(spec.errors.payload);
  const ofErrors = typeof payload === 'object' ? statedValue(payload.shape) : undefined;
  const isOfErrors = (shape: Shape | undefined) => shape !== undefined && isDeepStrictEqual(shape, ofErrors);
  return answers.filter(({ status, shape }) => status === 'default' && !isOfErrors(statedValue(shape)));
}

/** What the expressions of an answer read beside what came out. */
export function answerScope(exchange: Exchange): Record<string, Value> {
  return { request: exchange.request, params: exchange.params, path: exchange.call.path, caller: exchange.caller };
}

interface Candidate {
  readonly status: number;
  readonly holds: Evaluate | undefined;
  make(
    scope: Readonly<Record<string, Value>>,
    result: Result,
    exchange: Exchange,
  ): { readonly reply: Reply } | { readonly refusal: Refusal };
}

function compileAnswer(answer: Answer, endpoint: Endpoint, compilation: ViewCompilation): Candidate {
  const { operation } = endpoint;
  const status = /^\d{3}$/.test(answer.status) ? Number(answer.status) : 200;
  const body = compileBody(answer, operation, compilation);
  const headersOf = compileHeaders(answer, operation, compilation);
  const { user, spec } = compilation;
  // `result` and `items` are as their reader is shown them; a row as it is stored is not.
  const readsRow = /\b(?:next|resource)\b/.test(JSON.stringify(answer.data ?? ''));
  const leftOut = leftOutOf(spec, { user });
  const prune: Prune | undefined = isStated(answer.shape)
    ? compilePrune(spec, answer.shape.value, { user, reveals: true, ...(readsRow && { leftOut }) })
    : undefined;
  const complete = isStated(answer.shape)
    ? compilation.standIn?.compileCompletion(answer.shape.value, answer, statedValue(endpoint.does))
    : undefined;
  const tellPage = compilation.standIn?.compilePageHeaders(answer);
  const stream = compilation.standIn?.compileStream(answer, endpoint.produces ?? []);
  const carry = compilation.version?.carries.expanding.shape(shapeOf(answer, endpoint));
  const hasBody = status !== 204 && status !== 304 && answer.shape.standing !== 'none';
  const types = sentTypes(endpoint.produces);
  const own = compilation.standIn && statedValue(answer.shape);
  const isXmlOfStandIn = compilation.standIn !== undefined && isXml(types.structured);
  const xml =
    compilation.standIn && isStated(answer.shape) ? compileXmlAnswer(answer.shape.value, endpoint, compilation) : undefined;
  // Bytes are kept as base64 in JSON, and leave as they came where the answer is no JSON.
  const isBinary = isStated(answer.shape) && standsFor(answer.shape.value.format, 'bytes') && !isJson(types.other);
  return {
    status,
    holds: answer.if && compilation.expression(answer.if, operation),
    make(scope, result, exchange) {
      const out = headersOf(scope);
      if (typeof out === 'string') return { refusal: { when: 'internal', message: out } };
      if (tellPage && result.page) Object.assign(out, tellPage(result.page));
      if (!hasBody) return { reply: { status, headers: out, body: undefined } };
      const streamed = stream?.(exchange, result.work);
      if (streamed) return { reply: { status, headers: { ...out, 'content-type': streamed.type }, body: streamed.body } };
      const asked = compilation.standIn?.exampleAsked(exchange, answer.examples);
      if (asked) return { reply: encodeReply(status, out, asked.value, typeFor(exchange, types, asked.value)) };
      const data = body(scope, result);
      if (isFailed(data)) return { refusal: { when: 'internal', message: `The answer's data failed: ${data.reason}` } };
      const value = complete ? complete(data, exchange, result.work, result.sent, result.page) : data;
      prune?.(value);
      const down = carry ? carry.down(value) : value;
      const told = exchange.selected ? exchange.selected(down) : down;
      const marked = xml?.(exchange, told);
      if (marked) return { reply: { status, headers: { ...out, 'content-type': marked.type }, body: marked.body } };
      const isJsonInstead = isXmlOfStandIn && typeof told === 'object' && told !== null;
      if (isJsonInstead) warn(exchange, [`the answer is JSON, not ${types.structured}`]);
      const spoken = own ? (compilation.standIn?.times.told(exchange, own, told) ?? told) : told;
      const sent = isBinary && typeof spoken === 'string' ? Buffer.from(spoken, 'base64') : spoken;
      return { reply: encodeReply(status, out, sent, isJsonInstead ? 'application/json' : typeFor(exchange, types, sent)) };
    },
  };
}

/** Compiles the headers that an answer makes by expressions; a text says which of them failed. */
export function compileHeaders(
  answer: Answer,
  operation: string,
  compilation: Pick<ViewCompilation, 'expression'>,
): (scope: Readonly<Record<string, Value>>) => Record<string, string> | string {
  const headers = Object.entries(answer.headers).map(
    ([name, expression]) => [name.toLowerCase(), compilation.expression(expression, operation)] as const,
  );
  return (scope) => {
    const out: Record<string, string> = {};
    for (const [name, evaluate] of headers) {
      const value = evaluate(scope);
      if (isFailed(value)) return `The header ${name} failed: ${value.reason}`;
      if (value !== undefined && value !== null)
        out[name] = headerText(typeof value === 'object' ? toJson(value) : String(value));
    }
    return out;
  };
}

/** The shape of an answer's body; where none is stated, what came out is the resource, or a list of it. */
function shapeOf({ shape, data }: Answer, { does }: Endpoint): Shape {
  if (isStated(shape)) return shape.value;
  const effect = statedValue(does);
  if (data || !effect || !('resource' in effect)) return {};
  const { resource } = effect;
  return effect.verb === 'list' ? { type: 'array', items: { resource } } : { resource };
}

/** The value of an answer's body: made by its `data`, or what came out, narrowed to the stated properties. */
function compileBody(
  answer: Answer,
  operation: string,
  compilation: ViewCompilation,
): (scope: Readonly<Record<string, Value>>, result: Result) => Value {
  const { data } = answer;
  if (data && isExpression(data)) return compilation.expression(data, operation);
  if (data) {
    const fields = Object.entries(data).map(
      ([name, expression]) => [name, compilation.expression(expression, operation)] as const,
    );
    return (scope) => {
      const out: Fields = {};
      for (const [name, evaluate] of fields) {
        const value = evaluate(scope);
        if (isFailed(value)) return value;
        if (value !== undefined) out[name] = value;
      }
      return out;
    };
  }
  if (answer.example) return () => answer.example?.value;
  const isCompleted = compilation.standIn !== undefined && isStated(answer.shape);
  const properties =
    isStated(answer.shape) && isPlainMap(answer.shape.value.properties) ? Object.keys(answer.shape.value.properties) : undefined;
  return (scope) => {
    const value = scope.result ?? scope.items;
    // A stand-in puts what came out where the shape has a place for it.
    if (isCompleted) return value;
    if (!properties || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    // An object that is no list: fields.
    const fields = value as Fields;
    return Object.fromEntries(properties.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
  };
}

function isExpression(data: NonNullable<Answer['data']>): data is { readonly source: string; readonly at: string } {
  return typeof (data as { source?: unknown }).source === 'string' && typeof (data as { at?: unknown }).at === 'string';
}

/** The media type of a value among those that an operation states: the one that is asked for, as far as it can be written so. */
function typeFor(exchange: Exchange, types: SentTypes, value: Value): string {
  const isStructured = typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
  if (!types.isChoice) return isStructured ? types.structured : types.other;
  const chosen = exchange.plan.negotiate(String(exchange.call.headers.accept ?? ''));
  if (chosen !== undefined && isJson(chosen)) return chosen;
  if (isStructured) return types.structured;
  return chosen === undefined || isXml(chosen) ? types.other : chosen;
}

/** A value in the media type of an answer: JSON, or a text or bytes as they are. */
export function encodeReply(status: number, headers: Record<string, string>, value: Value, contentType: string): Reply {
  const out = { 'content-type': contentType, ...headers };
  if (contentType === 'application/json' || isJson(contentType)) return { status, headers: out, body: toJson(value ?? null) };
  if (value instanceof Uint8Array) return { status, headers: out, body: value };
  return { status, headers: out, body: typeof value === 'string' ? value : toJson(value ?? null) };
}

/** Writes what an answer shows as XML; nothing where the request is answered in something else. */
type AnswerXml = (exchange: Exchange, value: Value) => { readonly type: string; readonly body: string } | undefined;

/** Compiles the answering in XML, where an answer that is a map or a list is stated in it alone, or is asked for in it; nothing where it is stated in none. */
function compileXmlAnswer(shape: Shape, endpoint: Endpoint, compilation: ViewCompilation): AnswerXml | undefined {
  const produced = endpoint.produces ?? [];
  const types = produced.filter(isXml);
  const [first] = types;
  if (first === undefined) return undefined;
  const isAlone = types.length === produced.length;
  let write: WriteXml | undefined;
  return (exchange, value) => {
    const accept = String(exchange.call.headers.accept ?? '*/*');
    const chosen = exchange.plan.negotiate(accept);
    const asked = chosen !== undefined && isXml(chosen) && (isAlone || /xml/i.test(accept)) ? chosen : undefined;
    // Whoever takes JSON alone is told that there is none, and gets it all the same.
    const type = asked ?? (isAlone && !/json/i.test(accept) ? first : undefined);
    if (type === undefined || typeof value !== 'object' || value === null) return undefined;
    write ??= compileWriting(shape, endpoint, compilation);
    return { type, body: write(value) };
  };
}

function compileWriting(shape: Shape, { operation }: Endpoint, compilation: ViewCompilation): WriteXml {
  const { spec } = compilation;
  const schema = toNamingSchema(spec, shape, 'shown');
  const name = [shape.resource, operation.replaceAll(/\W+/g, '-')].find((one) => /^[A-Za-z_][\w.-]*$/.test(String(one ?? '')));
  return compileXmlWriting(schema, resolverOf(compilation, schema), {
    root: String(name ?? 'answer'),
    wrapsNamed: !saysWrapped(spec),
  });
}

const known = new WeakMap<Spec, boolean>();

/**
 * Whether a document says of any list that it is wrapped. Where none does, though items have names of their own, whoever wrote it knew no such word:
 * lists are wrapped there, as most of XML has them.
 */
function saysWrapped(spec: Spec): boolean {
  const there = known.get(spec);
  if (there !== undefined) return there;
  const resources = entriesOf(spec.resources.all).flatMap(([, { fields, shape }]) => [
    statedValue(shape),
    ...entriesOf(fields).map(([, field]) => statedValue(field.shape)),
  ]);
  const bodies = entriesOf(spec.endpoints.all).flatMap(([, { request, response }]) => [
    statedValue(request),
    ...(statedValue(response) ?? []).map((answer) => statedValue(answer.shape)),
  ]);
  const says = [...resources, ...bodies].some((one) => /"wrapped":/.test(JSON.stringify(one ?? null)));
  known.set(spec, says);
  return says;
}

/** What the answer may be; where `Accept` is not looked at it is what it is. */
export function compileNegotiation(spec: Spec, { acceptIgnored, produces = ['application/json'] }: Endpoint): Negotiate {
  if (!acceptIgnored && !isNever(spec, 'request.accept')) return compileAccept(produces);
  const { other } = sentTypes(produces);
  return () => other;
}
