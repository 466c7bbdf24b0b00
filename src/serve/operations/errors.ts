/** The refusals of an operation in their stated shape, of which the first thing that was sent is named first. */

import { pathOf } from '../../document/pointer.ts';
import { isJson } from '../../kinds/http-token.ts';
import { type ErrorCondition, generalCondition, narrowerOf, ownAnswer } from '../../parts/conditions.ts';
import { compileMessage, type ErrorCode, type ErrorRule, type Errors, tellsViolation, writtenPath } from '../../parts/errors.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf } from '../../parts/left-out.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { requestShape } from '../../parts/payload.ts';
import { ruleFor } from '../../parts/possible-errors.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import type { CompileExpression } from '../exchange/compilation.ts';
import type { Refusal, RefusalTable, RefusedRequest, Value } from '../exchange/exchange.ts';
import type { OpenFact, OpenFacts } from '../exchange/open.ts';
import { isHiddenAt } from '../exchange/visibility.ts';
import type { Reply } from '../http/call.ts';
import { sort, type Violation } from '../http/violation.ts';
import type { StandIn } from '../resources/stand-in.ts';
import { compilePayload, type Payload, problem, type ErrorRow as Row, refusedScope, type ToldRefusal } from './error-payloads.ts';
import { compileMadeHeaders, type MakeHeaders } from './reply.ts';

/** Compiles the refusals of an operation; without one, those of requests that reach none. */
export function compileRefusals(
  spec: Spec,
  operation: Operation | undefined,
  facts: OpenFacts,
  compile: CompileExpression,
  standIn?: StandIn,
): RefusalTable {
  let payload: Payload | undefined;
  const tell: Payload = (told, request) => {
    // Its expressions are typed against all of a document, which is left until something is refused.
    payload ??= compilePayload(spec, compile, standIn);
    return payload(told, request);
  };
  const telling = compileTelling(spec, operation);
  const openPayload = spec.errors.payload.standing === 'open' ? facts.about('error payload shapes', 'service') : [];

  // Unless it is stated what errors look like in all, a stand-in goes by what its endpoint says.
  const isStatedPayload = spec.errors.payload.standing === 'stated';
  const answerError = isStatedPayload ? undefined : standIn?.compileErrors(operation?.endpoint);

  const rowOf = compileRows(spec, operation, facts);
  const usualStatus = standIn && ((refusal: Refusal) => standIn.usualStatus(refusal, operation?.endpoint));
  const types = typesOf(operation);
  const headersOf = compileRefusalHeaders(spec, compile);
  const nameByFirst = compileNaming(spec);

  return {
    answer(given, asked) {
      const request = { ...asked, tellsProse: telling.tellsProse(asked) };
      const refusal = nameByFirst ? nameByFirst(given, asked.sent?.()) : given;
      if (refusal.open) return openReply(refusal.open, request);
      if (refusal.unsupported) return unsupportedReply(refusal.unsupported, request);
      const row = rowOf(refusal);
      const violations = refusal.violations && telling.violations(refusal.violations, request);
      const told: ToldRefusal = {
        ...row,
        status: row.code === undefined ? (refusal.status ?? usualStatus?.(refusal) ?? row.status) : row.status,
        open: [...row.open, ...openPayload],
        message: refusal.when === 'internal' ? row.message : (refusal.message ?? messageOf(row, violations)),
        condition: refusal.when,
        result: refusal.result,
        violations: violations && telling.written(violations),
      };
      // What a stand-in passes over: a deletion of what is not there, where its service answers so.
      if (told.status === 204) return { status: 204, headers: {}, body: undefined };
      const stated = answerError?.(refusal, told, request.requestId);
      // Its own payload shows nothing of what is wrong but its message.
      const own = standIn && row.code === undefined ? { ...told, message: standIn.sayWrong(told) } : told;
      const reply = withHeaders(typed(stated ?? tell(own, request), types), refusal.headers);
      return withHeaders(reply, headersOf?.(told, request));
    },
  };
}

function messageOf({ message, say }: Row, [first]: readonly Violation[] = []): string {
  return say && first ? say(first) : message;
}

/** What a refusal comes to: the row of its code, or that of its condition, each put together once. */
function compileRows(spec: Spec, operation: Operation | undefined, facts: OpenFacts): (refusal: Refusal) => Row {
  const codes = entriesOf(spec.errors.codes).map(([, code]) => code);
  const byCondition = new Map<ErrorCondition, Row>();
  const byCode = new Map<string, Row>();
  return (refusal) => {
    if (refusal.code !== undefined) {
      const row = byCode.get(refusal.code) ?? codeRow(codes, refusal.code, operation, facts);
      byCode.set(refusal.code, row);
      return row;
    }
    const when = refusal.when ?? 'internal';
    const row = byCondition.get(when) ?? conditionRow(spec, when, operation, facts);
    byCondition.set(when, row);
    return row;
  };
}

/** The header fields that are stated for every refusal, and those of its code before them; nothing where none are. */
function compileRefusalHeaders(
  { errors }: Spec,
  compile: CompileExpression,
): ((told: ToldRefusal, request: RefusedRequest) => Record<string, string>) | undefined {
  const codes = entriesOf(errors.codes).filter(([, { headers }]) => Object.keys(headers).length > 0);
  if (codes.length === 0 && Object.keys(errors.headers).length === 0) return undefined;
  const byCode = new Map<string | undefined, MakeHeaders | undefined>();
  return (told, request) => {
    const { code } = told;
    const own = codes.find(([name]) => name === code)?.[1].headers;
    // What is stated for all is the same for every code without header fields of its own.
    const key = own ? code : undefined;
    const make = byCode.get(key) ?? compileMadeHeaders({ ...errors.headers, ...own }, compile);
    byCode.set(key, make);
    return make?.(refusedScope(told, request)) ?? {};
  };
}

/** The 501 of what this service cannot do. */
function unsupportedReply({ type, detail }: NonNullable<Refusal['unsupported']>, { requestId }: RefusedRequest): Reply {
  return problem({ type, status: 501, detail, request_id: requestId });
}

/** The 501 of an exchange that needs open facts. */
function openReply(open: readonly OpenFact[], request: RefusedRequest): Reply {
  const told = request.tellsProse ? open : open.map(({ prose: _prose, question: _question, ...rest }) => rest);
  const names = [...new Set(open.map((fact) => `${fact.kind} (${fact.subject})`))];
  const keys = [...new Set(open.slice(0, 3).map(({ at, place }) => `\`${lastKey(at)}\` (line ${place.line})`))];
  const detail = `This exchange needs ${names.length === 1 ? 'a fact that is' : 'facts that are'} open: ${names.join(', ')}. State ${keys.join(', ')}.`;
  return problem({ type: 'urn:ninefold:open', status: 501, detail, request_id: request.requestId, open: told });
}

/** The key under which a fact is stated. */
function lastKey(at: string): string {
  return pathOf(at).at(-1) ?? at;
}

/** The media types of JSON that an endpoint states for refusals of its own, by status. */
function typesOf(operation: Operation | undefined): ReadonlyMap<string, string> {
  const answers = operation?.endpoint ? (statedValue(operation.endpoint.response) ?? []) : [];
  return new Map(
    answers.flatMap(({ status, produces = [] }) => {
      const type = produces.find(isJson);
      return type === undefined ? [] : [[status.toUpperCase(), type] as const];
    }),
  );
}

/** A refusal in the media type that is stated for its status, the range of it, or all. */
function typed(reply: Reply, types: ReadonlyMap<string, string>): Reply {
  if (types.size === 0) return reply;
  const { status, headers } = reply;
  const type = types.get(String(status)) ?? types.get(`${Math.floor(status / 100)}XX`) ?? types.get('DEFAULT');
  return type === undefined || headers['content-type'] === undefined
    ? reply
    : { ...reply, headers: { ...headers, 'content-type': type } };
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>> | undefined): Reply {
  return headers ? { ...reply, headers: { ...reply.headers, ...headers } } : reply;
}

/** The narrowest rule for a condition: one that names the operation before one for all. */
function conditionRow({ errors }: Spec, when: ErrorCondition, operation: Operation | undefined, facts: OpenFacts): Row {
  const found = ruleFor(errors, when, operation);
  const { status, message } = ownAnswer(when);
  if (found) return row(found.code, found.rule, status, message, facts);
  return { status, code: undefined, message, constants: {}, open: openFactsOf(errors, generalCondition(when), facts) };
}

/** What is open where a condition has no code: it is not, where the document says that there is none, or that it is anybody's choice. */
function openFactsOf({ codes, conditions }: Errors, when: ErrorCondition, facts: OpenFacts): readonly OpenFact[] {
  if (codes.standing === 'none' || codes.standing === 'any' || conditions[when]) return [];
  return isStated(codes) ? facts.about('conditions', when) : facts.about('error codes', 'service');
}

function codeRow(codes: readonly ErrorCode[], name: string, operation: Operation | undefined, facts: OpenFacts): Row {
  const code = codes.find((candidate) => candidate.name === name);
  const named = code?.rules.find(
    (rule) => rule.on !== undefined && operation !== undefined && namesOperation(rule.on, operation),
  );
  const rule = named ?? code?.rules.find((candidate) => candidate.on === undefined) ?? code?.rules[0];
  if (!code || !rule) return { status: 409, code: name, message: name, constants: {}, open: [] };
  return row(code, rule, 409, `This is refused: ${name.replaceAll('_', ' ')}.`, facts);
}

function row(code: ErrorCode, rule: ErrorRule, status: number, message: string, facts: OpenFacts): Row {
  const open = rule.status.standing === 'open' ? facts.about('status codes', code.name) : [];
  const say = compileMessage(rule.message);
  return {
    status: statedValue(rule.status) ?? status,
    code: code.name,
    message: say ? message : (rule.message ?? message),
    ...(say && { say }),
    constants: code.constants,
    open,
  };
}

/** What a refusal may tell its caller. */
interface Telling {
  /** Who is not known learns no prose where credentials are asked for. */
  readonly tellsProse: (request: RefusedRequest) => boolean;
  /** `found` never shows what the caller may not see. */
  readonly violations: (violations: readonly Violation[], request: RefusedRequest) => readonly Violation[];
  /** Their places in a body, as the document says that they are written. */
  readonly written: (violations: readonly Violation[]) => readonly Violation[];
}

function compileTelling(spec: Spec, operation: Operation | undefined): Telling {
  const asksWho = isStated(spec.authentication.schemes);
  const { paths } = spec.errors;
  let shapes: readonly Shape[] | undefined;
  return {
    tellsProse: ({ tellsProse, caller }) => tellsProse && (caller !== undefined || !asksWho),
    violations(violations, { caller }) {
      shapes ??= shapesOf(spec, operation);
      const reader = { user: caller?.user, reveals: false, leftOut: leftOutOf(spec, { user: caller?.user }) };
      return violations.map((violation) => {
        const isHidden = violation.in === 'body' && shapes?.some((shape) => isHiddenAt(spec, shape, violation.path, reader));
        return isHidden ? { ...violation, found: 'a value that is not shown' } : violation;
      });
    },
    written:
      paths === 'pointer'
        ? (violations) => violations
        : (violations) =>
            violations.map((violation) =>
              violation.in === 'body' ? { ...violation, path: writtenPath(violation.path, paths) } : violation,
            ),
  };
}

/** What the paths of violations lead into: the row, and what is sent of it. */
function shapesOf(spec: Spec, operation: Operation | undefined): Shape[] {
  const sent = operation?.endpoint && statedValue(requestShape(spec, operation.endpoint));
  return [...(operation?.resource === undefined ? [] : [{ resource: operation.resource }]), ...(sent ? [sent] : [])];
}

/** Puts the violations of a refusal in the order of what was sent, of which the first names it. */
type NameByFirst = (refusal: Refusal, sent: Value) => Refusal;

/** Compiles the naming of refusals by their first violation; nothing where no error tells one from another. */
function compileNaming({ errors }: Spec): NameByFirst | undefined {
  const sorts = new Set<ErrorCondition>(narrowerOf('request.invalid'));
  const rules = entriesOf(errors.codes).flatMap(([, code]) => code.rules);
  const stated = [...rules.flatMap(({ when }) => statedValue(when) ?? []), ...Object.keys(errors.conditions)];
  // A word that is no condition is none of them.
  const tellsSorts = stated.some((word) => sorts.has(word as ErrorCondition));
  const tellsFirst = rules.some(({ message }) => message !== undefined && tellsViolation(message));
  if (!tellsSorts && !tellsFirst) return undefined;
  return (refusal, sent) => {
    const { when, violations = [] } = refusal;
    if (violations.length === 0) return refusal;
    const inOrder = ordered(violations, sent);
    const [first] = inOrder;
    const isSorted = tellsSorts && when === 'request.invalid' && first !== undefined;
    return { ...refusal, violations: inOrder, ...(isSorted && { when: `request.invalid.${first[sort] ?? 'value'}` as const }) };
  };
}

/** In the order of the members that were sent; what is missing comes behind what stands beside it. */
function ordered(violations: readonly Violation[], sent: Value): readonly Violation[] {
  if (violations.length === 1) return violations;
  return violations
    .map((violation) => ({ violation, places: violation.in === 'body' ? placesOf(pathOf(violation.path), sent) : [] }))
    .sort((a, b) => compare(a.places, b.places))
    .map(({ violation }) => violation);
}

/** Where each step of a path stands among its neighbours, as far as it was sent. */
function placesOf(path: readonly string[], sent: Value): readonly number[] {
  const places: number[] = [];
  let at = sent;
  for (const name of path) {
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    if (!isThere) return [...places, Number.POSITIVE_INFINITY];
    places.push(Array.isArray(at) ? Number(name) : Object.keys(at as object).indexOf(name));
    // It has a member of that name.
    at = (at as Readonly<Record<string, Value>>)[name];
  }
  return places;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [one, other] = [a[at] as number, b[at] as number];
    if (one !== other) return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
