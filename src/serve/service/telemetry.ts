import { type TracedCommit, type TracedDelivery, type TracedRequest, traceChannels } from '../exchange/observations.ts';

/** What is needed of `@opentelemetry/api`, which whoever wants traces has beside Ninefold, with an SDK of their own. */
export interface TraceApi {
  readonly ROOT_CONTEXT: object;
  readonly trace: {
    getTracer(name: string): Tracer;
    setSpan(context: object, span: Span): object;
    setSpanContext(context: object, parent: SpanIdentity): object;
  };
}

interface Tracer {
  startSpan(name: string, options: { readonly kind: number; readonly attributes: Attributes }, context: object): Span;
}

interface Span {
  spanContext(): SpanIdentity;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { readonly code: number }): unknown;
  end(): void;
}

/** W3C Trace Context in its parts. */
interface SpanIdentity {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
}

type Attributes = Readonly<Record<string, string | number>>;

/** Kinds of span and the code of a failure, by their numbers in the API. */
const [internal, server, client] = [0, 1, 2];
const failed = { code: 2 };

/**
 * Makes spans of OpenTelemetry of requests, of their changes, and of each try to deliver what they emitted: one trace, that of the request's own
 * `traceparent` where it has one. Names of attributes are those of the semantic conventions. Gives what ends it.
 */
export function makeSpans(api: TraceApi): () => void {
  const spans = new Spans(api);
  const heard = [
    hearing(traceChannels.requestStart, (told: TracedRequest) => spans.startRequest(told)),
    hearing(traceChannels.requestEnd, (told: TracedRequest) => spans.endRequest(told)),
    hearing(traceChannels.commitStart, (told: TracedCommit) => spans.startCommit(told)),
    hearing(traceChannels.commitEnd, (told: TracedCommit) => spans.endCommit(told)),
    hearing(traceChannels.deliveryStart, (told: TracedDelivery) => spans.startDelivery(told)),
    hearing(traceChannels.deliveryEnd, (told: TracedDelivery) => spans.endDelivery(told)),
  ];
  return () => {
    for (const end of heard) end();
  };
}

/** Hears what a channel tells, which is always of one kind; gives what ends it. */
function hearing<Told>(channel: (typeof traceChannels)[keyof typeof traceChannels], hear: (told: Told) => void): () => void {
  const heard = (told: unknown) => hear(told as Told);
  channel.subscribe(heard);
  return () => channel.unsubscribe(heard);
}

/** The spans of what is under way, each found by what it is of. */
class Spans {
  readonly #api: TraceApi;
  readonly #tracer: Tracer;
  readonly #spans = new WeakMap<object, Span>();

  constructor(api: TraceApi) {
    this.#api = api;
    this.#tracer = api.trace.getTracer('ninefold');
  }

  startRequest(told: TracedRequest): void {
    const { call, endpoint, operation } = told;
    const { traceparent } = call.headers;
    const attributes = {
      'http.request.method': call.method,
      'http.route': endpoint.slice(endpoint.indexOf(' ') + 1),
      'url.path': call.path,
      'ninefold.operation': operation,
    };
    const parent = this.#under(typeof traceparent === 'string' ? traceparent : undefined);
    told.traceparent = parentOf(this.#start(told, endpoint, server, parent, attributes));
  }

  endRequest(told: TracedRequest): void {
    const span = this.#spans.get(told);
    const { status = 0, refused } = told;
    span?.setAttributes({ 'http.response.status_code': status, ...(refused !== undefined && { 'error.type': refused }) });
    if (status >= 500) span?.setStatus(failed);
    span?.end();
  }

  startCommit(told: TracedCommit): void {
    const parent = this.#spans.get(told.request);
    const { trace, ROOT_CONTEXT } = this.#api;
    if (parent) this.#start(told, 'commit', internal, trace.setSpan(ROOT_CONTEXT, parent), {});
  }

  endCommit(told: TracedCommit): void {
    const span = this.#spans.get(told);
    if (told.batch !== undefined) span?.setAttributes({ 'ninefold.batch': told.batch });
    if (told.failure instanceof Error) {
      span?.setAttributes({ 'error.type': told.failure.name });
      span?.setStatus(failed);
    }
    span?.end();
  }

  startDelivery(told: TracedDelivery): void {
    const { kind, event, attempt, url, traceparent } = told;
    const attributes = {
      'server.address': URL.parse(url)?.hostname ?? '',
      'messaging.message.id': event,
      'ninefold.event': kind,
      'http.request.resend_count': attempt - 1,
    };
    told.traceparent = parentOf(this.#start(told, `deliver ${kind}`, client, this.#under(traceparent), attributes));
  }

  endDelivery(told: TracedDelivery): void {
    const span = this.#spans.get(told);
    const { status, error } = told;
    if (status !== undefined) span?.setAttributes({ 'http.response.status_code': status });
    if (status === undefined || status >= 400) {
      span?.setAttributes({ 'error.type': status === undefined ? (error ?? '_OTHER') : String(status) });
      span?.setStatus(failed);
    }
    span?.end();
  }

  #start(told: object, name: string, kind: number, parent: object, attributes: Attributes): Span {
    const span = this.#tracer.startSpan(name, { kind, attributes }, parent);
    this.#spans.set(told, span);
    return span;
  }

  /** Where a span belongs that is part of a trace from elsewhere, or from before. */
  #under(traceparent: string | undefined): object {
    const parent = identityOf(traceparent);
    const { trace, ROOT_CONTEXT } = this.#api;
    return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  }
}

/** A span as others name it. */
function parentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Nothing for what is no `traceparent` of version 00, or one of nothing (sections 3.2.2.3 and 3.2.2.4). */
function identityOf(traceparent: string | undefined): SpanIdentity | undefined {
  const [, traceId = '', spanId = '', flags = ''] = parts.exec(traceparent ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
