import { authenticationTrials } from './authentication/all.ts';
import { whoMay } from './authentication/users.ts';
import { accepts } from './endpoints/accepts.ts';
import { answers } from './endpoints/answers.ts';
import { available } from './endpoints/available.ts';
import { bodies } from './endpoints/bodies.ts';
import { bodiless } from './endpoints/bodiless.ts';
import { called } from './endpoints/called.ts';
import { computed } from './endpoints/computed.ts';
import { preconditionsKept } from './endpoints/conditions.ts';
import { cursors } from './endpoints/cursors.ts';
import { deleting } from './endpoints/deleting.ts';
import { expanded } from './endpoints/expanded.ts';
import { firstViolation } from './endpoints/first-violation.ts';
import { handled } from './endpoints/handled.ts';
import { idempotency } from './endpoints/idempotency.ts';
import { keysLater } from './endpoints/keys-later.ts';
import { narrowedLists } from './endpoints/lists.ts';
import { locations } from './endpoints/locations.ts';
import { media } from './endpoints/media.ts';
import { merging } from './endpoints/merging.ts';
import { oddValues } from './endpoints/odd-values.ts';
import { completePages, sharedPages } from './endpoints/pages.ts';
import { parameters } from './endpoints/parameters.ts';
import { replacing } from './endpoints/replacing.ts';
import { replies } from './endpoints/replies.ts';
import { routes, statedRoutes } from './endpoints/routes.ts';
import { safeMethods } from './endpoints/safe-methods.ts';
import { selected } from './endpoints/selected.ts';
import { crashes } from './errors/crashes.ts';
import { neverArising } from './errors/never.ts';
import { refusalOrder } from './errors/order.ts';
import { ownErrors } from './errors/own.ts';
import { refusals } from './errors/refusals.ts';
import { takenAgain } from './errors/taken-again.ts';
import { unchangedByRefused } from './errors/unchanged.ts';
import { writtenPlaces } from './errors/written-places.ts';
import { eventTrials } from './events/all.ts';
import { limitTrials } from './limits/all.ts';
import { toldRates } from './limits/told-names.ts';
import type { Observer } from './observer.ts';
import { purposeTrials } from './purpose/all.ts';
import { changed } from './resources/changed.ts';
import { changedLater } from './resources/changed-later.ts';
import { childrenInParents } from './resources/children.ts';
import { childrenInChanges } from './resources/children-changed.ts';
import { countedFields } from './resources/counted.ts';
import { derived } from './resources/derived.ts';
import { rulesOverFields } from './resources/field-rules.ts';
import { fixedFields } from './resources/fixed.ts';
import { foundByKey } from './resources/found-by-key.ts';
import { identifiers } from './resources/identifiers.ts';
import { keptDeleted } from './resources/kept.ts';
import { missingRows } from './resources/missing.ts';
import { movedRows } from './resources/moved-rows.ts';
import { notWritable } from './resources/not-writable.ts';
import { uniqueRaced, uniqueRacedLater } from './resources/raced.ts';
import { references } from './resources/references.ts';
import { shownLater } from './resources/shown-later.ts';
import { shownShapes, shownStates } from './resources/shown-shapes.ts';
import { shownTo } from './resources/shown-to.ts';
import { statedRows } from './resources/stated-rows.ts';
import { stored } from './resources/stored.ts';
import { there } from './resources/there.ts';
import { unique } from './resources/unique.ts';
import { uniqueChanged } from './resources/unique-changed.ts';
import { afterTime } from './states/after-time.ts';
import { answeredCreations } from './states/answered.ts';
import { transitionConditions } from './states/conditions.ts';
import { edges } from './states/edges.ts';
import { transitions } from './states/every-transition.ts';
import { following } from './states/following.ts';
import { inStates } from './states/in-states.ts';
import { initial } from './states/initial.ts';
import { movedByUpdate } from './states/moved.ts';
import { races } from './states/races.ts';
import { sequences, timedSequences } from './states/sequences.ts';
import { timed } from './states/timed.ts';
import type { Trial } from './trial.ts';
import { versioningTrials } from './versioning/all.ts';

/** Every trial, the cheap and certain first. One file each, in the folder of its part. */
export const trials: readonly Trial[] = [
  stored,
  changed,
  fixedFields,
  unique,
  uniqueChanged,
  uniqueRaced,
  shownTo,
  shownLater,
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
  safeMethods,
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
