import { isNarrow } from '../conditions.ts';
import { isStated } from '../fact.ts';
import { arisingConditions, isGivenInParts } from '../possible-errors.ts';
import type { Spec } from '../spec.ts';
import { type FactInstance, type FactKind, instance, stated } from './kind.ts';

/** Codes and payload once each; status per code; conditions per code, and per condition that can arise and has no code. */
export const errorFacts: readonly FactKind[] = [
  {
    part: 'errors',
    kind: 'error codes',
    arises: ({ errors }) => [instance('service', errors.codes), ...(errors.others ? [instance('others', errors.others)] : [])],
    whenOpen: "Refusals carry HTTP's own status and no code, and name the open fact.",
  },
  {
    part: 'errors',
    kind: 'status codes',
    arises: statusCodes,
    whenOpen: "The refusal carries HTTP's own status, and names the open fact.",
  },
  {
    part: 'errors',
    kind: 'error payload shapes',
    arises: ({ errors }) => [instance('service', errors.payload)],
    whenOpen: 'Refusals carry an RFC 9457 problem that names the open fact.',
  },
  {
    part: 'errors',
    kind: 'conditions',
    arises: conditions,
    whenOpen: "The refusal is certain: it carries HTTP's own status and no code, and names the open fact.",
  },
];

function statusCodes(spec: Spec): FactInstance[] {
  const { codes } = spec.errors;
  if (!isStated(codes)) return codes.standing === 'none' ? [] : [instance('service', codes)];
  return Object.values(codes.value).flatMap((code) => code.rules.map((rule) => instance(code.name, rule.status)));
}

function conditions(spec: Spec): FactInstance[] {
  const { codes } = spec.errors;
  if (!isStated(codes)) return codes.standing === 'none' ? [] : [instance('service', codes)];
  const named = new Set(
    Object.values(codes.value).flatMap((code) => code.rules.flatMap((rule) => (isStated(rule.when) ? rule.when.value : []))),
  );
  const perCode = Object.values(codes.value).map((code) => stated(code.name, code.at));
  const settled = spec.errors.conditions;
  const unanswered = arisingConditions(spec).filter(
    (condition) =>
      !named.has(condition) &&
      !isNarrow(condition) &&
      !Object.hasOwn(settled, condition) &&
      !isGivenInParts(spec, condition, named),
  );
  return [
    ...perCode,
    // Nobody has to say in which order it is refused.
    ...(spec.errors.order.standing === 'open' && spec.errors.order.question === undefined
      ? []
      : [instance('order', spec.errors.order)]),
    ...Object.entries(settled).map(([condition, standing]) => instance(condition, standing)),
    ...unanswered.map((condition): FactInstance => ({ subject: condition, at: codes.at, standing: 'open' })),
  ];
}
