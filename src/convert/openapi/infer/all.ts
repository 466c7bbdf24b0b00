import { actionChangesRow } from './action-changes-row.ts';
import type { Context, InferenceRule } from './context.ts';
import { deleteDeletes } from './delete-deletes.ts';
import { expandableFields } from './expandable-fields.ts';
import { fieldsOfUnion } from './fields-of-union.ts';
import { generatedIdentifier } from './generated-identifier.ts';
import { getManyLists } from './get-many-lists.ts';
import { getOneReads } from './get-one-reads.ts';
import { identifier } from './identifier.ts';
import { listEnvelope } from './list-envelope.ts';
import { pageParameters } from './page-parameters.ts';
import { parentInPath } from './parent-in-path.ts';
import { patchUpdates } from './patch-updates.ts';
import { postCreates } from './post-creates.ts';
import { putReplaces } from './put-replaces.ts';
import { resourceBehindPath } from './resource-behind-path.ts';
import { rowEnvelope } from './row-envelope.ts';
import { statusStates } from './status-states.ts';
import { valueWithoutIdentifier } from './value-without-identifier.ts';

/** The rules of inference, in the order in which they are applied: each may read what those before it found. */
export const inferenceRules: readonly InferenceRule[] = [
  resourceBehindPath,
  fieldsOfUnion,
  identifier,
  getOneReads,
  getManyLists,
  postCreates,
  patchUpdates,
  putReplaces,
  deleteDeletes,
  actionChangesRow,
  parentInPath,
  listEnvelope,
  pageParameters,
  rowEnvelope,
  generatedIdentifier,
  statusStates,
  expandableFields,
  valueWithoutIdentifier,
];

/** Applies every rule. */
export function inferAll(context: Context): void {
  for (const rule of inferenceRules) rule.infer(context);
}
