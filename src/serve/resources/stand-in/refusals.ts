import type { Json } from '../../../document/document.ts';
import { isJson } from '../../../kinds/http-token.ts';
import type { ErrorCondition } from '../../../parts/conditions.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated } from '../../../parts/fact.ts';
import { type Ground, nothing, type Sampler } from '../../../parts/samples/sampler.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import { mergeJson } from '../../../parts/versions/carry.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { phrase } from '../../http/refusals.ts';
import type { Violation } from '../../http/violation.ts';
import type { AnswerError, CompletePayload } from '../stand-in.ts';
import { branchFor, isMessage, nearestWord, tellingForm } from './error-branches.ts';
import { nameOf, type Sampling, sampledHeader } from './sampling.ts';

/**
 * Compiles the errors of an endpoint whose service has no error payload of its own: the error of the very status, of one that is as
 * usual for the condition, of its range, or the default one.
 */
export function compileErrorAnswers(endpoint: Endpoint | undefined, sampling: Sampling): AnswerError {
  const stated = endpoint && isStated(endpoint.response) ? endpoint.response.value : [];
  const errors = new Map(
    stated.flatMap(({ status, shape }) =>
      isStated(shape) && /^(?:[45]|default)/i.test(status) ? [[status.toUpperCase(), shape.value]] : [],
    ),
  );
  const successes = stated.flatMap(({ status, shape }) =>
    isStated(shape) && /^2\d\d$/.test(status) ? [[status, shape.value] as const] : [],
  );
  const compiled = new Map<string, { readonly sampler: Sampler; readonly fieldsOf: (told: ToldError) => Value }>();
  const compiledFor = (shape: Shape, happened: Parameters<typeof branchFor>[1]) => {
    const branch = branchFor(shape, happened, sampling.samples);
    return { sampler: sampling.samples.of(branch), fieldsOf: compileErrorFields(branch, sampling.samples) };
  };
  const isProblem = (shape: Shape) => Object.hasOwn(sampling.samples.membersOf(shape), 'detail');
  const mediaOf = (shape: Shape): string => {
    const json = (endpoint?.produces ?? []).filter(isJson);
    return (
      (isProblem(shape)
        ? json.find((type) => type.endsWith('problem+json'))
        : json.find((type) => !type.endsWith('problem+json'))) ?? 'application/json'
    );
  };
  return (refusal, told, requestId) => {
    const key = chosen(errors, told.status);
    const shape = key === undefined ? undefined : errors.get(key);
    if (key === undefined || !shape) return undefined;
    const happened = `${key} ${told.status} ${refusal.when}`;
    const { sampler, fieldsOf } = compiled.get(happened) ?? compiledFor(shape, { status: told.status, condition: refusal.when });
    compiled.set(happened, { sampler, fieldsOf });
    const own = told.status === missing ? missing : Number(key);
    const status = /^\d{3}$/.test(key) ? own : (statusOfFlagged(shape, successes, sampling.samples) ?? told.status);
    const names: string[] = [];
    const ground: Ground = { seed: sampling.seed, identifierOf: () => undefined, sampled: (path) => names.push(nameOf(path)) };
    const body = sampler.complete(fieldsOf({ ...told, status, condition: refusal.when, requestId }), ground, '');
    // Of an error of which nothing is said there is nothing to tell either.
    if (body === nothing || body === null || body === undefined) return undefined;
    return {
      status,
      headers: { 'content-type': mediaOf(shape), ...headersOf(names) },
      body: toJson(body),
    };
  };
}

/**
 * Where a member that is always true in what succeeds is always false in what fails, such as `ok`, the body tells them apart,
 * and an error without a status of its own comes with that of success.
 */
function statusOfFlagged(
  error: Shape,
  successes: readonly (readonly [status: string, shape: Shape])[],
  samples: Samples,
): number | undefined {
  const flags = Object.entries(samples.membersOf(error)).flatMap(([name, shape]) =>
    isAlways(false, shape, samples) ? [name] : [],
  );
  const success = successes.find(([, shape]) => {
    const members = samples.membersOf(shape);
    return flags.some((name) => members[name] !== undefined && isAlways(true, members[name], samples));
  });
  return success && Number(success[0]);
}

function isAlways(value: boolean, shape: Json | undefined, samples: Samples): boolean {
  if (shape === undefined) return false;
  const { fits } = samples.of(shape);
  return fits(value) && !fits(!value);
}

/**
 * What is not there is told by this status also where only others are stated, which lend it their shape: of the 17 vendors here whose operations on one
 * thing state 400 and no 404, the guides of 16 promise 404, and those of one either.
 */
const missing = 404;

/** Statuses by which services say the same thing. */
const alike: Readonly<Record<number, readonly number[] | undefined>> = {
  400: [400, 422],
  422: [422, 400],
  409: [409, 422, 400],
  403: [403, 401],
  404: [404, 400],
  415: [415, 400, 422],
};

function chosen(errors: ReadonlyMap<string, Shape>, status: number): string | undefined {
  const keys = [...(alike[status] ?? [status]).map(String), `${Math.floor(status / 100)}XX`, 'DEFAULT'];
  return keys.find((key) => errors.has(key));
}

/** Compiles the completing of what the stated payload makes of a refusal to the shape that is stated for it. */
export function compilePayloadCompletion(shape: Shape, { samples, seed }: Sampling): CompletePayload {
  const sampler = samples.of(shape);
  const fieldsIn = compileErrorFields(tellingForm(shape, samples), samples);
  return (made, told, requestId) => {
    const names: string[] = [];
    const ground: Ground = { seed, identifierOf: () => undefined, sampled: (path) => names.push(nameOf(path)) };
    const body = sampler.complete(mergeJson(fieldsIn({ ...told, requestId }), made), ground, '');
    return body === nothing ? { body: made, headers: {} } : { body, headers: headersOf(names) };
  };
}

function headersOf(names: readonly string[]): Readonly<Record<string, string>> {
  return names.length > 0 ? { 'ninefold-sampled': sampledHeader(names) } : {};
}

/** A refusal as the fields of an error may tell it. */
interface ToldError {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly violations: readonly Violation[] | undefined;
  readonly condition: ErrorCondition | undefined;
  readonly requestId: string;
}

/** Compiles what is known of an error's fields, by their names: its message, its status, the parameter that it is about. */
function compileErrorFields(shape: Shape, samples: Samples): (told: ToldError) => Value {
  return fieldsOf(shape, samples, 0) ?? (() => undefined);
}

type Tell = (told: ToldError) => Value;

/** Errors are wrapped once or twice, and no deeper. */
const depthMost = 3;

function fieldsOf(shape: Shape, samples: Samples, depth: number): Tell | undefined {
  const required = requiredOf(shape, samples);
  const fields = Object.entries(samples.membersOf(shape)).flatMap(([name, member]): [string, Tell][] => {
    if (!isPlainMap(member)) return [];
    const tell = fieldOf(name, member, required.has(name), samples, depth);
    return tell ? [[name, tell]] : [];
  });
  // Where nothing is called a message, a reason is one, or the error itself.
  if (!fields.some(([name]) => isMessage.test(name))) {
    const members = Object.entries(samples.membersOf(shape));
    const [name, member] =
      asMessage.map((word) => members.find(([one]) => word.test(one))).find((one) => one !== undefined) ?? [];
    if (name !== undefined && isPlainMap(member) && samples.of(member).fits('text') && !fields.some(([own]) => own === name))
      fields.push([name, sayWrong]);
  }
  if (fields.length === 0) return undefined;
  return (told) => {
    const out: Fields = {};
    for (const [name, tell] of fields) {
      const value = tell(told);
      if (value !== undefined) out[name] = value;
    }
    return out;
  };
}

/** What has the message of an error where nothing is called so, the likeliest first. */
const asMessage = [/^err(?:or)?_?(?:msg|message)$/i, /^(?:status|error)?_?reason$/i, /^error$/i, /^title$/i];

function fieldOf(name: string, shape: Shape, isRequired: boolean, samples: Samples, depth: number): Tell | undefined {
  const { fits } = samples.of(shape, name);
  const row = rows.find(({ named }) => named.test(name));
  const { enum: words } = samples.whole(shape);
  const listed = Array.isArray(words) ? words.filter((value): value is string => typeof value === 'string') : [];
  if (listed.length > 1) return (told) => nearestWord(listed, told);
  const isObject = Object.keys(samples.membersOf(shape)).length > 0;
  if (isObject && depth < depthMost && (isRequired || /^(?:errors?|fault|status|failure)$/i.test(name)))
    return fieldsOf(shape, samples, depth + 1);
  const { items } = samples.whole(shape);
  if (isPlainMap(items) && depth < depthMost && /^(?:errors?|violations|issues|messages|details|fields)$/i.test(name)) {
    const tell = Object.keys(samples.membersOf(items)).length > 0 ? fieldsOf(items, samples, depth + 1) : textOf(items, samples);
    if (tell) return (told) => [tell(told)];
  }
  if (!row || (row.ifRequired && !isRequired && !isCode.test(name))) return undefined;
  const { example } = samples.whole(shape);
  if (isCode.test(name) && typeof example === 'string' && fits(example))
    return ({ code, condition, status }) => code ?? (saysOtherwise(example, status) ? wordOf(condition, status) : example);
  return (told) => row.values(told).find((value) => value !== undefined && fits(value));
}

/** What says of an error which one it is: told where it may be left out too, as the example of its own shape has it. */
const isCode = /^(?:code|error_?code)$/i;

/** Whether an example is what HTTP calls another status: `not_found` of a request that is bad. */
function saysOtherwise(example: string, status: number): boolean {
  const plain = (text: string) => text.replaceAll(/[^A-Za-z]/g, '').toLowerCase();
  return (
    status !== missing &&
    [401, 403, missing, 409, 429, 500].some((one) => one !== status && plain(phrase(one)) === plain(example))
  );
}

/** A list of errors may be one of their messages. */
function textOf(shape: Shape, samples: Samples): Tell | undefined {
  return samples.of(shape).fits('text') ? sayWrong : undefined;
}

interface Row {
  readonly named: RegExp;
  /** Whether it is told only where it has to be. */
  readonly ifRequired?: true;
  values(told: ToldError): readonly Value[];
}

/** What the fields of errors are called, and what stands in them; of several values the first that fits. */
const rows: readonly Row[] = [
  { named: isMessage, values: (told) => [sayWrong(told), told.message] },
  {
    named: /^(?:status|status_?code|http_?status(?:_code)?)$/i,
    values: ({ status }) => [status, String(status), phrase(status)],
  },
  { named: /^title$/i, values: ({ status }) => [phrase(status)] },
  { named: /^request_?id$/i, values: ({ requestId }) => [requestId] },
  { named: /^(?:param|parameter|field|property)$/i, values: ({ violations }) => [violations?.[0] && dotted(violations[0])] },
  {
    named: /^(?:code|error|error_?code|name|type)$/i,
    ifRequired: true,
    values: ({ code, condition, status }) => [code, wordOf(status === 400 ? condition : undefined, status), status],
  },
];

/** What most services call it: as HTTP does, where that says more than that a request is bad. */
function wordOf(condition: ErrorCondition | undefined, status: number): string {
  return (condition ?? phrase(status)).replaceAll(/\W+/g, '_').toLowerCase();
}

/** The message of a refusal with the first thing that is wrong, for those who are shown nothing else. */
export function sayWrong({ message, violations }: Pick<ToldError, 'message' | 'violations'>): string {
  const [first] = violations ?? [];
  if (first === undefined) return message;
  const place = dotted(first) === '' ? first.in : dotted(first);
  return `${message.replace(/\.$/, '')}: ${place} is ${first.found}, and should be ${first.expected}.`;
}

function dotted({ path }: Violation): string {
  return path.replace(/^\//, '').replaceAll('/', '.');
}

function requiredOf(shape: Shape, samples: Samples): ReadonlySet<string> {
  const required: Json | undefined = samples.whole(shape).required;
  return new Set(Array.isArray(required) ? required.map(String) : []);
}
