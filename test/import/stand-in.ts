import assert from 'node:assert/strict';
import { serve } from '../../src/index.ts';
import { type Source, take } from './source.ts';

export type Words = Readonly<Record<string, unknown>>;

export const string = { type: 'string' };
export const integer = { type: 'integer' };
export const object = (properties: Words, required: readonly string[] = []): Words => ({ type: 'object', properties, required });
export const list = (items: unknown): Words => ({ type: 'array', items });
export const ref = (name: string): Words => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: unknown, more: Words = {}): Words => ({ content: { 'application/json': { schema, ...more } } });
export const answers = (schema: unknown, more: Words = {}, status = '200'): Words => ({
  responses: { [status]: { description: 'ok', ...json(schema, more) } },
});
export const sends = (schema: unknown): Words => ({ requestBody: json(schema) });
export const within = (...names: string[]) => ({
  parameters: names.map((name) => ({ name, in: 'path', required: true, schema: string })),
});

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member.
  readonly json: any;
}

type Ask = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Told>;

/** Serves a source and asks it. */
export async function standIn(
  paths: Words,
  schemas: Words,
  body: (ask: Ask) => Promise<void>,
  more: Words = {},
  strict = false,
): Promise<void> {
  const source: Source = { paths, components: { schemas }, ...more };
  const failures: unknown[] = [];
  const service = await serve(take(source), { sample: true, strict, onFailure: (failure) => failures.push(failure) });
  const ask: Ask = async (method, path, sent, headers = {}) => {
    const type = sent === undefined ? {} : { 'content-type': 'application/json' };
    const init = { method, headers: { ...type, ...headers }, ...(sent !== undefined && { body: JSON.stringify(sent) }) };
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`, init));
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) };
  };
  try {
    await body(ask);
    assert.deepEqual(failures, []);
  } finally {
    await service.close();
  }
}
