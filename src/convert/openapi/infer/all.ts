import { actionChangesRow, actionMovesState, deletionKeepsRow } from './actions.ts';
import { addressOfThing } from './addresses.ts';
import type { InferenceContext, InferenceRule } from './context.ts';
import { deleteDeletes } from './deletions.ts';
import { getManyLists, getOneReads, patchUpdates, postCreates, putReplaces } from './effects.ts';
import { eventEnvelope, listEnvelope, rowEnvelope } from './envelopes.ts';
import { errorCodesRule, errorPayloadRule } from './errors.ts';
import { exampleShapes } from './example-shapes.ts';
import { extensionExamples } from './extension-examples.ts';
import { expandableFieldsRule, fieldsOfUnion } from './fields.ts';
import { filtersByField } from './filters.ts';
import { generatedIdentifier, identifier, valueWithoutIdentifier } from './identifiers.ts';
import { innerFields } from './inner-fields.ts';
import { madeAndListed } from './made-and-listed.ts';
import { methodNames, thingsOfMethods } from './method-names.ts';
import { namedConflicts } from './named-conflicts.ts';
import { nestedCollection } from './nested-collections.ts';
import { pageParameters } from './page-parameters.ts';
import { renamedMembers } from './renamed-members.ts';
import { requestEnvelope } from './request-envelope.ts';
import { parentInPath, resourceBehindPath } from './resources.ts';
import { searchLists } from './searches.ts';
import { documentVersion, exampleReplies, publicOperations, rateLimitHeaders } from './service.ts';
import { statusStates } from './status-states.ts';
import { toldHeaders } from './told-headers.ts';

/** The rules that say what the paths are about and what is done there, each after those whose findings it reads. */
export const effectInferences: readonly InferenceRule[] = [
  exampleShapes,
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
  deletionKeepsRow,
  deleteDeletes,
  actionChangesRow,
  methodNames,
  exampleReplies,
  parentInPath,
  addressOfThing,
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
  rowEnvelope,
  generatedIdentifier,
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
];

/** Every rule of inference; `docs/inference.md` is held to this list. */
export const inferenceRules: readonly InferenceRule[] = [...effectInferences, ...otherRules];

/** Applies rules, one after another. */
export function applyRules(rules: readonly InferenceRule[], context: InferenceContext): void {
  for (const rule of rules) rule.infer(context);
}
