import type { Json } from '../../document/document.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { actsAfter } from '../../parts/followed.ts';
import { pathWays } from '../../parts/path-keys.ts';
import { identifierParameter } from '../../parts/payload.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { callerContext } from './access.ts';
import type { Follow } from './expectation.ts';
import { type Known, NotSeen } from './expressions.ts';
import type { Model } from './model.ts';
import type { ShownFields } from './row-shown.ts';

/** What `moved` comes to for what was asked: read of the rows that followed from the renaming, and of those that the path names. */
export function meantNow(
  model: Model,
  { endpoint, update }: { readonly endpoint: Endpoint; readonly update: Endpoint },
  asked: TrialExchange,
  change: TrialExchange,
  { next, resource }: { readonly next: ShownFields; readonly resource: ShownFields },
): Json | undefined {
  if (!endpoint.moved) return undefined;
  const known: Known = { context: { ...callerContext(change.caller), next, resource } };
  const made = actsAfter(model.spec, statedValue(update.does), update.operation).flatMap((act): KnownRow[] => {
    if (act.does?.verb !== 'create' || act.each) return [];
    const holds = act.if ? model.expressions.evaluate(act.if, update.operation, known) : { value: true };
    if (typeof holds === 'string' || holds.value !== true) return [];
    const fields = Object.entries(act.set).flatMap(([name, expression]): [string, Json][] => {
      const value = model.expressions.evaluate(expression, update.operation, known);
      return typeof value === 'string' ? [] : [[name, value.value]];
    });
    return [{ resource: act.does.resource, fields: Object.fromEntries(fields) }];
  });
  const follow = followAmong(model, [...made, ...namedBy(model, endpoint, resource, asked)]);
  const context = { ...callerContext(asked.caller), params: { ...asked.sent.path }, follow };
  const value = model.expressions.evaluate(endpoint.moved, endpoint.operation, { context });
  return typeof value === 'string' || value.value === null ? undefined : value.value;
}

/** A row of which some fields are known. */
interface KnownRow {
  readonly resource: string;
  readonly fields: ShownFields;
}

/** The rows above it that a path names by a field, as the row refers to them. */
function namedBy(model: Model, endpoint: Endpoint, row: ShownFields, { sent }: TrialExchange): KnownRow[] {
  const ways = pathWays(model.spec, endpoint, identifierParameter(endpoint));
  return [...ways].flatMap(([parameter, [first, second, ...more]]): KnownRow[] => {
    const id = first && row[first.field];
    const value = sent.path[parameter];
    if (first?.target === undefined || !second || more.length > 0 || id === undefined || value === undefined) return [];
    return [{ resource: first.target, fields: { [model.identifierField(first.target)]: id, [second.field]: value } }];
  });
}

/** Reads these rows, and throws NotSeen for any other, and for what is not known of them. */
function followAmong(model: Model, rows: readonly KnownRow[]): Follow {
  return (name, key) => {
    const by = typeof key === 'string' ? { [model.identifierField(name)]: key } : key;
    const found = rows.find(
      ({ resource, fields }) =>
        resource === name && Object.entries(by).every(([field, value]) => asText(fields[field]) === asText(value)),
    );
    if (!found) throw new NotSeen(`no such ${name} was seen`);
    const row: Record<string, Json> = { ...found.fields };
    for (const [field] of entriesOf(model.resource(name)?.fields)) {
      if (row[field] !== undefined) continue;
      Object.defineProperty(row, field, {
        get: () => {
          throw new NotSeen(`${field} is not known`);
        },
      });
    }
    return row;
  };
}
