import { isStated, statedValue } from '../parts/fact.ts';
import type { Operation } from '../parts/operations.ts';
import { requestShape } from '../parts/payload.ts';
import type { Shape } from '../parts/shape.ts';
import type { Spec } from '../parts/spec.ts';
import type { RefusedRequest } from './exchange.ts';
import { isHiddenAt } from './shown.ts';
import type { Violation } from './wire/violation.ts';

/** What a refusal may tell its caller. */
export interface Telling {
  /** Who is not known learns no prose where credentials are asked for. */
  readonly tellsProse: (request: RefusedRequest) => boolean;
  /** `found` never shows what the caller may not see. */
  readonly violations: (violations: readonly Violation[], request: RefusedRequest) => readonly Violation[];
}

export function compileTelling(spec: Spec, operation: Operation | undefined): Telling {
  const asksWho = isStated(spec.authentication.schemes);
  let shapes: readonly Shape[] | undefined;
  return {
    tellsProse: ({ tellsProse, caller }) => tellsProse && (caller !== undefined || !asksWho),
    violations(violations, { caller }) {
      shapes ??= shapesOf(spec, operation);
      const reader = { user: caller?.user, reveals: false };
      return violations.map((violation) => {
        const isHidden = violation.in === 'body' && shapes?.some((shape) => isHiddenAt(spec, shape, violation.path, reader));
        return isHidden ? { ...violation, found: 'a value that is not shown' } : violation;
      });
    },
  };
}

/** What the paths of violations lead into: the row, and what is sent of it. */
function shapesOf(spec: Spec, operation: Operation | undefined): Shape[] {
  const sent = operation?.endpoint && statedValue(requestShape(spec, operation.endpoint));
  return [...(operation?.resource === undefined ? [] : [{ resource: operation.resource }]), ...(sent ? [sent] : [])];
}
