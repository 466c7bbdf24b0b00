import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated } from '../../parts/fact.ts';
import { nothing } from '../../parts/samples/nothing.ts';
import type { Ground, Sampler } from '../../parts/samples/sampler.ts';
import type { Samples } from '../../parts/samples/samples.ts';
import type { Shape } from '../../parts/shape.ts';
import { mergeJson } from '../../parts/versions/json-merge.ts';
import type { AnswerError, CompletePayload } from '../acts/stand-in.ts';
import type { Value } from '../exchange.ts';
import { toJson } from '../json.ts';
import { compileErrorFields, type ToldError } from './error-fields.ts';
import { nameOf, sampledHeader } from './names.ts';
import type { Sampling } from './sampling.ts';

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
  const isProblem = (shape: Shape) => Object.hasOwn(sampling.samples.membersOf(shape), 'detail');
  const mediaOf = (shape: Shape): string => {
    const json = (endpoint?.produces ?? []).filter((type) => type === 'application/json' || type.endsWith('+json'));
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
    const { sampler, fieldsOf } = compiled.get(key) ?? {
      sampler: sampling.samples.of(shape),
      fieldsOf: compileErrorFields(shape, sampling.samples),
    };
    compiled.set(key, { sampler, fieldsOf });
    const status = /^\d{3}$/.test(key) ? Number(key) : (statusOfFlagged(shape, successes, sampling.samples) ?? told.status);
    const names: string[] = [];
    const ground: Ground = { seed: sampling.seed, identifierOf: () => undefined, sampled: (path) => names.push(nameOf(path)) };
    const body = sampler.complete(fieldsOf({ ...told, status, condition: refusal.when, requestId }), ground, '');
    if (body === nothing) return undefined;
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
  const fieldsIn = compileErrorFields(shape, samples);
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
