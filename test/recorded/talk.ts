import { type Chance, chanceOf } from '../../bench/drawn/chance.ts';
import type { Document, Json, JsonMap } from '../../src/document/document.ts';
import { movableClock, type ServeOptions, type Service, serve } from '../../src/index.ts';
import type { Endpoint } from '../../src/parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../src/parts/fact.ts';
import { resourceOfEffect } from '../../src/parts/operations.ts';
import { readSpec, type Spec } from '../../src/parts/spec.ts';
import type { Caller } from '../../src/serve/exchange/exchange.ts';
import { type Showing, shown } from './shown.ts';
import { type Wanted, Wanting } from './wanted.ts';

/** One turn of a conversation: what was asked, and all that came back. */
export interface Turn {
  readonly asked: Wanted | string;
  readonly showing?: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface TalkOptions {
  readonly turns: number;
  readonly seed: number;
  /** Whether the service is a stand-in, or looks at credentials; else it is told who calls. */
  readonly as?: 'stand-in' | 'keyed' | undefined;
}

/** Talks to the service of a document, with a clock and a chance that are given: the same seed asks and hears the same. */
export async function talk(document: Document, { turns, seed, as }: TalkOptions): Promise<Turn[]> {
  const spec = readSpec(document);
  const failures: string[] = [];
  const { service, clock } = await started(document, { as, seed, failures });
  const chance = chanceOf(seed);
  const wanting = new Wanting(spec, chance);
  const memory = new Memory(spec);
  const endpoints = inTurn(spec);
  const said: Turn[] = [];
  try {
    for (let turn = 0; turn < turns && endpoints.length > 0; turn++) {
      if (chance.between(1, 12) === 1) {
        clock.advance(chance.one([1000, 1000, 61_000, 3_600_000, 90_000_000, 3_000_000_000]));
        await service.settled();
      }
      const endpoint = memory.meant(endpoints, turn, chance);
      const asked = wanting.of(endpoint, memory);
      const showing = as === 'keyed' ? shown(service, asked, chance) : undefined;
      const heard = await hear(service, asked, showing);
      memory.note(endpoint, asked, heard);
      said.push({ asked, ...(showing && { showing: showing.words }), ...heard });
    }
    if (as === undefined) said.push(...(await hurried(service, wanting, { spec, memory, clock })));
  } finally {
    await service.close();
  }
  return failures.length === 0 ? said : [...said, { asked: 'what failed', status: 0, headers: {}, text: failures.join('\n') }];
}

async function started(
  document: Document,
  { as, seed, failures }: Pick<TalkOptions, 'as' | 'seed'> & { readonly failures: string[] },
): Promise<{ readonly service: Service; readonly clock: ReturnType<typeof movableClock> }> {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const options: ServeOptions = {
    clock,
    chance: entropyOf(seed),
    ...(as === 'keyed' ? { development: true } : { identify: toldCaller }),
    // Nothing is sent out.
    webhookHosts: ['nowhere.invalid'],
    onFailure: (failure) => failures.push(failure instanceof Error ? failure.message : String(failure)),
    ...(as === 'stand-in' && { sample: true, seedValue: `${seed}` }),
  };
  return { service: await serve(document, options), clock };
}

function entropyOf(seed: number): NonNullable<ServeOptions['chance']> {
  const chance = chanceOf(seed + 1);
  const bytes = (length: number) => Uint8Array.from({ length }, () => chance.between(0, 255));
  let last = 0;
  return {
    bytes,
    uuid: () =>
      Buffer.from(bytes(16))
        .toString('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5'),
    rising: () => ++last,
  };
}

function toldCaller({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Caller | undefined {
  const told = headers['told-caller'];
  return told === undefined ? undefined : (JSON.parse(String(told)) as Caller);
}

async function hear(
  service: Service,
  { method, target, caller, headers, body }: Wanted,
  showing?: Showing,
): Promise<Omit<Turn, 'asked'>> {
  const query = showing?.query ? `${target.includes('?') ? '' : '?'}${showing.query}` : '';
  const request = new Request(`http://127.0.0.1${target}${query}`, {
    method,
    headers: { ...headers, ...showing?.headers, ...(!showing && caller && { 'told-caller': JSON.stringify(caller) }) },
    ...(body !== undefined && method !== 'GET' && method !== 'HEAD' && { body }),
  });
  const response = await service.fetch(request);
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

/** The same request over and over, until a rate has had enough of it, and once more when its time has gone by. */
async function hurried(
  service: Service,
  wanting: Wanting,
  { spec, memory, clock }: { readonly spec: Spec; readonly memory: Memory; readonly clock: ReturnType<typeof movableClock> },
): Promise<Turn[]> {
  const said: Turn[] = [];
  memory.isCareful = true;
  memory.next = undefined;
  for (const { limit, on, to } of (statedValue(spec.limits.rate) ?? []).slice(0, 3)) {
    const counted = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
    const endpoint = counted.find(({ operation }) => on?.includes(operation)) ?? counted.find(({ method }) => method === 'GET');
    if (!endpoint || limit > 130) continue;
    const wanted = wanting.of(endpoint, memory);
    const asked = to?.includes('anyone') ? { ...wanted, caller: undefined } : wanted;
    for (let time = 0; time < limit + 2; time++) said.push({ asked: `again ${asked.target}`, ...(await hear(service, asked)) });
    clock.advance(61_000);
    said.push({ asked: 'a minute later', ...(await hear(service, asked)) });
  }
  // What was answered alike is told once.
  return said.filter(({ status }, at) => at === 0 || at === said.length - 1 || status !== said[at - 1]!.status || at % 10 === 0);
}

/** The endpoints, those that make rows first and those that take them away last. */
function inTurn(spec: Spec): Endpoint[] {
  const rank = ({ does }: Endpoint): number => (isMaking(does) ? 0 : statedValue(does)?.verb === 'delete' ? 2 : 1);
  return entriesOf(spec.endpoints.all)
    .map(([, endpoint]) => endpoint)
    .toSorted((one, other) => rank(one) - rank(other));
}

function isMaking(does: Endpoint['does']): boolean {
  const verb = statedValue(does)?.verb;
  return verb === 'create' || verb === 'upsert';
}

/** What a conversation knows of the rows that it made. */
class Memory {
  readonly rows = new Map<string, string[]>();
  readonly makers = new Map<string, Caller | undefined>();
  tag: string | undefined;
  next: string | undefined;
  isCareful = true;
  readonly #spec: Spec;

  constructor(spec: Spec) {
    this.#spec = spec;
  }

  /** First what makes rows, so often that most are there, then each in turn, then by chance. */
  meant(endpoints: readonly Endpoint[], turn: number, chance: Chance): Endpoint {
    const makers = endpoints.filter(({ does }) => isMaking(does));
    const at = turn - 3 * makers.length;
    this.isCareful = at < 0 || (at < endpoints.length && at % 2 === 0);
    if (at < 0) return makers[turn % makers.length]!;
    return at < endpoints.length ? endpoints[at]! : chance.one(endpoints);
  }

  note(endpoint: Endpoint, { caller, target }: Wanted, { status, headers, text }: Omit<Turn, 'asked'>): void {
    this.tag = headers.etag ?? this.tag;
    this.next = /<([^>]+)>;\s*rel="?next/.exec(headers.link ?? '')?.[1];
    const resource = resourceOfEffect(statedValue(endpoint.does));
    const field = resource && statedValue(entryOf(this.#spec.resources.all, resource)?.identifier)?.field;
    if (status >= 300 || !resource || !field) return;
    const id = found(parsed(text), field);
    const known = this.rows.get(resource) ?? [];
    if (id !== undefined && !known.includes(id)) {
      this.rows.set(resource, [...known, id]);
      this.makers.set(id, caller);
    }
    if (endpoint.method === 'DELETE')
      this.rows.set(
        resource,
        known.filter((one) => !target.includes(one)),
      );
  }
}

/** The member of that name, wherever an answer has it first. */
function found(json: Json | undefined, field: string): string | undefined {
  if (typeof json !== 'object' || json === null) return undefined;
  const value = (json as JsonMap)[field];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  for (const inner of Object.values(json)) {
    const deep = found(inner, field);
    if (deep !== undefined) return deep;
  }
  return undefined;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
