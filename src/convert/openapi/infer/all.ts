import { actionChangesRow, actionMovesState, deletionKeepsRow } from './actions.ts';
import { addressOfThing } from './addresses.ts';
import { calledReading } from './called-readings.ts';
import type { InferenceContext, InferenceRule } from './context.ts';
import { madeAndListed } from './creations.ts';
import { deleteDeletes } from './deletions.ts';
import { getManyLists, getOneReads, patchUpdates, postCreates, putReplaces } from './effects.ts';
import { eventEnvelope, listEnvelope, rowEnvelope } from './envelopes.ts';
import { errorCodesRule, errorPayloadRule } from './errors.ts';
import { exampleShapes, examplesOfThings, extensionExamples } from './examples.ts';
import { expandableFieldsRule, fieldsOfUnion, innerFields } from './fields.ts';
import { filtersByField, searchLists } from './filters.ts';
import { headerCredentials } from './header-credentials.ts';
import { generatedIdentifier, identifier, namedConflicts, valueWithoutIdentifier } from './identifiers.ts';
import { nestedCollection } from './memberships.ts';
import { methodNames, thingsOfMethods } from './method-names.ts';
import { namesInPlace } from './names-in-place.ts';
import { newestFirst } from './newest-first.ts';
import { pageParameters } from './page-parameters.ts';
import { renamedMembers, statusStates } from './renamed-members.ts';
import { requestEnvelope } from './request-envelope.ts';
import { parentInPath, resourceBehindPath } from './resources.ts';
import { membersSaid, requiredSaid } from './said-members.ts';
import { documentVersion, exampleReplies, publicOperations, rateLimitHeaders, toldHeaders } from './service.ts';
import { shownEnvelope } from './shown-envelopes.ts';
import { namesThatArePaths } from './spread-names.ts';
import { unsaidAnswer } from './unsaid-answers.ts';

/** The rules that say what the paths are about and what is done there, each after those whose findings it reads. */
export const effectInferences: readonly InferenceRule[] = [
  shownEnvelope,
  exampleShapes,
  membersSaid,
  resourceBehindPath,
  madeAndListed,
  thingsOfMethods,
  fieldsOfUnion,
  identifier,
  nestedCollection,
  getOneReads,
  getManyLists,
  searchLists,
  postCreates,
  patchUpdates,
  putReplaces,
  calledReading,
  deletionKeepsRow,
  deleteDeletes,
  actionChangesRow,
  methodNames,
  exampleReplies,
  parentInPath,
  addressOfThing,
  namesInPlace,
  namesThatArePaths,
];

/** The rules about everything else, once the operations have their names. */
export const otherRules: readonly InferenceRule[] = [
  requestEnvelope,
  innerFields,
  renamedMembers,
  listEnvelope,
  pageParameters,
  toldHeaders,
  extensionExamples,
  filtersByField,
  newestFirst,
  rowEnvelope,
  unsaidAnswer,
  examplesOfThings,
  generatedIdentifier,
  requiredSaid,
  namedConflicts,
  statusStates,
  actionMovesState,
  expandableFieldsRule,
  valueWithoutIdentifier,
  errorPayloadRule,
  errorCodesRule,
  eventEnvelope,
  rateLimitHeaders,
  documentVersion,
  publicOperations,
  headerCredentials,
];

/** Every rule of inference; `docs/inference.md` is held to this list. */
export const inferenceRules: readonly InferenceRule[] = [...effectInferences, ...otherRules];

/** Applies rules, one after another. */
export function applyRules(rules: readonly InferenceRule[], context: InferenceContext): void {
  for (const rule of rules) rule.infer(context);
}
