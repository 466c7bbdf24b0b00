import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../../parts/fact.ts';
import { pathWays } from '../../../parts/path-keys.ts';
import { identifierParameter, isWritable } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor, contextOfRow } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import { meantNow } from '../../model/moved-to.ts';
import { idIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { addressOf } from '../endpoints/locations.ts';

/** The reason of a claim that who asks by an old name is led to the new one. */
export const movedTold = 'moved';

/** A row whose name is another by now: who asks by the old one is led to it where it may read it, and nobody else is told. */
export const movedRows: Trial = {
  name: 'resources/moved',
  part: 'resources',
  about: 'Who asks for a row by a name that it had is led to where it is by now, and told nothing where it may not read it.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = effect && 'resource' in effect ? model.resource(effect.resource) : undefined;
      if (!resource || !endpoint.moved) continue;
      const facts = [{ kind: 'identifiers', subject: resource.name }];
      yield {
        name: endpoint.key,
        facts,
        run: (session) => look(session, endpoint, resource),
      };
    }
  },
};

async function look(session: Session, endpoint: Endpoint, resource: Resource): Promise<void> {
  const renaming = renamingOf(session.model, resource, endpoint);
  session.need(renaming !== undefined, `no update changes what ${endpoint.key} is asked by`);
  await lead(session, endpoint, resource, renaming);
  if (statedValue(endpoint.does)?.verb === 'read') await hide(session, endpoint, resource, renaming);
}

/** An update of a field by which a path names its row. */
interface Renaming {
  readonly update: Endpoint;
  readonly parameter: string;
  readonly field: string;
}

function renamingOf(model: Model, resource: Resource, endpoint: Endpoint): Renaming | undefined {
  for (const [parameter, [first, ...more]] of pathWays(model.spec, endpoint, identifierParameter(endpoint))) {
    const field = first && more.length === 0 ? entryOf(resource.fields, first.field) : undefined;
    if (!field || field.ref !== undefined || !isWritable(model.spec, resource, field) || field.immutable) continue;
    const [update] = model.endpointsThat('update', resource.name).filter((one) => one.request.standing === 'open');
    if (update) return { update, parameter, field: field.name };
  }
  return undefined;
}

/** A row that was renamed, and the request that asks for it as before. */
interface Renamed {
  readonly row: TrialRow;
  readonly was: Done<TrialExchange>;
  readonly change: Done<TrialExchange>;
  readonly before: RequestPlan;
  readonly after: RequestPlan;
}

async function rename(
  session: Session,
  endpoint: Endpoint,
  { update, parameter, field }: Renaming,
  row: TrialRow,
): Promise<Renamed> {
  const { model } = session;
  const { done: was, fields } = await lookAt(session, row);
  session.need(fields !== undefined, `the ${row.resource} is not shown whole`);
  const [caller] = callersFor(session, endpoint, row);
  const [writer] = callersFor(session, update, row);
  session.need(caller !== undefined || model.callers.length === 0, `nobody may call ${endpoint.key}`);
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const before = { ...(await requestAbout(session, row, endpoint, { caller, headers })), isWhole: true };
  const fresh: Symbolic | undefined = model.freshValue(row.resource, field);
  session.need(fresh !== undefined, `no other ${field} can be made`);
  const sent = {
    caller: writer,
    headers: await session.preconditions(update, row, writer),
    json: { [field]: fresh as Symbolic },
  };
  const change = await session.send(await requestAbout(session, row, update, sent));
  session.need(isDone(change.value), `${update.key} was answered ${change.value.status}`);
  return { row, was, change, before, after: { ...before, path: { ...before.path, [parameter]: fresh as Symbolic } } };
}

async function lead(session: Session, endpoint: Endpoint, resource: Resource, renaming: Renaming): Promise<void> {
  const { model } = session;
  const renamed = await rename(session, endpoint, renaming, await session.make(resource.name));
  const asked = await session.send(renamed.before);
  const refusal = model.refusals.of('resource.moved', model.operationOf(endpoint));
  session.claim({
    fact: { kind: 'identifiers', subject: resource.name },
    reason: movedTold,
    at: `${endpoint.at}/moved`,
    of: [asked, renamed.change, renamed.was] as const,
    judge: (exchange: TrialExchange, change: TrialExchange, was: TrialExchange) =>
      judgeLed(model, { endpoint, renaming, status: refusal?.status }, exchange, change, was),
  });
  if (!refusal) return;
  session.claim({
    fact: { kind: 'status codes', subject: refusal.code.name },
    reason: 'status',
    at: refusal.rule.status.at,
    of: [asked] as const,
    judge(exchange: TrialExchange): Judgement {
      const isTold = model.refusals.codeIn(exchange) === refusal.code.name;
      if (!isTold && (exchange.status < 300 || exchange.status > 399)) return moot('it is no redirect');
      return exchange.status === refusal.status
        ? undefined
        : { promised: `${refusal.status} ${refusal.code.name}`, seen: asText(exchange.status) };
    },
  });
  if (model.refusals.tells(refusal.code.name))
    session.claim({
      fact: { kind: 'conditions', subject: refusal.code.name },
      reason: 'code',
      at: refusal.rule.at,
      of: [asked] as const,
      judge(exchange: TrialExchange): Judgement {
        const code = model.refusals.codeIn(exchange);
        if (exchange.status < 300 || exchange.status > 399 || code === undefined) return moot('it is no redirect');
        return code === refusal.code.name ? undefined : { promised: refusal.code.name, seen: code };
      },
    });
}

interface Led {
  readonly endpoint: Endpoint;
  readonly renaming: Renaming;
  readonly status: number | undefined;
}

/** Where the expression gives the row that was renamed, its address at the endpoint is told, under a status that leads there. */
function judgeLed(model: Model, led: Led, asked: TrialExchange, change: TrialExchange, was: TrialExchange): Judgement {
  const { endpoint, renaming } = led;
  const id = isDone(change) ? (idIn(model, was) ?? idIn(model, change)) : undefined;
  const before = rowWith(model, was, id);
  const value = isMapOf(change.sent.json)?.[renaming.field];
  if (!before || id === undefined || value === undefined) return moot('the row was not renamed');
  if (asText(asked.sent.path[renaming.parameter]) === asText(value)) return moot('it is asked for by its own name');
  if (model.refusals.isHurried(asked)) return moot('the service had too much to do');
  const rows = { next: { ...before, [renaming.field]: value }, resource: before };
  const meant = meantNow(model, { endpoint, update: renaming.update }, asked, change, rows);
  if (meant === undefined || asText(meant) !== asText(before[model.identifierField(resourceOf(endpoint))]))
    return moot('whether the row is meant cannot be told');
  // What was asked besides, and a credential that is not said again, say nothing of the row.
  const there = pathAt(asked, renaming.parameter, asText(value));
  const { location } = asked.headers;
  const told = location === undefined ? undefined : addressOf(model, location, asked.sent.target)?.replace(/\?.*$/, '');
  const isRedirect = asked.status >= 300 && asked.status < 400;
  if (isRedirect && told === there) return undefined;
  const promised = `${led.status ?? 308} with \`Location: ${there}\``;
  return { promised, seen: `${asked.status}${told === undefined ? briefly(asked) : ` with \`Location: ${told}\``}` };
}

function resourceOf({ does }: Endpoint): string {
  const effect = statedValue(does);
  return effect && 'resource' in effect ? effect.resource : '';
}

function isMapOf(value: Json | undefined): ShownFields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ShownFields) : undefined;
}

/** The path that was asked, with another value in it. */
function pathAt({ sent, endpoint }: TrialExchange, parameter: string, value: string): string {
  const filled = (own: Json | undefined) =>
    (endpoint?.path ?? '').replace(/\{([^{}]+)\}/g, (_, name) =>
      encodeURIComponent(asText(name === parameter ? own : sent.path[name])),
    );
  return sent.target.replace(/\?.*$/, '').replace(filled(sent.path[parameter]), () => filled(value));
}

/** A renamed row that somebody may not read: who asks by its old name is told that there is none, and who may read it is led there. */
async function hide(session: Session, endpoint: Endpoint, resource: Resource, renaming: Renaming): Promise<void> {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  for (const body of bodiesOf(model, resource)) {
    const row = await ifTestable(session.make(resource.name, { body }));
    if (!row) continue;
    await ifTestable(lookAt(session, row));
    const known = contextOfRow(session, row);
    const stranger = model.callers.find(
      (one) => known && model.access.allows(operation, one, known) === 'no' && model.access.allows(operation, one) !== 'no',
    );
    if (!stranger) continue;
    const renamed = await rename(session, endpoint, renaming, row);
    const control = renamed.before;
    const asked = await session.send({ ...control, caller: stranger });
    claimRefused(session, asked, {
      by: { when: 'resource.missing' },
      fact: { kind: 'identifiers', subject: resource.name },
      reason: 'moved, hidden',
      what: `a ${resource.name} that was renamed, for who may not read it`,
      at: `${endpoint.at}/moved`,
      beside: [renamed.change],
      isSo: (exchange, change) =>
        change !== undefined &&
        isDone(change) &&
        exchange.sent.path[renaming.parameter] !== isMapOf(change.sent.json)?.[renaming.field],
    });
    const own = await session.send(renamed.after);
    session.claim({
      fact: { kind: 'identifiers', subject: resource.name },
      reason: 'found by its new name',
      of: [own, renamed.change] as const,
      judge: (exchange: TrialExchange, change: TrialExchange) =>
        !isDone(change) || isDone(exchange) || model.refusals.isHurried(exchange)
          ? undefined
          : { promised: `${endpoint.key} leads to the row by its new name`, seen: `${exchange.status}${briefly(exchange)}` },
    });
    return;
  }
}

/** Bodies under which a row may be hidden: as it is drawn, and with each flag as it usually is not. */
function bodiesOf(model: Model, resource: Resource): readonly Readonly<Record<string, Symbolic>>[] {
  const flags = Object.entries(statedValue(resource.fields) ?? {}).filter(
    ([, field]) => statedValue(field.shape)?.type === 'boolean' && isWritable(model.spec, resource, field),
  );
  return [{}, ...flags.map(([name, field]) => ({ [name]: field.default?.value !== true }))];
}
