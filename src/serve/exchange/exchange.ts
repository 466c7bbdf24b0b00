import type { JsonMap } from '../../document/document.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { OrderWord } from '../../parts/errors.ts';
import type { Operation } from '../../parts/operations.ts';
import type { BodyRead, Broken, Call, Reply } from '../http/call.ts';
import type { Negotiate } from '../http/media-type.ts';
import type { RouteMatch } from '../http/route-leaf.ts';
import type { Violation } from '../http/violation.ts';
import type { PromiseOrValue } from './after.ts';
import { type Counted, strictestOf, type ToldRate } from './counted.ts';
import type { Watching } from './observations.ts';
import type { OpenFact } from './open.ts';

/** Who is asking. */
export interface Caller {
  readonly id: string;
  readonly user: string;
  readonly scopes: readonly string[];
  readonly claims?: JsonMap;
  readonly key?: string;
  /** What is known of it besides; each is a member of its own too, under its name, as expressions read it. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Why a request is not carried out, before it has a shape. */
export interface Refusal {
  readonly when?: ErrorCondition;
  /** The service's own code, where another part names one. */
  readonly code?: string;
  readonly message?: string;
  readonly violations?: readonly Violation[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Open facts that this exchange would need: 501. */
  readonly open?: readonly OpenFact[];
  /** Something that this service cannot do: 501 with a type of its own. */
  readonly unsupported?: { readonly type: string; readonly detail: string };
  /** A status that HTTP gives to a case of the condition: 414, 431. */
  readonly status?: number;
  /** The row as its caller is shown it, where the change is kept all the same. */
  readonly result?: Value;
  /** Whether the violations speak in the words of the request's version already. */
  readonly inVersion?: true;
}

/** Thrown inside a change so that it is undone; caught where the change was asked for. */
export class Refused {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    this.refusal = refusal;
  }
}

/** A JSON value while it is being worked on: it may hold integers beyond 2^53 as bigint. */
export type Value = unknown;
export type Fields = Record<string, Value>;

/** What a refusal's payload may speak of besides the refusal. */
export interface RefusedRequest {
  readonly path: string;
  readonly requestId: string;
  readonly caller: Caller | undefined;
  readonly asked?: { readonly operation: string; readonly version: string; readonly nowMs: number };
  /** The body in the words of its version, where one was read. */
  readonly sent?: () => Value;
  /** What the strictest rate says of the request, where one counted it. */
  readonly rate?: () => ToldRate | undefined;
  /** Whether prose of open facts may be told: not to unknown callers where schemes are stated. */
  readonly tellsProse: boolean;
}

/** How one operation's refusals look: everything that can be known of them before there is one. */
export interface RefusalTable {
  answer(refusal: Refusal, request: RefusedRequest): Reply;
}

/** Reads what a request carries: its parameters and its body, each refused where it is not right. */
export interface Input {
  readonly takesBody: boolean;
  parameters(
    call: Call,
    path: Readonly<Record<string, string>>,
    forgive: ((violations: readonly Violation[]) => readonly Violation[]) | undefined,
  ): { readonly params: Readonly<Record<string, Value>> } | { readonly refusal: Refusal };
  body(call: Call, bytes: Buffer): BodyRead | { readonly refusal: Refusal };
}

/** Who is looking, at which version: plans are compiled for each view, when its first request comes. */
export interface View {
  /** A small number, so that what is compiled for a view is found by index. */
  readonly index: number;
  readonly user: string | undefined;
  readonly version: string | undefined;
}

/** Everything from the idempotency record to the answer, steps 9 to 15. Refusals come back as replies. */
export type OperationRun = (exchange: Exchange) => PromiseOrValue<Reply>;

/** One endpoint, compiled: the steps that it needs and no others. */
export interface Plan {
  readonly endpoint: Endpoint;
  readonly operation: Operation;
  readonly refusals: RefusalTable;
  readonly input: Input;
  /** The query parameters of its pages. */
  readonly paging: readonly string[];
  /** Carries what was sent up to the newest shape, in place of it. */
  readonly raise?: ((exchange: Exchange) => void) | undefined;
  /** Tells a refusal in the words of the request's version. */
  readonly lower?: ((refusal: Refusal, exchange: Exchange) => Refusal) | undefined;
  readonly negotiate: Negotiate;
  /** Step 6: no rule lets this caller do this at all. */
  readonly forbids: (exchange: Exchange) => Refusal | undefined;
  /** Whether the row is missing, where a document has that come before a step that has refused. */
  readonly earlierRow?: ((exchange: Exchange, step: OrderWord) => PromiseOrValue<Refusal | undefined>) | undefined;
  /** Header fields of every answer that the document states. */
  readonly tell?: ((exchange: Exchange, reply: Reply) => Readonly<Record<string, string>>) | undefined;
  /** Header fields of every answer. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** The open facts without which nothing can be done here. */
  readonly inDoubt: readonly OpenFact[];
  /** The open facts that this very request needs. */
  readonly doubtsOf: ((exchange: Exchange) => readonly OpenFact[]) | undefined;
  /** Why this service cannot do what is stated; nothing where it can. */
  readonly unsupported: { readonly type: string; readonly detail: string } | undefined;
  /** Steps 9 to 15, for the view that the exchange has. */
  readonly run: OperationRun;
  /** Told of failures of ours, which callers see as `internal` alone. */
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/** An endpoint and its plan, which is compiled when it is first called: a large document is served as soon as a small one. */
export class Planned {
  readonly endpoint: Endpoint;
  readonly #compile: () => Plan;
  #plan: Plan | undefined;

  constructor(endpoint: Endpoint, compile: () => Plan) {
    this.endpoint = endpoint;
    this.#compile = compile;
  }

  get plan(): Plan {
    this.#plan ??= this.#compile();
    return this.#plan;
  }
}

/** Where a call leads: the endpoint as the call's version has it, or why that version cannot be used. */
export interface Routed {
  readonly found: RouteMatch<Planned>;
  /** The version by its name; nothing where the document states none. */
  readonly version: string | undefined;
  /** Whether the call itself says which version it is in. */
  readonly isAsked: boolean;
  /** The path without what chose the version. */
  readonly path: string;
  readonly refusal: Refusal | undefined;
}

/** A call that leads to an endpoint. */
export type Reached = Routed & { readonly found: Extract<RouteMatch<Planned>, { readonly kind: 'found' }> };

/** A body in the words of an older version, and what is wrong with it there. */
export interface OlderRequest {
  readonly body: Value;
  readonly violations: readonly Violation[];
}

/** One request's idempotency key, and what it stands for. */
export interface Keyed {
  readonly key: string;
  readonly fingerprint: string;
  readonly expiresMs: number;
}

/** How long one request has. */
export interface Deadline {
  readonly isOver: boolean;
  /** Called while something takes long. @throws where the request was answered with `limit.time` already. */
  goOn(): void;
  /** Called inside a change, before it stores anything. @throws where the request was answered with `limit.time` already. */
  apply(): void;
  /** A change stored nothing, and the request goes on. */
  release(): void;
  /** What is let go of when it is over, whatever the request still does. */
  whenOver(free: () => void): void;
}

/** What a change recorded of events, by the identifiers of subscribers: for whom there is something, and which of them it stored. */
export interface Recorded {
  readonly reached: ReadonlySet<string>;
  readonly subscribers: readonly string[];
}

/** One request on its way through the nine parts. */
export interface Exchange extends Watching {
  readonly call: Call;
  /** Where it leads by itself, before it is known who calls. */
  readonly routed: Reached;
  /** Of the current version until the caller is known, and of the one that it is pinned to from then on. */
  plan: Plan;
  caller: Caller | undefined;
  mayNotWrite: boolean;
  /** Which plans are meant: those of this user and version. */
  view: View;
  pathParams: Readonly<Record<string, string>>;
  readonly nowMs: number;
  /** All parameters by name, once read. */
  params: Readonly<Record<string, Value>>;
  /** Parameters that stood in the body. */
  paramsInBody: BodyRead['params'];
  /** The body's value, once read. */
  request: Value;
  /** The body as its older version has it, where the newest has it otherwise. */
  older: OlderRequest | undefined;
  /** The bytes of the body, for fingerprints. */
  bytes: Buffer | undefined;
  /** What the rates have made of it so far. */
  counted: Counted | undefined;
  /** The idempotency key that it has, where its operation takes one. */
  keyed: Keyed | undefined;
  /** The identifier of this request, made when it is first asked for. */
  requestId(): string;
  /** What it was refused with, for the log. */
  refusedWith: Refusal | undefined;
  /** Facts that were taken as they came, under `--open accept`. */
  accepted: OpenFact[] | undefined;
  /** What a stand-in made up in the answer. */
  sampled: readonly string[] | undefined;
  /** Which of the requests to this path it is that make something each time, counted from 1; absent = it makes nothing so. */
  repeated?: number;
  /** What was let pass although the document says otherwise. */
  warnings: readonly string[] | undefined;
  /** Keeps what was chosen of a row as it is shown, in the version of the request; nothing where all of it was. */
  selected: ((row: Value) => Value) | undefined;
  /** The time that it has, where that is stated. */
  deadline: Deadline | undefined;
  /** What its change recorded of events, for whoever delivers them once it is committed. */
  recorded: Recorded | undefined;
  /** What a trial has made of it: the scenario, as it is told, and how its answer fails to arrive. */
  scenario: { readonly name: string; readonly broken: Broken | undefined } | undefined;
}

const unread = Object.freeze({});

export type Start = Pick<Exchange, 'call' | 'routed' | 'nowMs' | 'view' | 'cost' | 'trace'>;

/** An exchange at the start of its road; its identifier is made when it is first asked for. */
export function startExchange({ call, routed, nowMs, view, cost, trace }: Start, newRequestId: () => string): Exchange {
  let requestId: string | undefined;
  return {
    call,
    routed,
    plan: routed.found.value.plan,
    caller: undefined,
    mayNotWrite: false,
    view,
    pathParams: unread,
    nowMs,
    params: unread,
    request: undefined,
    older: undefined,
    bytes: undefined,
    counted: undefined,
    keyed: undefined,
    accepted: undefined,
    sampled: undefined,
    warnings: call.warnings,
    refusedWith: undefined,
    selected: undefined,
    paramsInBody: undefined,
    deadline: undefined,
    recorded: undefined,
    cost,
    trace,
    scenario: undefined,
    requestId: () => {
      requestId ??= newRequestId();
      return requestId;
    },
  };
}

/** The answer of a refusal in its stated shape. It may be asked for in a body that is run again: `reportRefusal` is for once. */
export function refusalReply(exchange: Exchange, refusal: Refusal): Reply {
  const { plan, view, call, caller, counted, nowMs } = exchange;
  exchange.refusedWith = refusal;
  return plan.refusals.answer(plan.lower?.(refusal, exchange) ?? refusal, {
    path: call.path,
    requestId: exchange.requestId(),
    caller,
    asked: { operation: plan.operation.name, version: view.version ?? '', nowMs },
    sent: () => exchange.older?.body ?? exchange.request,
    ...(counted && { rate: () => strictestOf(counted, nowMs) }),
    tellsProse: true,
  });
}
