import { refusals } from './make/refusals.ts';
import type { Observer } from './session/observer.ts';
import type { Trial } from './session/trial.ts';
import { authenticationTrials } from './trials/authentication/all.ts';
import { whoMay } from './trials/authentication/users.ts';
import { accepts } from './trials/endpoints/accepts.ts';
import { answers } from './trials/endpoints/answers.ts';
import { available } from './trials/endpoints/available.ts';
import { bodies } from './trials/endpoints/bodies.ts';
import { bodiless } from './trials/endpoints/bodiless.ts';
import { called } from './trials/endpoints/called.ts';
import { computed } from './trials/endpoints/computed.ts';
import { preconditionsKept } from './trials/endpoints/conditions.ts';
import { cursors } from './trials/endpoints/cursors.ts';
import { deleting } from './trials/endpoints/deleting.ts';
import { expanded } from './trials/endpoints/expanded.ts';
import { firstViolation } from './trials/endpoints/first-violation.ts';
import { handled } from './trials/endpoints/handled.ts';
import { idempotency } from './trials/endpoints/idempotency.ts';
import { keysLater } from './trials/endpoints/keys-later.ts';
import { narrowedLists } from './trials/endpoints/lists.ts';
import { locations } from './trials/endpoints/locations.ts';
import { media } from './trials/endpoints/media.ts';
import { merging } from './trials/endpoints/merging.ts';
import { oddValues } from './trials/endpoints/odd-values.ts';
import { completePages, sharedPages } from './trials/endpoints/pages.ts';
import { parameters } from './trials/endpoints/parameters.ts';
import { replacing } from './trials/endpoints/replacing.ts';
import { replies } from './trials/endpoints/replies.ts';
import { routes, statedRoutes } from './trials/endpoints/routes.ts';
import { selected } from './trials/endpoints/selected.ts';
import { crashes } from './trials/errors/crashes.ts';
import { neverArising } from './trials/errors/never.ts';
import { refusalOrder } from './trials/errors/order.ts';
import { ownErrors } from './trials/errors/own.ts';
import { takenAgain } from './trials/errors/taken-again.ts';
import { unchangedByRefused } from './trials/errors/unchanged.ts';
import { writtenPlaces } from './trials/errors/written-places.ts';
import { eventTrials } from './trials/events/all.ts';
import { limitTrials } from './trials/limits/all.ts';
import { toldRates } from './trials/limits/told-names.ts';
import { purposeTrials } from './trials/purpose/all.ts';
import { changed } from './trials/resources/changed.ts';
import { changedLater } from './trials/resources/changed-later.ts';
import { childrenInParents } from './trials/resources/children.ts';
import { childrenInChanges } from './trials/resources/children-changed.ts';
import { countedFields } from './trials/resources/counted.ts';
import { derived } from './trials/resources/derived.ts';
import { rulesOverFields } from './trials/resources/field-rules.ts';
import { fixedFields } from './trials/resources/fixed.ts';
import { foundByKey } from './trials/resources/found-by-key.ts';
import { identifiers } from './trials/resources/identifiers.ts';
import { keptDeleted } from './trials/resources/kept.ts';
import { missingRows } from './trials/resources/missing.ts';
import { movedRows } from './trials/resources/moved-rows.ts';
import { notWritable } from './trials/resources/not-writable.ts';
import { uniqueRaced, uniqueRacedLater } from './trials/resources/raced.ts';
import { references } from './trials/resources/references.ts';
import { shownShapes, shownStates } from './trials/resources/shown-shapes.ts';
import { shownTo } from './trials/resources/shown-to.ts';
import { statedRows } from './trials/resources/stated-rows.ts';
import { stored } from './trials/resources/stored.ts';
import { there } from './trials/resources/there.ts';
import { unique } from './trials/resources/unique.ts';
import { uniqueChanged } from './trials/resources/unique-changed.ts';
import { afterTime } from './trials/states/after-time.ts';
import { answeredCreations } from './trials/states/answered.ts';
import { transitionConditions } from './trials/states/conditions.ts';
import { edges } from './trials/states/edges.ts';
import { transitions } from './trials/states/every-transition.ts';
import { following } from './trials/states/following.ts';
import { inStates } from './trials/states/in-states.ts';
import { initial } from './trials/states/initial.ts';
import { movedByUpdate } from './trials/states/moved.ts';
import { races } from './trials/states/races.ts';
import { sequences, timedSequences } from './trials/states/sequences.ts';
import { timed } from './trials/states/timed.ts';
import { versioningTrials } from './trials/versioning/all.ts';

/** Every trial, the cheap and certain first. One file each, in the folder of its part. */
export const trials: readonly Trial[] = [
  stored,
  changed,
  fixedFields,
  unique,
  uniqueChanged,
  uniqueRaced,
  shownTo,
  notWritable,
  references,
  derived,
  childrenInParents,
  childrenInChanges,
  keptDeleted,
  countedFields,
  foundByKey,
  rulesOverFields,
  identifiers,
  missingRows,
  movedRows,
  there,
  initial,
  answeredCreations,
  statedRows,
  transitions,
  movedByUpdate,
  inStates,
  transitionConditions,
  edges,
  following,
  sequences,
  called,
  available,
  routes,
  replies,
  computed,
  selected,
  expanded,
  replacing,
  merging,
  locations,
  deleting,
  media,
  accepts,
  preconditionsKept,
  idempotency,
  parameters,
  handled,
  narrowedLists,
  cursors,
  completePages,
  sharedPages,
  bodies,
  bodiless,
  oddValues,
  ...purposeTrials,
  ...authenticationTrials,
  ...versioningTrials,
  // Where the clock can be moved they wait for nothing, and are done before those that do.
  changedLater,
  keysLater,
  timed,
  afterTime,
  timedSequences,
  uniqueRacedLater,
  ...eventTrials,
  toldRates,
  ...limitTrials,
  races,
  ownErrors,
  unchangedByRefused,
  takenAgain,
  refusalOrder,
  firstViolation,
  writtenPlaces,
];

/** What every answer is held to. */
export const observers: readonly Observer[] = [
  crashes,
  answers,
  statedRoutes,
  refusals,
  neverArising,
  shownShapes,
  shownStates,
  whoMay,
];
