import { isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Resource } from '../../../parts/resources.ts';
import { machineOn, machineWith, stateOfDeleted } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { callersFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { remove } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith, tellsDeleted } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';

/** What is deleted and kept is told of where that is stated, and is there again once it is brought back. */
export const keptDeleted: Trial = {
  name: 'resources/kept',
  part: 'resources',
  about: 'Reading tells of a row that was deleted where that is its answer, and what brings it back does.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, resource] of entriesOf(model.spec.resources.all)) {
      const { kept } = resource;
      if (!kept || model.endpointsThat('delete', name).length === 0) continue;
      const [reading] = kept.answers ? model.endpointsThat('read', name) : [];
      if (reading) {
        const facts = [{ kind: 'response payload shapes', subject: reading.key }];
        yield { name: `${name}, told`, facts, run: (session) => told(session, resource, reading) };
      }
      const bringing = kept.restore === undefined ? undefined : model.endpointOfTransition(name, kept.restore);
      if (bringing) {
        const facts = [
          { kind: 'transitions', subject: name },
          { kind: 'resources', subject: 'service' },
          ...fieldsBroughtBack(model, resource, bringing).map((field) => ({
            kind: 'allowed values',
            subject: `${name}.${field}`,
          })),
        ];
        yield { name: `${name}, brought back`, facts, run: (session) => broughtBack(session, resource, bringing) };
      }
    }
  },
};

/** The reason of a claim that a field is what it was before its row was deleted. */
export const broughtBackAsItWas = 'as it was, brought back';

/** The fields that are as they were once a row is brought back: those that nothing sets, moves, derives or counts meanwhile. */
export function fieldsBroughtBack({ spec }: Model, { name, fields, kept }: Resource, { operation }: Endpoint): string[] {
  const words = [operation, kept?.restore ?? '', 'transition', 'write', 'delete'];
  return entriesOf(fields)
    .filter(
      ([field, { set, derive, children, writeOnly, visible, shape }]) =>
        !derive &&
        !children &&
        !writeOnly &&
        visible === undefined &&
        !(machineOn(spec.states, name, field) ?? words.some((word) => set[word])) &&
        // References and values may be shown otherwise once what they name has changed.
        statedValue(shape) !== undefined,
    )
    .map(([field]) => field);
}

/** Another case changes nothing of it; what refers to it may be gone meanwhile. */
function claimAsItWas(
  session: Session,
  resource: Resource,
  endpoint: Endpoint,
  seen: { readonly before: Done<TrialExchange>; readonly back: Done<TrialExchange>; readonly after: Done<TrialExchange> },
): void {
  const { model } = session;
  for (const name of fieldsBroughtBack(model, resource, endpoint))
    session.claim({
      fact: { kind: 'allowed values', subject: `${resource.name}.${name}` },
      reason: broughtBackAsItWas,
      ...(resource.kept && { at: resource.kept.at }),
      of: [seen.before, seen.back, seen.after] as const,
      judge(before, change, now): Judgement {
        if (!isDone(change)) return moot('it was not brought back');
        const [old, row] = [before, now].map((one) => rowWith(model, one, idIn(model, change)));
        if (!old || !row || model.unseenIn(resource.name, model.readerOf(now), row).has(name)) return moot('it is not shown');
        return isSame(old[name] ?? null, row[name] ?? null)
          ? undefined
          : { promised: `${name} as before it was deleted: ${oneLine(old[name])}`, seen: oneLine(row[name]) };
      },
    });
}

async function deleted(
  session: Session,
  { name }: Resource,
  style: 'plain' | 'whole' = 'plain',
): Promise<{ readonly row: TrialRow; readonly before: Done<TrialExchange>; readonly done: Done<TrialExchange> }> {
  const row = await session.make(name, { style });
  const before = (await lookAt(session, row)).done;
  const done = await remove(session, row);
  session.need(isDone(done.value) && done.value.status !== 202, `it could not be deleted: ${done.value.status}`);
  return { row, before, done };
}

async function told(session: Session, resource: Resource, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { row, done } = await deleted(session, resource);
  const [caller] = callersFor(session, endpoint, row);
  const read = await session.send(await requestAbout(session, row, endpoint, { caller }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'deleted, told',
    ...(resource.kept && { at: resource.kept.at }),
    of: [done, read] as const,
    judge(deletion, seen): Judgement {
      if (!isDone(deletion) || model.refusals.isHurried(seen)) return moot('nothing was deleted');
      if (tellsDeleted(model, seen)) return undefined;
      const status = resource.kept?.answers?.map((answer) => answer.status).join(' or ');
      return { promised: `${status}, which tells that the ${resource.name} was deleted`, seen: `${seen.status}${briefly(seen)}` };
    },
  });
}

async function broughtBack(session: Session, resource: Resource, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const { row, before, done } = await deleted(session, resource, 'whole');
  const [caller] = callersFor(session, endpoint, row);
  const headers = endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {};
  const back = await session.send(await requestAbout(session, row, endpoint, { caller, headers }));
  const { done: after } = await lookAt(session, row);
  claimAsItWas(session, resource, endpoint, { before, back, after });
  const machine = machineWith(model.spec.states, resource.name, resource.kept?.restore ?? '');
  const transition = machine && entryOf(machine.transitions, resource.kept?.restore ?? '');
  session.need(machine !== undefined && transition !== undefined && transition.if === undefined, 'whether it may be is not told');
  const targets = transition.to.map(({ state }) => state);
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${transition.name} from ${stateOfDeleted(model.spec, resource)}`,
    ...(resource.kept && { at: resource.kept.at }),
    of: [done, back, after] as const,
    judge(deletion, change, seen): Judgement {
      if (!isDone(deletion) || model.refusals.isHurried(change)) return moot('nothing was deleted');
      const promised = `${endpoint.operation} brings it back, ${targets.join(' or ')}`;
      if (!isDone(change)) return { promised, seen: `${change.status}${briefly(change)}` };
      const state = seenState(model, seen, machine.field);
      return state !== undefined && targets.includes(asText(state))
        ? undefined
        : { promised, seen: `${seen.status}${briefly(seen)}` };
    },
  });
}

function seenState(model: Model, seen: TrialExchange, field: string) {
  return rowWith(model, seen, idIn(model, seen))?.[field];
}
