import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import type { Answer } from '../../../parts/answers.ts';
import type { Effect } from '../../../parts/effects.ts';
import type { Named } from '../../../parts/fact.ts';
import { type Ground, nothing } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { after, type PromiseOrValue } from '../../exchange/after.ts';
import type { Exchange, Fields, Value } from '../../exchange/exchange.ts';
import { warn } from '../../exchange/warn.ts';
import type { Call } from '../../http/call.ts';
import { toJson } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { CompleteAnswer } from '../stand-in.ts';
import { compileActFlags, compileMembers } from './asked-members.ts';
import { asksFurther, compileEmptyPage, endPages } from './last-page.ts';
import { compileNameAgain } from './made-again.ts';
import { compileForEach, compileOpenAnswer } from './open-answers.ts';
import { compilePageMembers } from './page-members.ts';
import { tokenNames } from './renewed-secrets.ts';
import { groundOf } from './sampled-rows.ts';
import { nameOf, type Sampling, tellSampled } from './sampling.ts';
import { compileToldRows, compileToldThing } from './told-thing.ts';

/** Compiles the completing of what came out to the shape that an answer states. An act that is answered by yes or no and nothing else was carried out. */
export function compileCompletion(
  shape: Shape,
  answer: Pick<Answer, 'examples' | 'data' | 'status'>,
  does: Effect | undefined,
  sampling: Sampling,
  lend: (token: string) => void,
): CompleteAnswer {
  const complete = compileWhole(shape, answer, does, sampling, lend);
  const isYes = sampling.shown.whole(shape).type === 'boolean' && Object.keys(answer.examples).length === 0;
  if (!isYes || !sampling.shown.of(shape).fits(true)) return complete;
  return (given, exchange, ...more) => {
    const whole = complete(given, exchange, ...more);
    return exchange.call.method === 'GET' || typeof given === 'boolean' ? whole : true;
  };
}

/**
 * Compiles the completing of what came out to the shape that an answer states, naming what had to be made up. What was sent and has no place in the
 * shape is not answered.
 */
function compileWhole(
  shape: Shape,
  { examples, data, status }: Pick<Answer, 'examples' | 'data' | 'status'>,
  does: Effect | undefined,
  sampling: Sampling,
  lend: (token: string) => void,
): CompleteAnswer {
  const samples = sampling.shown;
  const sampler = samples.of(shape);
  const members = samples.membersOf(shape);
  const identifier = does && 'resource' in does ? sampling.identifierOf(does.resource) : undefined;
  const place =
    does && 'resource' in does && !data ? placeOfRow(shape, does.resource, does.verb === 'list', sampling) : undefined;
  const thing = compileToldThing(shape, data ? undefined : does, place !== undefined, sampling);
  const toldRows = compileToldRows(shape, does, sampling);
  const isEnvelope = place !== undefined || typeof data === 'object';
  const isRow = typeof shape.resource === 'string' && sampling.identifierOf(shape.resource) !== undefined;
  const tellEnd = compileEndMembers(members, isRow ? undefined : Number(status), isEnvelope, samples);
  const secrets = does?.verb === 'create' && !data ? secretsOnce(members, does.resource, samples) : [];
  const asPlaced = compilePlaced(place, identifier !== undefined && Object.hasOwn(members, identifier) ? identifier : undefined);
  /** What is given, as the answer can hold it: a row or rows where they stand. */
  const asGiven = (given: Value): Value => {
    const value = toldRows(isFields(given) ? thing.renamed(given) : given);
    return (does?.verb === 'list' ? Array.isArray(value) : isFields(value)) ? asPlaced(value) : value;
  };
  const isOpen = does === undefined;
  const answerOpenly = compileForEach(shape, compileOpenAnswer(shape, examples, samples), samples, isOpen);
  const tellDone = compileActFlags(shape, examples, samples);
  const tellPage = compilePageMembers(shape, samples);
  const emptied = compileEmptyPage(shape, samples);
  const leaveMembers = compileMembers(shape, does, identifier, samples);
  const nameAgain = compileNameAgain(shape, sampling);
  return (given, exchange, work, sent, page) => {
    const value = tellPage(asGiven(given), page, exchange.call);
    const told: string[] = [];
    const openly = sent ?? (thing.isOther && isFields(value) ? thing.said(value) : undefined);
    const about = placeOfCall(exchange, isOpen) + (does?.verb === 'create' && openly ? `\n${toJson(openly)}` : '');
    const ground = groundOf(sampling, work, about, (path) => told.push(path));
    const made = openly ? answerOpenly(openly, fullOf(ground), exchange) : sampler.complete(value, ground, '');
    const whole = made === nothing ? made : emptied(made, page);
    if (whole === nothing) {
      warn(exchange, ['nothing can be made up that fits the response']);
      return openly ? {} : value;
    }
    leaveMembers(whole, exchange);
    if (openly) {
      thing.tellAnything(whole, openly);
      tellDone?.(whole, exchange.call.method, openly);
    }
    tellSecrets(whole, secrets, samples, ground);
    tellEnd(whole);
    tellSampled(exchange, told.map(nameOf));
    if (!isOpen) return whole;
    // A row of a resource has a name of its own already, by which it is found.
    if (sent !== undefined || !isFields(value)) nameAgain(whole, exchange, openly ?? {});
    if (!page && asksFurther(exchange)) endPages(whole, 0);
    for (const token of tokensIn(whole)) lend(token);
    return whole;
  };
}

/** Compiles the placing of a row or rows in the members where they stand; what tells a row may stand beside it, too: `{ id, result: { … } }`. */
function compilePlaced(place: readonly string[] | undefined, beside: string | undefined): (value: Value) => Value {
  if (!place) return (value) => value;
  return (value) => {
    const placed = place.reduceRight((inner, name): Value => ({ [name]: inner }), value);
    const told = beside !== undefined && isFields(value) ? value[beside] : undefined;
    return told === undefined ? placed : { [beside as string]: told, ...(placed as Fields) };
  };
}

const fullOf = (ground: Ground): Ground => ({ ...ground, isFull: true });

/** Secrets that only the making of a thing tells. */
function secretsOnce(
  members: Readonly<Record<string, Json>>,
  resource: string,
  samples: Samples,
): readonly (readonly [string, Json])[] {
  const fields = samples.membersOf({ resource });
  return Object.entries(members).filter(
    ([name, one]) => secretNames.test(name) && !Object.hasOwn(fields, name) && isPlainMap(one) && one.type === 'string',
  );
}

function tellSecrets(whole: Value, secrets: readonly (readonly [string, Json])[], samples: Samples, ground: Ground): void {
  if (!isFields(whole)) return;
  for (const [name, one] of secrets) {
    const made = whole[name] === undefined ? samples.of(one, name).make(ground, below('', name)) : nothing;
    if (typeof made === 'string') whole[name] = made;
  }
}

const secretNames = /(?:^|_)(?:secret|token|private_?key|api_?key)$|[a-z](?:Secret|Token|PrivateKey|ApiKey)$/;

/** Compiles the telling of how it ended: the answer's own status where a member tells it, and that it went well, in an envelope that may say so (`success`). */
function compileEndMembers(
  members: Readonly<Record<string, Json>>,
  status: number | undefined,
  isEnvelope: boolean,
  samples: Samples,
): (whole: Value) => void {
  const named = Object.entries(members);
  // What a thing has is its own: the status with which a hook was answered.
  const codes = status !== undefined && Number.isInteger(status) ? statusPlaces(members, status, samples) : [];
  const flags = isEnvelope
    ? named.filter(([name, inner]) => /^(?:is_?)?success(?:ful)?$/i.test(name) && samples.of(inner, name).fits(true))
    : [];
  return (whole) => {
    if (!isFields(whole)) return;
    for (const [name, around, alone] of codes) {
      // What an answer says around its data may be left out, and is known all the same.
      if (around !== undefined && alone) whole[around] ??= { ...alone };
      const holder = around === undefined ? whole : whole[around];
      if (isFields(holder) && typeof holder[name] === 'number') holder[name] = status;
    }
    for (const [name] of flags) whole[name] = true;
  };
}

/** A member that tells the answer's own status; the member that it is in, where it is in one, with what that may be with the status alone. */
type StatusPlace = readonly [name: string, around?: string, alone?: Fields];

/** The members that tell the answer's own status: `status_code`, `meta.code` of which the words say so. */
function statusPlaces(members: Readonly<Record<string, Json>>, status: number, samples: Samples): readonly StatusPlace[] {
  return Object.entries(members).flatMap(([name, inner]): StatusPlace[] => {
    if (tellsStatus(name, inner, samples)) return [[name]];
    if (!aroundStatus.test(name) || !isPlainMap(inner)) return [];
    return Object.entries(samples.membersOf(inner)).flatMap(([code, one]): StatusPlace[] => {
      if (!tellsStatus(code, one, samples)) return [];
      const alone = { [code]: status };
      return [samples.of(inner, name).fits(alone) ? [code, name, alone] : [code, name]];
    });
  });
}

const aroundStatus = /^_?(?:meta|status|response|response_?(?:status|meta|info)|result)$/i;

/** A whole number that is called the status of HTTP, or of which the words say that it is. */
function tellsStatus(name: string, inner: Json, samples: Samples): boolean {
  if (!isPlainMap(inner)) return false;
  const { type, description, example, default: usual, enum: listed } = samples.whole(inner);
  const shown = example ?? usual;
  if (listed !== undefined || type === 'string' || (shown !== undefined && !isGoodStatus(shown))) return false;
  const said = String(description ?? '').slice(0, saysMost);
  const isSaid = /\bHTTP\b[\w ]{0,20}\b(?:status|code)\b/i.test(said);
  if (/^(?:http_?)?status_?code$|^http_?(?:status|code)$/i.test(name))
    return shown !== undefined || isSaid || (said === '' && type === 'integer');
  return /^(?:code|status)$/i.test(name) && isSaid;
}

/** What a member is said to be is said at the beginning. */
const saysMost = 80;

function isGoodStatus(value: Json): boolean {
  return typeof value === 'number' && value >= 200 && value < 300;
}

/**
 * Where an answer stands, of which what is made up in it follows: changing a thing of which nothing else is known shows what reading it shows, and two acts that are sent
 * otherwise are two, with identifiers of their own.
 */
function placeOfCall({ call: { method, path }, request }: Exchange, isOpen: boolean): string {
  if (isOpen && method === 'POST' && (isFields(request) || Array.isArray(request)))
    return `${method} ${path}\n${toJson(request).slice(0, sentMost)}`;
  return isOpen && (method === 'PUT' || method === 'PATCH') ? `GET ${path}` : `${method} ${path}`;
}

/** So much of what was sent tells one act from another. */
const sentMost = 4096;

/** The tokens that an answer gives out: who is given one shows it from then on. */
function tokensIn(whole: Value): string[] {
  if (!isFields(whole)) return [];
  return tokenNames(Object.keys(whole)).flatMap((name) => (typeof whole[name] === 'string' ? [whole[name]] : []));
}

/**
 * The example that a request asks for by its name: in `Prefer` (RFC 7240) as Prism has it, or in a header of ours. A name that there is not
 * is warned of, with those that there are, and passed over, as preferences may be.
 */
export function exampleAsked(exchange: Exchange, examples: Named<Json>): { readonly value: Json } | undefined {
  const { call } = exchange;
  const own = call.headers['ninefold-example'];
  const prefer = call.headers.prefer;
  if (own === undefined && prefer === undefined) return undefined;
  const named = /(?:^|[;,]\s*)example\s*=\s*"?([^";,]+)"?/i.exec(String(prefer ?? ''))?.[1];
  const name = own === undefined ? named?.trim() : String(own);
  if (name === undefined) return undefined;
  const value = Object.hasOwn(examples, name) ? examples[name] : undefined;
  if (value !== undefined) return { value };
  const names = Object.keys(examples).slice(0, examplesToldMost).join(', ');
  warn(exchange, [`example ${JSON.stringify(name.slice(0, 60))} is not stated${names === '' ? '' : `; there are ${names}`}`]);
  return undefined;
}

const examplesToldMost = 8;

/** The members that lead to the row of a resource, or to the list of its rows; nothing where the answer is it, or where several are. */
function placeOfRow(shape: Shape, resource: string, isList: boolean, sampling: Sampling): readonly string[] | undefined {
  const samples = sampling.shown;
  const isThing = (one: Shape) => typeof one.resource === 'string' && sampling.identifierOf(one.resource) !== undefined;
  const ofResource = (one: Shape) => one.resource === resource;
  if (ofResource(shape)) return undefined;
  const members = Object.entries(samples.membersOf(shape)).flatMap(([name, inner]) =>
    isPlainMap(inner) ? [[name, inner] as const] : [],
  );
  const lists = members.filter(([, inner]) => isPlainMap(inner.items));
  const direct = isList
    ? (lists.find(([, { items }]) => isPlainMap(items) && ofResource(items)) ?? (lists.length === 1 ? lists[0] : undefined))
    : members.find(([, inner]) => ofResource(inner));
  if (direct) return [direct[0]];
  for (const [name, inner] of members) {
    const inside = Object.entries(samples.membersOf(inner)).filter(([, held]) => isPlainMap(held));
    const listed = inside.filter(([, held]) => isPlainMap(held) && isPlainMap(held.items));
    const own = inside.find(([, held]) => isPlainMap(held) && ofResource(isList && isPlainMap(held.items) ? held.items : held));
    const holds = own ?? (isList && listed.length === 1 ? listed[0] : undefined);
    if (holds && !isThing(inner)) return [name, holds[0]];
  }
  return undefined;
}

/**
 * Clients that call procedures send each of them by POST, with a form for its parameters, also where the document has it by GET. A
 * stand-in takes such a form as the query of the one method that the path has; nothing for any other request.
 */
export function asMeant(
  call: Call,
  allowed: readonly string[],
  bodyBytesMax: number,
): PromiseOrValue<Call | 'too large'> | undefined {
  const stated = allowed.filter((method) => method !== 'HEAD' && method !== 'OPTIONS');
  const type = call.headers['content-type'];
  const isForm = typeof type === 'string' && /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type);
  if (call.method !== 'POST' || stated.length !== 1 || stated[0] !== 'GET' || (call.hasBody && !isForm)) return undefined;
  const { path, headers, headerBytes, address } = call;
  const asGet = (form: string): Call => ({
    path,
    headers,
    headerBytes,
    address,
    repeats: (name) => call.repeats?.(name) ?? false,
    body: () => Buffer.from(''),
    method: 'GET',
    query: [call.query, form].filter((part) => part !== '').join('&'),
    hasBody: false,
    warnings: ['method POST is not stated'],
  });
  const body = call.hasBody ? call.body(bodyBytesMax) : Buffer.from('');
  const taken = (bytes: Buffer | 'too large') => (bytes === 'too large' ? bytes : asGet(bytes.toString('latin1')));
  return after(body, taken);
}
