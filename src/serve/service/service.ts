import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json, JsonMap } from '../../document/document.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Store } from '../../store/store.ts';
import type { DevelopmentCredential } from '../callers/development.ts';
import type { Undelivered } from '../events/undelivered.ts';
import type { Caller } from '../exchange/exchange.ts';
import type { Call, Reply } from '../http/call.ts';
import type { Clock, Entropy } from '../http/clock.ts';
import type { GivenHandlers } from '../operations/handlers.ts';
import type { ScenarioInput } from '../scenarios/scenario.ts';
import type { RowsByResource, Workbench } from '../scenarios/workbench.ts';
import type { AdminAct } from './admin/command.ts';
import type { Coverage } from './coverage.ts';
import type { MigrationOptions } from './stored/migrate.ts';
import type { Watched } from './watched.ts';

/** How a service is run. What is not given is the machine's own clock and chance, and a store in memory. */
export interface ServeOptions {
  readonly store?: Store;
  /**
   * Where rates are counted: `redis://…`, or `here` for this process alone. Unless given, in the store where several processes can have that, so that
   * they hold over all of them.
   */
  readonly limits?: string;
  readonly clock?: Clock;
  readonly chance?: Entropy;
  /** The user's own code, by handler name. */
  readonly handlers?: GivenHandlers;
  /** What stands in front of a stated operation, by operation name. */
  readonly before?: GivenHandlers;
  /** Rows to start with, by resource; they are made where no row has their identifier yet. */
  readonly rows?: RowsByResource;
  /** Where no scheme is stated: the user that every caller is taken for; the first stated one unless given. */
  readonly as?: string;
  /** Who calls, found out by somebody else, such as a gateway in front or a test, at once or later; nothing for nobody. Credentials are not looked at then. */
  readonly identify?: (call: Call) => Caller | undefined | Promise<Caller | undefined>;
  /** Answers a call before anything of the document is asked, such as one by a name of elsewhere; nothing where it goes on. */
  readonly turnAway?: (call: Call) => Reply | undefined;
  /** The variables that the document may name: `secret_env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Reads a file that stands beside the document, such as a key set. */
  readonly readFile?: (path: string) => string;
  /** Makes a credential for each user, for as long as the service runs; `credentials` has them. Never in production. */
  readonly development?: boolean;
  /** Others rely on it: what is for this machine alone, such as the ledger, is for nobody unless the document says for whom. */
  readonly production?: boolean;
  /** Addresses that every event is sent to, for development; where no secret is given, one is made and told among the notes. */
  readonly webhooks?: readonly { readonly url: string; readonly secret?: string }[];
  /** The address of the broker that the document states, `nats://127.0.0.1:4222`: every event is published there. */
  readonly broker?: string;
  /** Whether webhooks may go to this machine and its network; not unless this says so. */
  readonly allowPrivateWebhooks?: boolean;
  /** The hosts that webhooks may go to, `*.example.com` for all below one; all unless given. */
  readonly webhookHosts?: readonly string[];
  /** Whether webhooks go by https alone. */
  readonly httpsWebhooks?: boolean;
  /** `accept`: let a request in doubt pass where the service can act at all, naming the facts in `Ninefold-Open`. */
  readonly open?: 'refuse' | 'accept';
  /** Be a stand-in for somebody else's service: what only an open fact leaves undetermined is made up, and named in `Ninefold-Sampled`. It implies `open: 'accept'`. */
  readonly sample?: boolean;
  /** What is made up follows from this text; another one gives other values. */
  readonly seedValue?: string;
  /** `auth`: take any credential, where one is declared or in a header that is called so. */
  readonly relax?: 'auth';
  /** Credentials that a client shows anyhow, such as a key of a test: taken besides those that the service makes, wherever they are shown. Never in production. */
  readonly acceptCredentials?: readonly string[];
  /** Of a stand-in: refuse what the document refuses, also where the vendor's own client is known to break its document in that way. */
  readonly strict?: boolean;
  /** Writes a document as OpenAPI, which `GET {base}/openapi.json` gives; called once for each document, when it is first asked for. */
  readonly openapi?: (spec: Spec) => string | Promise<string>;
  /** Start although stored rows do not fit the document any more. */
  readonly acceptMisfits?: boolean;
  /** How stored rows are brought up to the document. */
  readonly migration?: MigrationOptions;
  /** Count what clients touch, for `coverage`. */
  readonly coverage?: boolean;
  /** What is played in trials in place of, or besides, what the document says. Never in production. */
  readonly scenarios?: readonly ScenarioInput[];
  /** Whether trials may play scenarios and use the workbench; a stand-in and `scenarios` imply it. Never in production. */
  readonly trials?: boolean;
  /** Count requests, for `watched`. */
  readonly watch?: boolean;
  /** Called for each exchange; absent = nothing is noted down. */
  readonly onExchange?: (entry: ExchangeEntry) => void;
  /** Which exchanges are noted down, by the status of their answer, as it is at the time; all unless given. */
  readonly notes?: (status: number) => boolean;
  /** Called for each act of an administrator that changes something: keys, deliveries, timers, erasing. */
  readonly onAdministered?: (act: AdminAct) => void;
  /** Called where a receiver of events begins to fail, once an hour at the most for each. */
  readonly onUndelivered?: (undelivered: Undelivered) => void;
  /** Called for failures, which callers see as `internal` alone. */
  readonly onFailure?: (failure: unknown, requestId: string) => void;
}

/** One line of the log. */
export interface ExchangeEntry {
  readonly at: string;
  readonly requestId: string;
  readonly method: string;
  readonly target: string;
  readonly status: number;
  readonly operation: string | undefined;
  readonly ms: number;
  /** The user that its caller is, never the caller. */
  readonly user?: string;
  readonly version?: string;
  /** What the strictest rate leaves. */
  readonly left?: number;
  /** How long it waited for the store, in milliseconds. */
  readonly storeMs?: number;
  /** How many rows it stored, or a list gave where they were looked at one by one. */
  readonly rows?: number;
  /** How many changes went to disk together with its own. */
  readonly batch?: number;
  /** The identifier of the trace that it is part of, where traces are made. */
  readonly trace?: string;
  /** The error code or condition of a refusal. */
  readonly refused?: string;
  /** Where a request that was refused is wrong: `body /name`. */
  readonly where?: readonly string[];
  readonly open?: readonly string[];
  /** What a stand-in made up. */
  readonly sampled?: readonly string[];
  /** What was let pass although the document says otherwise. */
  readonly warnings?: readonly string[];
  /** What a trial had played. */
  readonly scenario?: string;
}

/** Where a service listens, and how it stops. */
export interface ServiceAddress {
  readonly port: number;
  readonly host?: string;
  /** Whether the port is this process's alone, where several workers share what they listen on. */
  readonly isOwn?: boolean;
  readonly graceMs?: number;
  readonly restMs?: number;
  readonly onCut?: (requests: number) => void;
}

/** A running service: one set of plans behind two doors. */
export interface Service {
  /** A listener for `http.createServer`. */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => void;
  /** The same plans for a `Request` of the Fetch standard. */
  fetch(request: Request): Promise<Response>;
  /**
   * Listens on an address; loopback unless said otherwise. `close` takes no new connections, answers what has come in and for `restMs` more (0
   * unless given) what comes by connections that rest, gives running requests `graceMs` to finish (10,000 unless given) and ends; `onCut` is told how
   * many it cut off then. `leave`, some time before it, has each answer be the last of its connection.
   */
  listen(
    options: ServiceAddress,
  ): Promise<{ readonly url: string; readonly port: number; leave(): void; close(): Promise<void> }>;
  /** Fires a transition that is `by: service`, or any other, on a row. Resolves to the row as it is then; rejects with what stood in the way. */
  fire(resource: string, id: string, transition: string): Promise<Json>;
  /** Serves another document over the same rows from the next request on. Rejects, changing nothing, where the rows do not fit it. */
  replace(spec: Spec): Promise<void>;
  /** Those that were made for this run, where `development` asked for them. */
  readonly credentials: readonly DevelopmentCredential[];
  /** What trials may do: scenarios, rows, transitions, events, the clock. Nothing where there is none of it. */
  readonly workbench: Workbench | undefined;
  /** What whoever runs the service watches; nothing where `watch` was not asked for. */
  readonly watched: Watched | undefined;
  /** Carries out a command of the administrator's, such as `keys add`. @throws {Unfit} where it cannot be. */
  administer(command: string, input: JsonMap): Promise<Json>;
  /** Opens the administrator's own door on a loopback address, for whoever has its token. */
  openAdmin(): Promise<{ readonly url: string; readonly token: string; close(): Promise<void> }>;
  /** What a person should know at start: parts that are stated and not enforced, limits that protect the process, handlers that are missing. */
  readonly notes: readonly string[];
  /** The prefix of the endpoints. */
  readonly basePath: string;
  /** What clients have touched of the document by now; nothing where it is not counted. */
  coverage(): Coverage | undefined;
  /** Resolves once the transitions and deliveries that are due by now are done. A receiver that does not answer is waited for. */
  settled(): Promise<void>;
  /** Settles what is under way and closes the store where this service opened it. */
  close(): Promise<void>;
}
