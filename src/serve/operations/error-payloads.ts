import type { ErrorCondition } from '../../parts/conditions.ts';
import { type ErrorPayload, membersOfViolations } from '../../parts/errors.ts';
import { statedValue } from '../../parts/fact.ts';
import { compileWithoutAbsent } from '../../parts/shape-level.ts';
import type { Spec } from '../../parts/spec.ts';
import { type CompileExpression, type Evaluate, isFailed } from '../exchange/compilation.ts';
import { noRate } from '../exchange/counted.ts';
import type { RefusedRequest, Value } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { Reply } from '../http/call.ts';
import { phrase } from '../http/refusals.ts';
import type { Violation } from '../http/violation.ts';
import type { StandIn } from '../resources/stand-in.ts';

/** What an error code, or a condition without one, comes to. */
export interface ErrorRow {
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  /** What it says of the first violation, where its message tells of that. */
  readonly say?: (violation: Violation) => string;
  readonly constants: Readonly<Record<string, Value>>;
  readonly open: readonly OpenFact[];
}

/** A refusal with its status, its code and its words. */
export type ToldRefusal = ErrorRow & {
  readonly violations: readonly Violation[] | undefined;
  readonly condition: ErrorCondition | undefined;
  /** The row, where the change is kept that is answered so. */
  readonly result?: Value;
};

/** Gives a refusal its stated shape. */
export type Payload = (told: ToldRefusal, request: RefusedRequest) => Reply;

/** Compiles the stated shape of errors: RFC 9457 unless another is stated; a stand-in completes what that leaves open. */
export function compilePayload(spec: Spec, compile: CompileExpression, standIn: StandIn | undefined): Payload {
  const stated: ErrorPayload | undefined = statedValue(spec.errors.payload);
  if (stated === undefined && standIn) return usualPayload;
  if (stated === undefined || stated === 'problem') return problemPayload;
  const data = stated.data;
  const whole =
    'source' in data && typeof data.source === 'string' ? compile({ source: data.source, at: String(data.at) }) : undefined;
  const fields: [string, Evaluate][] = whole ? [] : Object.entries(data).map(([name, expression]) => [name, compile(expression)]);
  const shape = statedValue(stated.shape);
  const ofViolations = new Set(membersOfViolations(stated));
  const dropAbsent = shape && compileWithoutAbsent(spec, shape);
  const complete = shape && standIn?.compilePayload(shape);
  return (told, request) => {
    const scope = refusedScope(told, request);
    const body = whole
      ? whole(scope)
      : Object.fromEntries(
          fields
            .map(([name, evaluate]) => [name, evaluate(scope)] as const)
            .filter(([, value]) => !isFailed(value) && value !== undefined)
            .filter(([name, value]) => !(ofViolations.has(name) && Array.isArray(value) && value.length === 0)),
        );
    if (isFailed(body)) return problemPayload(told, request);
    dropAbsent?.(body);
    const headers = { 'content-type': 'application/json' };
    if (!complete) return { status: told.status, headers, body: JSON.stringify(body) };
    const completed = complete(body, told, request.requestId);
    return {
      status: told.status,
      headers: { ...headers, ...completed.headers },
      body: JSON.stringify(completed.body),
    };
  };
}

/** What the payload and the header fields of a refusal read. */
export function refusedScope(
  told: ToldRefusal,
  { path, requestId, rate, asked }: RefusedRequest,
): Readonly<Record<string, Value>> {
  return {
    ...told.constants,
    ...(asked && { now: asked.nowMs }),
    operation: asked?.operation ?? '',
    version: asked?.version ?? '',
    code: told.code ?? null,
    status: told.status,
    message: told.message,
    path,
    violations: told.violations ?? [],
    result: told.result ?? null,
    request_id: requestId,
    rate: rate?.() ?? noRate,
  };
}

/** RFC 9457 section 3, with `code`, `request_id` and `violations` as extension members. */
function problemPayload(told: ToldRefusal, request: RefusedRequest): Reply {
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

/** Where nothing says what errors look like, those of a stand-in have the members besides by which most clients know them. */
function usualPayload(told: ToldRefusal, request: RefusedRequest): Reply {
  const code = told.code ?? phrase(told.status).replaceAll(/\W+/g, '_').toLowerCase();
  const { message } = told;
  return problemPayload(
    { ...told, constants: { code, message, error: { type: code, code, message }, ...told.constants } },
    request,
  );
}

/** A problem of RFC 9457 section 3. */
export function problem(members: { readonly type?: string; readonly status: number } & Readonly<Record<string, Value>>): Reply {
  const { type = 'about:blank', status, ...rest } = members;
  const body = JSON.stringify({ type, title: phrase(status), status, ...rest });
  return { status, headers: { 'content-type': 'application/problem+json' }, body };
}
