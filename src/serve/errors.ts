import { ownMessage, ownStatus } from '../parts/condition-words.ts';
import type { ErrorCode, ErrorCondition, ErrorPayload, ErrorRule } from '../parts/errors.ts';
import { entriesOf, isStated, statedValue } from '../parts/fact.ts';
import { namesOperation, type Operation } from '../parts/operations.ts';
import type { Spec } from '../parts/spec.ts';
import { type CompileExpression, type Evaluate, isFailed } from './evaluate.ts';
import type { Refusal, RefusedRequest, Reply, Value } from './exchange.ts';
import type { OpenFact, OpenFacts } from './open.ts';
import { phrase } from './statuses.ts';
import { compileTelling } from './told.ts';
import type { Violation } from './wire/violation.ts';

/** How one operation's refusals look: everything that can be known of them before there is one. */
export interface RefusalTable {
  answer(refusal: Refusal, request: RefusedRequest): Reply;
}

interface Row {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly constants: Readonly<Record<string, Value>>;
  readonly open: readonly OpenFact[];
}

/** Compiles the refusals of an operation; without one, those of requests that reach none. */
export function compileRefusals(
  spec: Spec,
  operation: Operation | undefined,
  facts: OpenFacts,
  compile: CompileExpression,
): RefusalTable {
  const codes = entriesOf(spec.errors.codes).map(([, code]) => code);
  const payload = compilePayload(spec, compile);
  const telling = compileTelling(spec, operation);
  const byCondition = new Map<ErrorCondition, Row>();
  const byCode = new Map<string, Row>();
  const openPayload = spec.errors.payload.standing === 'open' ? facts.about('error payload shapes', 'service') : [];

  const rowOf = (refusal: Refusal): Row => {
    if (refusal.code !== undefined) {
      const row = byCode.get(refusal.code) ?? codeRow(codes, refusal.code, operation, facts);
      byCode.set(refusal.code, row);
      return row;
    }
    const when = refusal.when ?? 'internal';
    const row = byCondition.get(when) ?? conditionRow(codes, when, operation, facts, spec);
    byCondition.set(when, row);
    return row;
  };

  return {
    answer(refusal, asked) {
      const request = { ...asked, tellsProse: telling.tellsProse(asked) };
      if (refusal.open) return openReply(refusal.open, request);
      if (refusal.unsupported)
        return problem({
          type: refusal.unsupported.type,
          status: 501,
          detail: refusal.unsupported.detail,
          request_id: request.requestId,
        });
      const row = rowOf(refusal);
      const status = row.code === undefined && refusal.status !== undefined ? refusal.status : row.status;
      const open = [...row.open, ...openPayload];
      return withHeaders(
        payload(
          {
            ...row,
            status,
            open,
            message: refusal.when === 'internal' ? row.message : (refusal.message ?? row.message),
            violations: refusal.violations && telling.violations(refusal.violations, request),
          },
          request,
        ),
        refusal.headers,
      );
    },
  };
}

/** The 501 of an exchange that needs open facts. */
function openReply(open: readonly OpenFact[], request: RefusedRequest): Reply {
  const told = request.tellsProse ? open : open.map(({ prose: _prose, question: _question, ...rest }) => rest);
  const names = [...new Set(open.map((fact) => `${fact.kind} (${fact.subject})`))];
  const detail = `This exchange needs ${names.length === 1 ? 'a fact that is' : 'facts that are'} open: ${names.join(', ')}.`;
  return problem({ type: 'urn:ninefold:open', status: 501, detail, request_id: request.requestId, open: told });
}

function problem(members: { readonly type?: string; readonly status: number } & Readonly<Record<string, Value>>): Reply {
  const { type = 'about:blank', status, ...rest } = members;
  const body = JSON.stringify({ type, title: phrase(status), status, ...rest });
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>> | undefined): Reply {
  return headers ? { ...reply, headers: { ...reply.headers, ...headers } } : reply;
}

/** The narrowest rule for a condition: one that names the operation before one for all. */
function conditionRow(
  codes: readonly ErrorCode[],
  when: ErrorCondition,
  operation: Operation | undefined,
  facts: OpenFacts,
  spec: Spec,
): Row {
  const candidates = codes.flatMap((code) =>
    code.rules.filter((rule) => statedValue(rule.when)?.includes(when)).map((rule) => ({ code, rule })),
  );
  const named = candidates.find(
    ({ rule }) => rule.on !== undefined && operation !== undefined && namesOperation(rule.on, operation),
  );
  const found = named ?? candidates.find(({ rule }) => rule.on === undefined);
  if (found) return row(found.code, found.rule, ownStatus[when], ownMessage[when], facts);
  const noCodes = spec.errors.codes.standing === 'none' || spec.errors.codes.standing === 'any';
  const open = noCodes
    ? []
    : facts.about(isStated(spec.errors.codes) ? 'conditions' : 'error codes', isStated(spec.errors.codes) ? when : 'service');
  return { status: ownStatus[when], code: undefined, message: ownMessage[when], constants: {}, open };
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
  return {
    status: statedValue(rule.status) ?? status,
    code: code.name,
    message: rule.message ?? message,
    constants: code.constants,
    open,
  };
}

type Told = Row & { readonly violations: readonly Violation[] | undefined };
type Payload = (told: Told, request: RefusedRequest) => Reply;

function compilePayload(spec: Spec, compile: CompileExpression): Payload {
  const stated: ErrorPayload | undefined = statedValue(spec.errors.payload);
  if (stated === undefined || stated === 'problem') return problemPayload;
  const data = stated.data;
  const whole =
    'source' in data && typeof data.source === 'string' ? compile({ source: data.source, at: String(data.at) }) : undefined;
  const fields: [string, Evaluate][] = whole ? [] : Object.entries(data).map(([name, expression]) => [name, compile(expression)]);
  return (told, request) => {
    const scope = {
      ...told.constants,
      code: told.code ?? null,
      status: told.status,
      message: told.message,
      path: request.path,
      violations: told.violations ?? [],
      request_id: request.requestId,
    };
    const body = whole
      ? whole(scope)
      : Object.fromEntries(
          fields
            .map(([name, evaluate]) => [name, evaluate(scope)] as const)
            .filter(([, value]) => !isFailed(value) && value !== undefined),
        );
    if (isFailed(body)) return problemPayload(told, request);
    return { status: told.status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  };
}

/** RFC 9457 section 3, with `code`, `request_id` and `violations` as extension members. */
function problemPayload(told: Told, request: RefusedRequest): Reply {
  const open = told.open.map((fact) => (request.tellsProse ? fact : { ...fact, prose: undefined, question: undefined }));
  return problem({
    status: told.status,
    detail: told.message,
    ...(told.code !== undefined && { code: told.code }),
    ...told.constants,
    request_id: request.requestId,
    ...(told.violations && told.violations.length > 0 && { violations: told.violations }),
    ...(open.length > 0 && { open }),
  });
}
