/** A request for each operation of a document that ought to succeed, as far as the document alone can tell. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { entriesOf, statedValue } from '../../src/parts/fact.ts';
import { resourceOfEffect } from '../../src/parts/operations.ts';
import { pathParameters, requestShape } from '../../src/parts/payload.ts';
import { nothing } from '../../src/parts/samples/sampler.ts';
import { Samples } from '../../src/parts/samples/samples.ts';
import type { Spec } from '../../src/parts/spec.ts';
import type { Answered, Sent } from '../serving/tried.ts';

type Send = (method: string, target: string, sent?: Sent) => Promise<Answered>;

/** What came of one. */
export interface Came {
  readonly operation: string;
  readonly verb: string;
  readonly status: number;
  readonly told: string;
}

/** Asks for every operation a few times, what makes rows first and what deletes them last, with rows that were made before. */
export async function askAll(spec: Spec, send: Send, user: string): Promise<Came[]> {
  const samples = new Samples(spec, { size: 'ordinary', isSent: true });
  const made = new Map<string, string>();
  const came: Came[] = [];
  const base = new URL(statedValue(spec.purpose.baseUrls)?.[0] ?? '/', 'http://a').pathname.replace(/\/$/, '');
  const endpoints = entriesOf(spec.endpoints.all)
    .map(([, endpoint]) => ({ endpoint, effect: statedValue(endpoint.does) }))
    .toSorted((one, other) => rank(one.effect?.verb) - rank(other.effect?.verb));
  for (const round of ['first', 'second']) {
    for (const { endpoint, effect } of endpoints) {
      const resource = resourceOfEffect(effect);
      const path = pathParameters(endpoint.path).reduce(
        (written, name) => written.replace(`{${name}}`, encodeURIComponent(made.get(name) ?? made.get(resource ?? '') ?? 'x1')),
        endpoint.path,
      );
      const shape = statedValue(requestShape(spec, endpoint));
      const seed = `${round} ${endpoint.operation}`;
      const identifierOf = (name: string) => made.get(name) ?? 'x1';
      const value = shape && samples.of(shape).make({ seed, identifierOf, sampled: () => {} }, '');
      const body = value === nothing ? undefined : (value as Json | undefined);
      const { status, json, text } = await send(endpoint.method, base + path, {
        headers: { 'x-who': user, 'idempotency-key': seed },
        ...(body !== undefined && endpoint.method !== 'GET' && { body }),
      });
      const field = resource === undefined ? undefined : identifierField(spec, resource);
      const id = field === undefined ? undefined : found(json, field);
      if (resource !== undefined && effect?.verb === 'create' && id !== undefined) made.set(resource, id);
      const told = `${endpoint.method} ${base}${path} ${JSON.stringify(body)} -> ${status} ${text.slice(0, 400)}`;
      came.push({ operation: endpoint.operation, verb: effect?.verb ?? '', status, told });
    }
  }
  return came;
}

function rank(verb: string | undefined): number {
  return verb === 'create' ? 0 : verb === 'delete' ? 2 : 1;
}

function identifierField(spec: Spec, resource: string): string | undefined {
  const stated = entriesOf(spec.resources.all).find(([name]) => name === resource)?.[1];
  return stated && statedValue(stated.identifier)?.field;
}

/** The member of that name, wherever an answer has it first. */
function found(json: unknown, field: string): string | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const value = (json as JsonMap)[field];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  for (const inner of Object.values(json)) {
    const deep = found(inner, field);
    if (deep !== undefined) return deep;
  }
  return undefined;
}
