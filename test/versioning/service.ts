import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { check } from '../../src/check/check.ts';
import { parseDocument } from '../../src/document/read/parse.ts';
import { isKey } from '../../src/parts/form.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { movableClock } from '../../src/serve/http/clock.ts';
import { openStore } from '../../src/serve/service/open-store.ts';
import { serveSpec } from '../../src/serve/service/serve-spec.ts';
import type { ServeOptions, Service } from '../../src/serve/service/service.ts';

/** An answer as these tests look at it. */
export interface Told {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: { readonly [name: string]: unknown };
}

export interface Versioned {
  readonly service: Service;
  readonly clock: ReturnType<typeof movableClock>;
  readonly store: NonNullable<ServeOptions['store']>;
  send(request: string, options?: { version?: string; body?: unknown; headers?: Record<string, string> }): Promise<Told>;
}

/** Documents that are sound, by their text: many tests are of one. */
const known = new Map<string, Spec>();

export function specOf(text: string): Spec {
  const before = known.get(text);
  if (before) return before;
  const document = parseDocument(text, text.startsWith('#') ? 'document.md' : 'document.yaml', { isKey });
  const { findings, spec } = check(document);
  const wrong = findings.filter(({ severity }) => severity === 'error');
  if (wrong.length > 0) throw new Error(wrong.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  known.set(text, spec);
  return spec;
}

export function example(name: string): string {
  return readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
}

/** Serves a document; requests are written `POST /path`, and say their version by `header` where there is one. */
export async function serveText(text: string, header: string | undefined, options: ServeOptions = {}): Promise<Versioned> {
  const clock = movableClock(Date.parse('2026-06-10T09:00:00Z'));
  const store = options.store ?? openStore(':memory:');
  const failures: unknown[] = [];
  const service = await serveSpec(specOf(text), {
    clock,
    store,
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  return {
    service,
    clock,
    store,
    async send(request, { version, body, headers = {} } = {}) {
      const [method = 'GET', target = '/'] = request.split(' ');
      const sent: Record<string, string> = { ...headers };
      if (version !== undefined && header !== undefined) sent[header] = version;
      if (body !== undefined) sent['content-type'] = 'application/json';
      const answer = await service.fetch(
        new Request(`http://localhost${target}`, {
          method,
          headers: sent,
          ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
        }),
      );
      const told = await answer.text();
      const [failure] = failures.splice(0);
      if (failure) throw new Error(`${request} failed`, { cause: failure });
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: told === '' ? {} : JSON.parse(told) };
    },
  };
}
