import { refusals } from './make/refusals.ts';
import type { Observer } from './session/observer.ts';
import type { Trial } from './session/trial.ts';
import { belowParents, referring } from './trials/authentication/below.ts';
import { besideOthers } from './trials/authentication/carriers.ts';
import { permittedLists } from './trials/authentication/lists.ts';
import { lookUps } from './trials/authentication/look-ups.ts';
import { origins } from './trials/authentication/origins.ts';
import { rows } from './trials/authentication/rows.ts';
import { schemesAtDoors } from './trials/authentication/schemes-at-doors.ts';
import { credentialFormats, signedRequests } from './trials/authentication/signed-requests.ts';
import { statesOfRules } from './trials/authentication/states-of-rules.ts';
import { storedRules } from './trials/authentication/stored-rules.ts';
import { users, whoMay } from './trials/authentication/users.ts';
import { who } from './trials/authentication/who.ts';
import { bodies } from './trials/endpoints/bodies.ts';
import { computed } from './trials/endpoints/computed.ts';
import { preconditionsKept } from './trials/endpoints/conditions.ts';
import { expanded } from './trials/endpoints/expanded.ts';
import { narrowedLists } from './trials/endpoints/filters.ts';
import { firstViolation, oddValues } from './trials/endpoints/first-violation.ts';
import { bodiless, called, handled, replies } from './trials/endpoints/handled.ts';
import { idempotency } from './trials/endpoints/idempotency.ts';
import { keysLater } from './trials/endpoints/keys-later.ts';
import { available, locations } from './trials/endpoints/locations.ts';
import { accepts, media } from './trials/endpoints/media.ts';
import { merging } from './trials/endpoints/merging.ts';
import { completePages, sharedPages } from './trials/endpoints/pages.ts';
import { parameters } from './trials/endpoints/parameters.ts';
import { replacing } from './trials/endpoints/replacing.ts';
import { routes, statedRoutes } from './trials/endpoints/routes.ts';
import { deleting, safeMethods } from './trials/endpoints/safe-methods.ts';
import { selected } from './trials/endpoints/selected.ts';
import { answers } from './trials/endpoints/stated-answers.ts';
import { cursors } from './trials/endpoints/totals.ts';
import { crashes, neverArising } from './trials/errors/never.ts';
import { refusalOrder } from './trials/errors/order.ts';
import { ownErrors, unchangedByRefused } from './trials/errors/own.ts';
import { takenAgain, takenByMaker, takenInTime } from './trials/errors/taken-again.ts';
import { writtenPlaces } from './trials/errors/written-places.ts';
import { alreadySo } from './trials/events/already-so.ts';
import { toldByClock } from './trials/events/at-a-time.ts';
import { confirmingTrial } from './trials/events/confirming.ts';
import { delivering } from './trials/events/delivering.ts';
import { endingAll } from './trials/events/ear.ts';
import { emitting } from './trials/events/emitting.ts';
import { families } from './trials/events/families.ts';
import { toldAlong } from './trials/events/following.ts';
import { kept, resuming } from './trials/events/kept.ts';
import { later } from './trials/events/later.ts';
import { logged, logKept } from './trials/events/logged.ts';
import { loggedLater } from './trials/events/logged-later.ts';
import { refused, unchangedIsSilent } from './trials/events/refused.ts';
import { allTries, disabling } from './trials/events/tries.ts';
import { atOnce } from './trials/limits/at-once.ts';
import { pageSizes } from './trials/limits/pages.ts';
import { quotas } from './trials/limits/quotas.ts';
import { toldRates } from './trials/limits/rate-told.ts';
import { rates } from './trials/limits/rates.ts';
import { rowLimits } from './trials/limits/rows.ts';
import { sizes } from './trials/limits/sizes.ts';
import { times } from './trials/limits/times.ts';
import { toldCosts } from './trials/limits/told-costs.ts';
import { uncountedAnswers } from './trials/limits/uncounted.ts';
import { baseAddress, functions, purposeUsers } from './trials/purpose/purpose.ts';
import { toldAddresses } from './trials/purpose/told-addresses.ts';
import { changed, changedLater } from './trials/resources/changed.ts';
import { childrenInParents } from './trials/resources/children.ts';
import { childrenInChanges } from './trials/resources/children-changed.ts';
import { countedFields } from './trials/resources/counted.ts';
import { derived } from './trials/resources/derived.ts';
import { derivedEdges } from './trials/resources/derived-edges.ts';
import { rulesOverFields } from './trials/resources/field-rules.ts';
import { fixedFields } from './trials/resources/fixed.ts';
import { foundByKey } from './trials/resources/found-by-key.ts';
import { identifiers } from './trials/resources/identifiers.ts';
import { keptDeleted } from './trials/resources/kept.ts';
import { missingRows } from './trials/resources/missing.ts';
import { movedRows } from './trials/resources/moved-rows.ts';
import { wrongNames } from './trials/resources/named-wrongly.ts';
import { uniqueChanged, uniqueRaced, uniqueRacedLater } from './trials/resources/raced.ts';
import { references } from './trials/resources/references.ts';
import { shownLater } from './trials/resources/shown-later.ts';
import { shownShapes, shownStates } from './trials/resources/shown-shapes.ts';
import { shownTo } from './trials/resources/shown-to.ts';
import { statedRows, there } from './trials/resources/stated-rows.ts';
import { notWritable, stored } from './trials/resources/stored.ts';
import { unique } from './trials/resources/unique.ts';
import { answeredCreations, initial } from './trials/states/answered.ts';
import { choices } from './trials/states/choices.ts';
import { transitionConditions } from './trials/states/conditions.ts';
import { edges } from './trials/states/edges.ts';
import { followedInTime } from './trials/states/followed-in-time.ts';
import { following } from './trials/states/following.ts';
import { guards, timedGuards } from './trials/states/guards.ts';
import { afterTime, inStates, races } from './trials/states/in-states.ts';
import { movedByUpdate, transitions } from './trials/states/moved.ts';
import { sentEdges } from './trials/states/sent-edges.ts';
import { sequences, timedSequences } from './trials/states/sequences.ts';
import { timed } from './trials/states/timed.ts';
import { ending } from './trials/versioning/ending.ts';
import { eventVersions } from './trials/versioning/events.ts';
import { selecting } from './trials/versioning/selecting.ts';
import { shapes } from './trials/versioning/shapes.ts';
import { stillThere } from './trials/versioning/there.ts';
import { olderUses } from './trials/versioning/used.ts';

/** The trials of events, in each of which nobody listens any more once it is over. */
const eventTrials: readonly Trial[] = [
  logged,
  loggedLater,
  logKept,
  confirmingTrial,
  emitting,
  toldAlong,
  alreadySo,
  refused,
  unchangedIsSilent,
  delivering,
  families,
  resuming,
  later,
  toldByClock,
  kept,
  allTries,
  disabling,
].map(endingAll);

/** Every trial, the cheap and certain first, in the folder of its part. */
export const trials: readonly Trial[] = [
  stored,
  changed,
  fixedFields,
  wrongNames,
  unique,
  uniqueChanged,
  uniqueRaced,
  shownTo,
  shownLater,
  notWritable,
  references,
  derived,
  derivedEdges,
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
  guards,
  sentEdges,
  choices,
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
  baseAddress,
  toldAddresses,
  purposeUsers,
  functions,
  who,
  users,
  credentialFormats,
  signedRequests,
  origins,
  rows,
  permittedLists,
  lookUps,
  referring,
  storedRules,
  statesOfRules,
  belowParents,
  besideOthers,
  schemesAtDoors,
  selecting,
  ending,
  shapes,
  stillThere,
  olderUses,
  endingAll(eventVersions),
  // Where the clock can be moved they wait for nothing, and are done before those that do.
  changedLater,
  keysLater,
  timed,
  afterTime,
  timedSequences,
  timedGuards,
  followedInTime,
  uniqueRacedLater,
  ...eventTrials,
  toldRates,
  times,
  sizes,
  pageSizes,
  rates,
  uncountedAnswers,
  toldCosts,
  quotas,
  rowLimits,
  atOnce,
  races,
  ownErrors,
  unchangedByRefused,
  takenAgain,
  takenByMaker,
  takenInTime,
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
