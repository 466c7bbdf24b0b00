import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { isShared, type RequestAlgorithm, requestKeyOf, signingKeyOf } from '../../kinds/schemes/request-keys.ts';
import {
  type RequestSigning,
  type RequestToSign,
  readSigner,
  type Signer,
  type SigningMoment,
} from '../../kinds/schemes/signing.ts';
import { schemePrefix } from '../../parts/authentication.ts';
import { statedValue } from '../../parts/fact.ts';
import { asText } from '../exchange/as-text.ts';
import { type Credential, shownAt } from '../exchange/callers.ts';
import type { Sent, TrialExchange } from '../exchange/exchange.ts';
import { type Outgoing, type RequestPlan, valuesSent, writeBody, writeQuery, writeTarget } from '../exchange/plan.ts';
import { curlOf } from '../exchange/shell.ts';
import type { ScriptRun, Step } from '../exchange/step.ts';
import { type Captured, capturesIn, resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { isForm, withoutHollow } from '../values/forms.ts';

/** The step that sends a request. */
export function sending(plan: RequestPlan): Step<TrialExchange> {
  return {
    says: `${plan.method} ${plan.template}${plan.caller === undefined ? '' : ` as ${plan.caller.name}`}`,
    isRequest: true,
    takes: capturesOf(plan),
    act: (run) => send(plan, run),
    tell: ({ status, text, trouble }) => (trouble ? trouble.message : `${status}${text === '' ? '' : ` ${text}`}`),
    shell: (names) => curlOf(plan, names),
    *smaller() {
      for (const smaller of smallerPlans(plan)) yield sending(smaller);
    },
  };
}

function capturesOf(plan: RequestPlan): Captured[] {
  return valuesSent(plan).flatMap(capturesIn);
}

async function send(plan: RequestPlan, run: ScriptRun): Promise<TrialExchange> {
  // A request that ought to be refused is not sent either: whether it is refused is what nobody knows yet.
  if (run.isReadOnly && mayChange(plan)) throw new Untestable(`${plan.method} ${plan.template} is not sent with --read-only`);
  if (plan.afterMs !== undefined) await pause(plan.afterMs);
  holdBack(plan, run);
  const { outgoing, sent } = concrete(plan, run);
  run.reserve?.(plan, sent.path, run.owner);
  if (mayChange(plan)) await run.guard?.(plan, sent, run);
  const answer = await run.client.send(outgoing, run.lanesOf ? { ...run, lanes: run.lanesOf(plan) } : run);
  const exchange: TrialExchange = {
    ...(plan.endpoint && { endpoint: plan.endpoint }),
    ...(plan.caller && { caller: plan.caller }),
    sent,
    ...answer,
    ...(run.isOthers && { isOthers: run.isOthers }),
  };
  run.note(exchange);
  const refilledAtMs = run.refilledAtMs?.(exchange);
  if (refilledAtMs !== undefined) run.client.owe(refilledAtMs);
  const usedUp = run.usedUpBy?.(exchange);
  if (usedUp) run.client.usedUp.note(usedUp.count, usedUp.untilMs);
  return exchange;
}

/** What a quota that is used up would only refuse is not sent, and is owed like what it has refused. @throws {Untestable} */
function holdBack(plan: RequestPlan, { quotasOf, client, clock, onHeldBack }: ScriptRun): void {
  const used = quotasOf && client.usedUp.among(quotasOf(plan), clock.toService(Date.now()));
  if (!used) return;
  client.owe(used.untilMs);
  onHeldBack?.();
  throw new Untestable(`${plan.method} ${plan.template} is not sent: the quota is used up (${used.says})`);
}

/** Whether a request could change something: by its method (RFC 9110 section 9.2.1), or by what its endpoint is stated to do. */
function mayChange({ method, endpoint }: RequestPlan): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return !safeMethods.has(method) || (verb !== undefined && !readingVerbs.has(verb));
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const readingVerbs: ReadonlySet<string> = new Set(['read', 'list', 'reply', 'handler']);

function withoutShift({ laterMs: _, ...run }: ScriptRun): ScriptRun {
  return run;
}

/** The request as it goes out in a run. */
export function concrete(plan: RequestPlan, run: ScriptRun): { readonly outgoing: Outgoing; readonly sent: Sent } {
  // A day in an address or a header may be a version's name.
  const asDrawn = run.laterMs === undefined ? run : withoutShift(run);
  const path = resolve(plan.path, asDrawn) as Readonly<Record<string, Json>>;
  const query = resolve(plan.query, asDrawn) as Readonly<Record<string, Json>>;
  const stated = resolve(plan.headers, asDrawn) as Readonly<Record<string, Json>>;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(stated)) headers[name.toLowerCase()] = asText(value);
  const json = plan.body && 'value' in plan.body ? saidInForm(resolve(plan.body.value, run), plan) : undefined;
  const body = plan.body && writeBody(plan.body, json);
  if (body?.type !== undefined) headers['content-type'] = body.type;
  const pairs = writeQuery(query, plan.endpoint);
  const shown = plan.caller ? shownAt(plan.caller, plan.endpoint ?? plan.shownAt) : [];
  for (const { in: place, carrier, value, signs } of shown) {
    if (signs) continue;
    if (place === 'header') headers[carrier.toLowerCase()] = value;
    else if (place === 'query') pairs.push(`${encodeURIComponent(carrier)}=${encodeURIComponent(value)}`);
    else headers.cookie = [...(headers.cookie === undefined ? [] : [headers.cookie]), `${carrier}=${value}`].join('; ');
  }
  const isChunked = plan.body !== undefined && 'isChunked' in plan.body;
  const target = writeTarget(plan, path, pairs);
  const signers = shown.filter(({ signs }) => signs);
  const signed =
    signers.length === 0
      ? undefined
      : signedBy(signers, { method: plan.method, target, headers, body: body?.bytes, origin: run.client.origin }, run);
  Object.assign(headers, signed);
  return {
    outgoing: {
      method: plan.method,
      target,
      headers,
      ...(body && { body: body.bytes }),
      ...(isChunked && { isChunked }),
      ...(signed && { again: () => concrete(plan, run).outgoing }),
    },
    sent: {
      method: plan.method,
      target,
      headers: isChunked ? { ...headers, 'transfer-encoding': 'chunked' } : headers,
      path,
      query,
      ...(json !== undefined && { json }),
      ...(body && { text: body.text }),
      ...(signed && { signed: Object.keys(signed) }),
    },
  };
}

/**
 * What a form can say of a value: nothing of lists and maps without anything in them. Where an empty text takes its member away, null and the
 * empty text are null in an update, and go unsaid in anything else.
 */
function saidInForm(value: Json | undefined, { body, endpoint }: RequestPlan): Json | undefined {
  if (value === undefined || !isForm(body?.type)) return value;
  const said = withoutHollow(value) ?? {};
  return endpoint?.emptySent === undefined ? said : withEmpties(said, statedValue(endpoint.does)?.verb === 'update');
}

function withEmpties(value: Json, isUpdate: boolean): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withEmpties(item, false));
  if (!isMap(value)) return value;
  const members = Object.entries(value).flatMap(([name, inner]): [string, Json][] => {
    if (inner !== null && inner !== '') return [[name, withEmpties(inner, isUpdate)]];
    return isUpdate ? [[name, null]] : [];
  });
  return Object.fromEntries(members);
}

/** What all who sign a request add to it, once the rest of it is known. */
function signedBy(signers: readonly Credential[], request: RequestToSign, run: ScriptRun): Record<string, string> {
  return Object.assign({}, ...signers.map((credential) => signedFields(credential, request, run)));
}

/** The plan without one of its parts: a query parameter, a member of the body. */
function* smallerPlans(plan: RequestPlan): Iterable<RequestPlan> {
  if (plan.isWhole) return;
  for (const name of Object.keys(plan.query)) yield { ...plan, query: without(plan.query, name) };
  const { body } = plan;
  if (!body || !('value' in body)) return;
  for (const value of smallerValues(body.value)) yield { ...plan, body: { ...body, value } };
}

/** A map without one of its members, a list without one of its items; then the same inside. */
function* smallerValues(value: Symbolic): Iterable<Symbolic> {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) yield value.toSpliced(at, 1);
    return;
  }
  if (!isPlainMap(value)) return;
  for (const name of Object.keys(value)) yield without(value, name);
  for (const [name, inner] of Object.entries(value)) {
    for (const smaller of smallerValues(inner)) yield { ...value, [name]: smaller };
  }
}

function isPlainMap(value: Symbolic): value is { readonly [key: string]: Symbolic } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function without<T>(map: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => key !== name));
}

/** The header fields by which a request is signed; what stands for a credential in a command is left as it is. @throws {Untestable} */
function signedFields(credential: Credential, request: RequestToSign, run: ScriptRun): Readonly<Record<string, string>> {
  const { signs, value, scheme } = credential;
  const carrier = credential.carrier.toLowerCase();
  if (!signs || !readSigner(value)) return { [carrier]: value };
  const { signing, miss } = signs;
  const fields = (miss ?? signing).sign(request, signerOf(signing, value), momentOf(run, signs.moment));
  if (!fields) throw new Untestable(`${request.method} ${request.target} cannot be signed so that ${miss?.how ?? 'it is good'}`);
  const prefix = schemePrefix(scheme) ?? '';
  const own = fields[carrier];
  return own === undefined || prefix === ''
    ? fields
    : { ...fields, [carrier]: `${prefix}${/\w$/.test(prefix) ? ' ' : ''}${own}` };
}

/** The moments of each run that have names. */
const named = new WeakMap<ScriptRun, Map<string, SigningMoment>>();

function momentOf(run: ScriptRun, name: string | undefined): SigningMoment {
  const now = { nowMs: run.clock.toService(Date.now()), nonce: randomUUID() };
  if (name === undefined) return now;
  const known = named.get(run) ?? new Map<string, SigningMoment>();
  named.set(run, known);
  const moment = known.get(name) ?? now;
  known.set(name, moment);
  return moment;
}

/** What signs for a credential; a text that is no key of these algorithms is one that nobody knows. */
function signerOf({ algorithms: [algorithm, ...others] }: RequestSigning, text: string): Signer {
  const { keyId, secret } = readSigner(text) ?? { keyId: 'ninefold-verify', secret: text };
  const known = signingKeyOf([algorithm, ...others], secret);
  if (known) return { keyId, key: known };
  if (isShared(algorithm)) return { keyId, key: requestKeyOf({ algorithm, text: 'ninefold-verify' }) };
  const key = strangers.get(algorithm) ?? newPrivateKey(algorithm);
  strangers.set(algorithm, key);
  return { keyId, key: { algorithm, key } };
}

/** A private key of each algorithm that nobody was given. */
const strangers = new Map<RequestAlgorithm, KeyObject>();

function newPrivateKey(algorithm: RequestAlgorithm): KeyObject {
  if (algorithm === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (algorithm === 'ecdsa-p256-sha256') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}
