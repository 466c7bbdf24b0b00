import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import type { ResourceCarry } from '../../../parts/versions/carry.ts';
import { olderParameterName } from '../../../parts/versions/spec-in-version.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { beginList, type OwnList } from '../../make/own-list.ts';
import { widest } from '../../make/pages.ts';
import { carried, inVersion, type RequestVersions } from '../../make/versions.ts';
import { carriedNames, writtenByOthers } from '../../make/written-by-others.ts';
import { derivedElsewhere } from '../../model/derived.ts';
import type { Model } from '../../model/model.ts';
import { isRefused } from '../../model/refused-as.ts';
import { idIn, itemsOf, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { oneLine as told } from '../../values/difference.ts';

const fact: FactName = { kind: 'version identifiers', subject: 'service' };

/** A resource that a version has in other words. */
export interface OlderWords {
  readonly versions: RequestVersions;
  readonly version: string;
  readonly resource: string;
  readonly carry: ResourceCarry;
  /** The same where references may be shown whole. */
  readonly shown: ResourceCarry;
}

/** The same request in the version; its shapes are of the newest, so that nothing is held to them. */
export function askedIn(model: Model, plan: RequestPlan, version: string): RequestPlan {
  const { endpoint: _endpoint, ...bare } = inVersion(model, plan, version);
  return bare;
}

function itemsAt(model: Model, endpoint: Endpoint, seen: TrialExchange): readonly ShownFields[] | undefined {
  return isDone(seen) ? itemsOf(model, { ...seen, endpoint }) : undefined;
}

/** A list that no filter by what was called otherwise narrows. @throws {Untestable} */
function ownList(
  session: Session,
  endpoint: Endpoint,
  { carry }: OlderWords,
  body: Readonly<Record<string, Symbolic>>,
): Promise<OwnList> {
  const renamed = entriesOf(endpoint.parameters).flatMap(([name, { filters = '' }]) => (carry.newer(filters) ? [name] : []));
  return beginList(session, endpoint, { bodies: [body], style: 'full', narrowedBut: renamed });
}

/** A list shows in the older version each row as the stated changes make it. */
export async function listedIn(session: Session, endpoint: Endpoint, older: OlderWords): Promise<void> {
  const { model } = session;
  // What a row shows of others is of the older version as well.
  const { shown: carry, resource, version } = older;
  const list = await ownList(session, endpoint, older, {});
  await writtenByOthers(session, list.row, carriedNames(carry.lines));
  const moving = new Set([...derivedElsewhere(model.spec, resource)].map((name) => carry.newer(name)?.older ?? name));
  const plan = list.plan(widest(model, endpoint));
  const newest = await session.send(plan);
  const seen = await session.send(askedIn(model, plan, version));
  const again = await session.send(plan);
  session.claim({
    fact,
    reason: `${resource} is listed`,
    of: [newest, seen, again],
    judge: (one: TrialExchange, other: TrialExchange, last: TrialExchange): Judgement => {
      const [rows, shown] = [one, other].map((page) => itemsAt(model, endpoint, page));
      if (!rows || rows.length === 0) return moot('the newest version lists nothing');
      if (!shown) return isDone(other) || isRefused(model, other) ? moot('it is no page') : undefined;
      const key = model.identifierField(resource);
      const olderKey = carry.newer(key)?.older ?? key;
      let matched = 0;
      for (const row of rows) {
        const wanted = carried(() => carry.down(row));
        // What others change in between reads otherwise in any version.
        const isStill = itemsAt(model, endpoint, last)?.some((each) => isSame(each, row));
        const item = wanted && isStill && shown.find((each) => isSame(each[olderKey], wanted[olderKey]));
        if (!wanted || !item) continue;
        matched += 1;
        for (const name of new Set([...Object.keys(wanted), ...Object.keys(item)])) {
          const isCarried = carry.older(name) !== undefined || carry.newer(name) !== undefined;
          // Only what the version has otherwise is compared.
          if (!isCarried || isSame(wanted[name], item[name])) continue;
          // What is reckoned of other rows may have come and gone between two looks at it.
          if (moving.has(name) && wanted[name] !== undefined && item[name] !== undefined) continue;
          return { promised: `${name} in lists of ${version}: ${told(wanted[name])}`, seen: told(item[name]) };
        }
      }
      return matched > 0 ? undefined : moot('no row is on both pages');
    },
  });
}

/** A filter takes the older name and the older value. */
export async function filteredIn(
  session: Session,
  endpoint: Endpoint,
  parameter: Parameter,
  older: OlderWords,
  body: Readonly<Record<string, Json>> = {},
): Promise<void> {
  const { model } = session;
  const { carry, resource, version } = older;
  const field = parameter.filters ?? '';
  const list = await ownList(session, endpoint, older, body);
  const value = list.row.fields?.[field];
  const olderField = carry.newer(field)?.older ?? field;
  session.need(value !== undefined && value !== null && !isMap(value), `the ${resource} has no ${field}`);
  const was = carried(() => carry.down({ [field]: value }))?.[olderField];
  session.need(was !== undefined && list.row.made !== undefined, `${field} has no form in ${version}`);
  const plan = list.plan({ ...widest(model, endpoint), [parameter.name]: value });
  const newest = await session.send(plan);
  const { [parameter.name]: _newer, ...rest } = plan.query;
  const query = { ...rest, [olderParameterName(carry, parameter)]: was };
  const seen = await session.send(askedIn(model, { ...plan, query }, version));
  session.claim({
    fact,
    reason: `${parameter.name} filters`,
    of: [newest, seen, list.row.made],
    judge: (one: TrialExchange, other: TrialExchange, made: TrialExchange): Judgement => {
      const id = idIn(model, made);
      const row = rowWith(model, one, id);
      if (!row || !isSame(row[field], value)) return moot('the newest version does not show the row');
      const promised = `${olderParameterName(carry, parameter)}=${told(was)} in ${version} shows it`;
      if (isRefused(model, other)) return { promised, seen: `it was answered ${other.status}${briefly(other)}` };
      const items = itemsAt(model, endpoint, other);
      const key = model.identifierField(resource);
      if (items?.some((item) => isSame(item[carry.newer(key)?.older ?? key], row[key]))) return undefined;
      if (!items || items.length >= (itemsAt(model, endpoint, one)?.length ?? 0)) return moot('it may stand on another page');
      return { promised, seen: `${items.length} rows, where the newest version shows more` };
    },
  });
}
