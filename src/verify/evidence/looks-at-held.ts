import { entriesOf, statedValue } from '../../parts/fact.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { asText } from '../exchange/as-text.ts';
import { isDone } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { rowIn } from '../model/row-shown.ts';
import type { Obligation } from './obligation.ts';

/** Each reference that keeps what it refers to from being deleted: one that does says nothing of another. */
export function looksAtHolding(model: Model, code: string): Obligation[] {
  return entriesOf(model.spec.resources.all).flatMap(([name, { fields, identifier }]) =>
    entriesOf(fields).flatMap(([field, { ref, onDelete }]): Obligation[] => {
      const [deleting] = ref === undefined ? [] : model.endpointsThat('delete', ref);
      if (onDelete !== 'restrict' || !deleting || !statedValue(identifier)) return [];
      const last = identifierParameter(deleting) ?? '';
      return [
        {
          name: `held by ${name}.${field}`,
          isMetBy: ({ exchanges }) =>
            exchanges.some((one) => {
              const id = model.refusals.codeIn(one) === code ? one.sent.path[last] : undefined;
              const holds = (other: (typeof exchanges)[number]) =>
                isDone(other) && rowIn(other)?.[field] !== undefined && asText(rowIn(other)?.[field]) === asText(id);
              return id !== undefined && exchanges.some(holds);
            }),
        },
      ];
    }),
  );
}
