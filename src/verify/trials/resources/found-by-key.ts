import type { Endpoint, PathRow } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { boundRows, keyParameters, ownRow, parentRows } from '../../../parts/path-keys.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callerFor, callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookInList } from '../../make/look.ts';
import { keyValues } from '../../make/path-keys.ts';
import { pathValues, requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { conditionFacts } from '../../model/refused-as.ts';
import { idIn, rowIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** A path that names rows by keys leads to the very row that they tell apart, and to none where one of them is otherwise. */
export const foundByKey: Trial = {
  name: 'resources/found-by-key',
  part: 'resources',
  about:
    'A path that names rows by fields which are unique together leads to the row that has them, and to none where one is otherwise.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const [name] of entriesOf(model.spec.resources.all)) {
      for (const endpoint of endpointsAbout(model, name)) {
        const conditions = conditionFacts(model, 'resource.missing', model.operationOf(endpoint));
        const facts = [{ kind: 'identifiers', subject: name }, ...conditions];
        yield { name: endpoint.key, facts, run: (session) => ask(session, name, endpoint) };
      }
    }
  },
};

/** Reading and listing by keys: what else is done by them finds its row alike, and is asked for nothing. */
function endpointsAbout(model: Model, resource: string): Endpoint[] {
  const verbs = ['read', 'list', 'update', 'transition', 'delete'];
  return verbs.flatMap((verb) => model.endpointsThat(verb, resource)).filter(({ rows }) => rows !== undefined);
}

async function ask(session: Session, resource: string, endpoint: Endpoint): Promise<void> {
  const row = await session.make(resource);
  const verb = statedValue(endpoint.does)?.verb;
  if (verb === 'read') await claimFound(session, row, endpoint);
  if (verb === 'list') await claimListed(session, row, endpoint);
  const caller = callerFor(session, endpoint, row);
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const plan = await requestAbout(session, row, endpoint, { caller, headers });
  for (const { what, path } of await elsewhere(session, endpoint, row)) {
    const done = await session.send({ ...plan, path: { ...plan.path, ...path } });
    const by = { when: 'resource.missing' } as const;
    const fact = { kind: 'identifiers', subject: resource };
    claimRefused(session, done, { by, fact, reason: `missing ${what}`, what: `${endpoint.operation} ${what}` });
  }
}

async function claimFound(session: Session, row: TrialRow, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const [caller] = callersFor(session, endpoint, row);
  const done = await session.send(await requestAbout(session, row, endpoint, { caller }));
  if (!row.made) return;
  const field = model.identifierField(row.resource);
  session.claim({
    fact: { kind: 'identifiers', subject: row.resource },
    reason: 'found by its key',
    of: [done, row.made] as const,
    judge(read: TrialExchange, made: TrialExchange) {
      const id = isDone(made) ? idIn(model, made) : undefined;
      if (id === undefined || model.refusals.isHurried(read)) return moot('it is not known which row was made');
      if (read.status === 204) return moot('what was found is not shown');
      const shown = isDone(read) ? rowIn(read)?.[field] : undefined;
      return asText(shown) === asText(id)
        ? undefined
        : { promised: `${endpoint.key} leads to the row that was made, ${asText(id)}`, seen: `${read.status} ${asText(shown)}` };
    },
  });
}

/** What is made below a row is listed below it, and below no other. */
async function claimListed(session: Session, row: TrialRow, endpoint: Endpoint): Promise<void> {
  const [caller] = callersFor(session, endpoint, row);
  const { model } = session;
  const look = await ifTestable(lookInList(session, row, endpoint, caller));
  if (!look || !row.made) return;
  session.claim({
    fact: { kind: 'identifiers', subject: row.resource },
    reason: 'listed below its key',
    of: [look.done, row.made] as const,
    judge(list: TrialExchange, made: TrialExchange) {
      const id = isDone(made) ? idIn(model, made) : undefined;
      if (!isDone(list) || id === undefined) return moot('it was not listed');
      return rowWith(model, list, id)
        ? undefined
        : { promised: `${endpoint.key} shows the row that was made below it`, seen: 'it is not there' };
    },
  });
}

interface Elsewhere {
  readonly what: string;
  readonly path: Readonly<Record<string, Symbolic>>;
}

/** The same path with one of its rows otherwise: a value that no row has, and another row of the same kind. */
async function elsewhere(session: Session, endpoint: Endpoint, row: TrialRow): Promise<Elsewhere[]> {
  const { model } = session;
  const found: Elsewhere[] = [];
  for (const { key, resource } of endpoint.rows ?? []) {
    for (const [path, parameter] of Object.entries(key)) {
      const fresh = freshAlong(model, resource, path.split('.'));
      if (fresh !== undefined) found.push({ what: `where no ${resource} has this ${path}`, path: { [parameter]: fresh } });
    }
  }
  const other = await anotherParent(session, endpoint, row);
  return other ? [...found, other] : found;
}

function freshAlong(model: Model, resource: string, path: readonly string[]): Symbolic | undefined {
  const last = path.at(-1) ?? '';
  const target = path
    .slice(0, -1)
    .reduce<string | undefined>((at, field) => entryOf(model.resource(at ?? '')?.fields, field)?.ref, resource);
  // Of a few words any may be some row's.
  return target === undefined || isOfFew(model, target, last) ? undefined : model.freshValue(target, last);
}

/** The nearest row above, in place of its own: another one that was made beside it. */
async function anotherParent(session: Session, endpoint: Endpoint, row: TrialRow): Promise<Elsewhere | undefined> {
  const { model } = session;
  const nearest: PathRow | undefined = parentRows(endpoint).at(-1);
  const bound = boundRows(session.model.spec, endpoint).find((one) => one.row === nearest);
  if (!nearest || !bound || statedValue(endpoint.does)?.verb === 'list') return undefined;
  const other = await ifTestable(session.make(nearest.resource));
  if (!other?.made) return undefined;
  const path = keyValues(session.model, endpoint, { [bound.field]: other });
  const keyed = [...keyParameters(endpoint)].filter((name) => !Object.values(ownRow(endpoint)?.key ?? {}).includes(name));
  const isWhole = keyed.every((name) => Object.hasOwn(path, name)) && Object.keys(pathValues(model, endpoint, row)).length > 0;
  return isWhole ? { what: `below another ${nearest.resource} than its own`, path } : undefined;
}

function isOfFew(model: Model, resource: string, field: string): boolean {
  const shape = statedValue(entryOf(model.resource(resource)?.fields, field)?.shape);
  return shape !== undefined && (Array.isArray(shape.enum) || 'const' in shape || shape.type === 'boolean');
}
