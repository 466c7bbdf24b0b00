import { streamKind } from '../../../kinds/streams/all.ts';
import type { StreamedEvent, StreamKind } from '../../../kinds/streams/kind.ts';
import { pullOf } from '../../../parts/events.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { jsonIn } from '../../exchange/parse-body.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { curlOf } from '../../exchange/shell.ts';
import type { Done, ScriptRun, Step } from '../../exchange/step.ts';
import type { Model } from '../../model/model.ts';
import { concrete } from '../../session/request.ts';
import type { Session } from '../../session/session.ts';
import { type Ear, eventMs, type Listening, listenIn, msFor, noteArrival, quietFor, type Waiting } from './ear.ts';
import { envelopeFlaw, toldIn, toldOf } from './envelope.ts';
import type { ReceivedDelivery } from './receiver.ts';

/** A stream that somebody reads. */
interface Connection {
  readonly events: StreamedEvent[];
  until(isEnough: (events: readonly StreamedEvent[]) => boolean, ms: number): Promise<void>;
  close(): void;
}

const connections = new WeakMap<ScriptRun, Map<string, Connection>>();
let opened = 0;

/** The stated stream of events, where it is of a format that can be read. */
export function streamOf({ spec }: Model): ReturnType<typeof pullOf> {
  const pull = pullOf(spec.events);
  return streamKind(pull?.format) ? pull : undefined;
}

/** How the stated stream is written. */
function streamKindOf(model: Model): StreamKind | undefined {
  return streamKind(streamOf(model)?.format);
}

/** Those who may read the stream. */
export function streaming(model: Model): (TrialCaller | undefined)[] {
  const operation = streamOf(model)?.operation;
  if (!operation) return [];
  if (model.access.isPublic(operation)) return [undefined];
  return model.callers.filter((caller) => model.access.allows(operation, caller) === 'yes');
}

/** Reads the stream as somebody: from now on, or from behind the first event that was heard before; in the newest version, or as is asked. */
export async function openEar(
  session: Session,
  caller: TrialCaller | undefined,
  { behind, asked }: { readonly behind?: Done<Listening>; readonly asked?: (plan: RequestPlan) => RequestPlan } = {},
): Promise<Ear> {
  const { model } = session;
  const plan = planOf(model, caller);
  opened += 1;
  const name = `stream ${opened}`;
  const done = await session.do(connecting(name, asked ? asked(plan) : plan, behind, streamKindOf(model)));
  return listenIn(session, {
    maker: caller,
    opened: done,
    hearing: (after, waiting) => listening(model, name, [done, ...after], waiting),
    end: async ({ run }) => connections.get(run)?.get(name)?.close(),
    judge: (one, heard) => streamJudgement(model, one, heard),
  });
}

function planOf(model: Model, caller: TrialCaller | undefined): RequestPlan {
  const stream = streamOf(model);
  const version = model.version();
  return {
    method: stream?.method ?? 'GET',
    template: stream?.path ?? '',
    prefix: model.prefix,
    path: {},
    query: version.query,
    headers: { ...version.headers, accept: streamKindOf(model)?.mediaType ?? '*/*' },
    ...(caller && { caller }),
  };
}

/** The step that opens a stream, and goes on with it until it was listened to. */
function connecting(
  name: string,
  plan: RequestPlan,
  behind: Done<Listening> | undefined,
  kind: StreamKind | undefined,
): Step<TrialExchange> {
  return {
    says: `${plan.method} ${plan.template}${plan.caller === undefined ? '' : ` as ${plan.caller.name}`}, and keep reading`,
    takes: [],
    ...(behind && { needs: [behind.step] }),
    async act(run) {
      const { outgoing, sent } = concrete(plan, run);
      run.client.count(run);
      const fromMs = Date.now();
      const closing = new AbortController();
      const unanswered = setTimeout(() => closing.abort(), answerMs);
      const base = { sent, ...(plan.caller && { caller: plan.caller }), fromMs: run.clock.toService(fromMs) };
      try {
        const response = await fetch(`${run.client.origin}${outgoing.target}`, {
          method: outgoing.method,
          signal: closing.signal,
          redirect: 'manual' as const,
          headers: { ...outgoing.headers, ...(behind && kind && { [kind.resumeHeader]: firstIn(run, behind) }) },
        });
        const all = connections.get(run) ?? new Map<string, Connection>();
        connections.set(run, all);
        all.set(name, read(response, closing, kind));
        run.client.closesWithIt(async () => closing.abort());
        const headers = Object.fromEntries(response.headers);
        return { ...base, status: response.status, headers, text: '', body: undefined, toMs: run.clock.toService(Date.now()) };
      } catch (error) {
        const trouble = { kind: 'timed out' as const, message: error instanceof Error ? error.message : String(error) };
        return { ...base, status: 0, headers: {}, text: '', body: undefined, toMs: run.clock.toService(Date.now()), trouble };
      } finally {
        clearTimeout(unanswered);
      }
    },
    tell: ({ status }) => asText(status),
    shell: (names) => curlOf(plan, names).map((line) => `${line.replace('curl -s', 'curl -s -N --max-time 10')} &`),
  };
}

/** The id of the first event that a step has heard, in this run. */
function firstIn(run: ScriptRun, { step }: Done<Listening>): string {
  // The cast holds: the step of that number listens.
  return (run.results[step] as Listening | undefined)?.deliveries[0]?.headers.id ?? '';
}

/** How long the head of a stream is waited for. */
const answerMs = 5_000;
/** More than this is read of no stream. */
const lengthMax = 8 * 1024 * 1024;

function read(response: Response, closing: AbortController, kind: StreamKind | undefined): Connection {
  const events: StreamedEvent[] = [];
  const waiting = new Set<() => void>();
  const reader = kind?.reader();
  const body = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const pump = async () => {
    let length = 0;
    for (let piece = await body?.read(); piece && !piece.done; piece = await body?.read()) {
      length += piece.value.length;
      if (length > lengthMax) closing.abort();
      events.push(...(reader?.push(piece.value) ?? []));
      for (const look of [...waiting]) look();
    }
  };
  // A connection that ends is one on which nothing more comes.
  pump().catch(() => {});
  return {
    events,
    until: (isEnough, ms) =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve();
        };
        const look = () => {
          if (isEnough(events)) done();
        };
        const timer = setTimeout(done, ms);
        waiting.add(look);
        look();
      }),
    close: () => closing.abort(),
  };
}

function listening(model: Model, name: string, after: readonly Done<unknown>[], waiting: Waiting): Step<Listening> {
  return {
    says: 'listen to the stream',
    isWait: true,
    takes: [],
    needs: after.map(({ step }) => step),
    async act(run) {
      const connection = connections.get(run)?.get(name);
      const deliveries = () => (connection?.events ?? []).map((event) => deliveryFrom(event));
      const fromMs = Date.now();
      await connection?.until(() => waiting.isEnough(deliveries()), msFor(run, waiting));
      if (waiting.ms === eventMs && waiting.isEnough(deliveries())) noteArrival(run, Date.now() - fromMs);
      if (waiting.quietMs > 0) await connection?.until(() => false, quietFor(run, waiting));
      connection?.close();
      return { deliveries: deliveries(), nowSeconds: run.clock.toService(Date.now()) / 1000 };
    },
    tell: ({ deliveries }) => {
      const kinds = deliveries.map((one) => toldIn(model.spec, one).kind);
      return kinds.length === 0 ? 'nothing came' : kinds.join(', ');
    },
    shell: () => ['sleep 2'],
  };
}

/** An event of a stream as if it had been delivered: its own fields stand among the headers. */
function deliveryFrom({ id, event, data }: StreamedEvent): ReceivedDelivery {
  return { headers: { id, event }, text: data, method: 'GET', atMs: Date.now(), status: 200, body: jsonIn(data) };
}

/** Server-sent events: `id` is the event's, `event` its kind, `data` the envelope on one line. */
function streamJudgement(model: Model, opened: TrialExchange, { deliveries }: Listening): Judgement {
  if (opened.trouble) return moot(opened.trouble.message);
  if (model.refusals.isHurried(opened)) return moot('too much was asked for before it');
  if (!isDone(opened)) return { promised: 'the stated stream of events can be read', seen: `it was answered ${opened.status}` };
  const type = opened.headers['content-type'] ?? 'none';
  const wanted = streamKindOf(model)?.mediaType ?? type;
  if (type.split(';')[0]?.trim().toLowerCase() !== wanted.toLowerCase())
    return { promised: `a stream is ${wanted}`, seen: `Content-Type: ${type}` };
  if (deliveries.length === 0) return moot('nothing came');
  for (const { headers, body } of deliveries) {
    const flaw = envelopeFlaw(model.spec, body);
    if (flaw !== undefined) return { promised: 'the data of an event is the stated envelope', seen: flaw };
    const told = toldIn(model.spec, { headers, body });
    const { id } = told;
    const kind = told.kind === undefined ? undefined : toldOf(model.spec, told).kind;
    if (id !== undefined && headers.id !== id)
      return { promised: `the id of a server-sent event is the event's: ${id}`, seen: headers.id || 'none' };
    if (kind !== undefined && headers.event !== kind)
      return { promised: `its event is the kind: ${kind}`, seen: headers.event || 'none' };
  }
  return undefined;
}
