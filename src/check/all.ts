import { permissionRules, reachRules } from './authentication/permissions.ts';
import { certificateRules, schemeWordRules } from './authentication/scheme-words.ts';
import { schemeRules, tokenRules } from './authentication/schemes.ts';
import { answerRules } from './endpoints/answers.ts';
import { changeRules } from './endpoints/changes.ts';
import { choosingRules, selectingRules } from './endpoints/choosing.ts';
import { effectRules, sentIdentifierRules } from './endpoints/effects.ts';
import { keyRules } from './endpoints/keys.ts';
import { listRules } from './endpoints/lists.ts';
import { parameterRules } from './endpoints/parameters.ts';
import { movedErrorRules, movedRules, pathRules, routeRules } from './endpoints/paths.ts';
import { errorsRules } from './errors.ts';
import { confirmingRules } from './events/confirming.ts';
import { brokerRules, deliveryRules } from './events/delivery.ts';
import { kindRules } from './events/kinds.ts';
import { logRules } from './events/log.ts';
import { expressionsRules } from './expressions.ts';
import { limitsRules } from './limits.ts';
import { proseRules, structureRules } from './prose.ts';
import { purposeRules } from './purpose.ts';
import { childrenRules } from './resources/children.ts';
import { fieldRules } from './resources/fields.ts';
import { derivedRules, generatedRules } from './resources/generated.ts';
import { identifierRules } from './resources/identifiers.ts';
import { keptRules, referenceRules } from './resources/references.ts';
import { ruleRules, setRules, suppliedRules } from './resources/set.ts';
import { statedRowRules } from './resources/stated-rows.ts';
import { visibilityRules } from './resources/visibility.ts';
import { boundRules } from './shapes/bounds.ts';
import { recursionRules, unionRules } from './shapes/composition.ts';
import { nameRules, schemaRules } from './shapes/schema.ts';
import { patternRules, valueRules } from './shapes/values.ts';
import { followingRules } from './states/following.ts';
import { machineRules, stateReachRules } from './states/machines.ts';
import { stateFieldRules, transitionRules } from './states/transitions.ts';
import type { Rule } from './subject/rule.ts';
import { versionChangeRules } from './versioning/changes.ts';
import { dateRules, selectionRules } from './versioning/dates.ts';
import { carriedRules } from './versioning/values.ts';

/** Resources and their fields. What their shapes are made of is a matter of `shapes/`. */
const resourcesRules: readonly Rule[] = [
  ...identifierRules,
  ...fieldRules,
  ...generatedRules,
  ...visibilityRules,
  ...referenceRules,
  ...setRules,
  ...suppliedRules,
  ...childrenRules,
  ...keptRules,
  ...statedRowRules,
  ...derivedRules,
  ...ruleRules,
];

/** States and transitions. */
const statesRules: readonly Rule[] = [
  ...machineRules,
  ...stateFieldRules,
  ...transitionRules,
  ...stateReachRules,
  ...followingRules,
];

/** Endpoints. */
const endpointsRules: readonly Rule[] = [
  ...routeRules,
  ...pathRules,
  ...keyRules,
  ...effectRules,
  ...parameterRules,
  ...choosingRules,
  ...listRules,
  ...selectingRules,
  ...movedRules,
  ...changeRules,
  ...sentIdentifierRules,
  ...answerRules,
];

/** Authentication. */
const authenticationRules: readonly Rule[] = [
  ...schemeRules,
  ...schemeWordRules,
  ...tokenRules,
  ...certificateRules,
  ...permissionRules,
  ...reachRules,
];

/** Events. */
const eventsRules: readonly Rule[] = [...kindRules, ...logRules, ...deliveryRules, ...confirmingRules, ...brokerRules];

/** Versions. */
const versioningRules: readonly Rule[] = [...dateRules, ...selectionRules, ...versionChangeRules, ...carriedRules];

/** Shapes, wherever one stands: a field, a parameter, a body, an event's payload. */
const shapesRules: readonly Rule[] = [
  ...nameRules,
  ...schemaRules,
  ...boundRules,
  ...patternRules,
  ...valueRules,
  ...unionRules,
  ...recursionRules,
];

/** Every rule, in the order of the nine parts; then those about what stands in all of them. */
export const rules: readonly Rule[] = [
  ...purposeRules,
  ...resourcesRules,
  ...statesRules,
  ...endpointsRules,
  ...authenticationRules,
  ...eventsRules,
  ...errorsRules,
  ...movedErrorRules,
  ...limitsRules,
  ...versioningRules,
  ...shapesRules,
  ...expressionsRules,
  ...proseRules,
  ...structureRules,
];
