import type { ErrorCondition } from '../parts/errors.ts';
import { entriesOf, type Fact, isStated } from '../parts/fact.ts';
import type { Spec } from '../parts/spec.ts';
import type { Subject } from './rule.ts';

/** Whether something open, or a list that is not the whole, may make a condition arise; then nothing is known about it. */
export function mayArise({ spec, names }: Subject, condition: ErrorCondition): boolean {
  return !names.operations.closed || (deciding[condition] ?? nothing)(spec);
}

type Undecided = (spec: Spec) => boolean;
const nothing: Undecided = () => false;

const requests: Undecided = ({ resources }) => resources.others !== undefined || fieldsAreOpen({ resources });

/** What each condition depends on, where that can be open. */
const deciding: Readonly<Partial<Record<ErrorCondition, Undecided>>> = {
  'request.malformed': requests,
  'request.media': requests,
  'request.invalid': requests,
  'caller.unknown': ({ authentication }) => isOpen(authentication.schemes),
  'caller.forbidden': ({ authentication }) => isOpen(authentication.permissions) || isOpen(authentication.schemes),
  'resource.exists': requests,
  'reference.missing': requests,
  'reference.held': requests,
  'transition.illegal': ({ states }) =>
    isOpen(states.all) || states.others !== undefined || entriesOf(states.all).some(([, machine]) => isOpen(machine)),
  'limit.rate': ({ limits }) => isOpen(limits.rate),
  'limit.quota': ({ limits }) => isOpen(limits.quota),
  'limit.size': ({ limits }) => isOpen(limits.size),
  'limit.page': ({ limits, endpoints }) =>
    isOpen(limits.pagination) ||
    entriesOf(endpoints.all).some(([, { pagination }]) => pagination !== undefined && isOpen(pagination)),
  'version.unknown': ({ versioning }) => isOpen(versioning.versions) || isOpen(versioning.select),
  'version.sunset': ({ versioning }) =>
    isOpen(versioning.versions) ||
    versioning.others !== undefined ||
    entriesOf(versioning.versions).some(([, { deprecation, current }]) => isOpen(deprecation) && !current),
};

function isOpen(fact: Fact<unknown>): boolean {
  return !isStated(fact) && fact.standing !== 'none';
}

function fieldsAreOpen({ resources }: Pick<Spec, 'resources'>): boolean {
  return (
    isOpen(resources.all) ||
    entriesOf(resources.all).some(([, { fields }]) => isOpen(fields) || entriesOf(fields).some(([, { shape }]) => isOpen(shape)))
  );
}
