import { actionChangesRow } from './action-changes-row.ts';
import type { Context, InferenceRule } from './context.ts';
import { deleteDeletes } from './delete-deletes.ts';
import { documentVersion } from './document-version.ts';
import { errorCodes } from './error-codes.ts';
import { errorPayload } from './error-payload.ts';
import { eventEnvelope } from './event-envelope.ts';
import { exampleReplies } from './example-replies.ts';
import { expandableFields } from './expandable-fields.ts';
import { fieldsOfUnion } from './fields-of-union.ts';
import { generatedIdentifier } from './generated-identifier.ts';
import { getManyLists } from './get-many-lists.ts';
import { getOneReads } from './get-one-reads.ts';
import { identifier } from './identifier.ts';
import { listEnvelope } from './list-envelope.ts';
import { methodNames, thingsOfMethods } from './method-names.ts';
import { pageParameters } from './page-parameters.ts';
import { parentInPath } from './parent-in-path.ts';
import { patchUpdates } from './patch-updates.ts';
import { postCreates } from './post-creates.ts';
import { publicOperations } from './public-operations.ts';
import { putReplaces } from './put-replaces.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { resourceBehindPath } from './resource-behind-path.ts';
import { rowEnvelope } from './row-envelope.ts';
import { statusStates } from './status-states.ts';
import { valueWithoutIdentifier } from './value-without-identifier.ts';

/** The rules that say what the paths are about and what is done there, each after those whose findings it reads. */
export const effectRules: readonly InferenceRule[] = [
  resourceBehindPath,
  thingsOfMethods,
  fieldsOfUnion,
  identifier,
  getOneReads,
  getManyLists,
  postCreates,
  patchUpdates,
  putReplaces,
  deleteDeletes,
  actionChangesRow,
  methodNames,
  exampleReplies,
  parentInPath,
];

/** The rules about everything else, once the operations have their names. */
export const otherRules: readonly InferenceRule[] = [
  listEnvelope,
  pageParameters,
  rowEnvelope,
  generatedIdentifier,
  statusStates,
  expandableFields,
  valueWithoutIdentifier,
  errorPayload,
  errorCodes,
  eventEnvelope,
  rateLimitHeaders,
  documentVersion,
  publicOperations,
];

/** Every rule of inference; `docs/inference.md` is held to this list. */
export const inferenceRules: readonly InferenceRule[] = [...effectRules, ...otherRules];

/** Applies rules, one after another. */
export function applyRules(rules: readonly InferenceRule[], context: Context): void {
  for (const rule of rules) rule.infer(context);
}
