import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { namesOperation, resourceOfEffect } from '../../../parts/operations.ts';
import type { Resource } from '../../../parts/resources.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { Model } from '../../model/model.ts';

/** Whether a caller is shown every child of a row that it reads: nothing but the row stands for them, or a rule without a condition lets it read them all. */
export function isShownInParent(model: Model, child: Resource, caller: TrialCaller | undefined): boolean {
  const { authentication, endpoints } = model.spec;
  if (!isStated(authentication.permissions)) return true;
  const reads = ['read', 'list'].map((verb) =>
    entriesOf(endpoints.all).flatMap(([, endpoint]) => {
      const effect = statedValue(endpoint.does);
      return effect?.verb === verb && resourceOfEffect(effect) === child.name ? [model.operationOf(endpoint)] : [];
    }),
  );
  const deciding = reads.find((operations) => operations.length > 0);
  if (!deciding) return true;
  return deciding.some(
    (operation) =>
      model.access.isPublic(operation) ||
      (statedValue(authentication.permissions) ?? []).some(
        ({ allow, to, scopes, if: condition }) =>
          namesOperation(allow, operation) &&
          !condition &&
          scopes.length === 0 &&
          (to === 'anyone' || (caller !== undefined && to.includes(caller.user))),
      ),
  );
}
