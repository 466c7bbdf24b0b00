import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { paginationOf, walkingPages, widest } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import { idIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { rowsOf } from './order.ts';
import { judgeTotal } from './page-judgements.ts';

/** The reason of a claim about a total beside rows that its reader may not see. */
export const totalBesideHidden = 'a total beside rows that are hidden';

/** Whether a list leaves out rows by what they are, for somebody who was given. */
export function hidesRows(model: Model, endpoint: Endpoint): boolean {
  return model.callers.some((caller) => isNarrowedFor(model, endpoint, caller));
}

function isNarrowedFor(model: Model, endpoint: Endpoint, caller: TrialCaller): boolean {
  const rules = model.access.rules(model.operationOf(endpoint), caller) ?? [];
  return rules.length > 0 && rules.every((rule) => rule.if);
}

/** The whole list, read by somebody who may not see all of it: what it says that there is, is what it shows. */
export function totalCases(model: Model, endpoint: Endpoint): readonly Case[] {
  if (paginationOf(model, endpoint)?.total === undefined || pathParameters(endpoint.path).length > 0) return [];
  if (endpoint.response.standing !== 'open' || !hidesRows(model, endpoint)) return [];
  const facts = [{ kind: 'pagination bounds', subject: endpoint.key }];
  return [{ name: `${endpoint.key}, its total`, facts, run: (session) => countHidden(session, endpoint) }];
}

async function countHidden(session: Session, endpoint: Endpoint): Promise<void> {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const reader = model.callers.find((caller) => isNarrowedFor(model, endpoint, caller));
  session.need(reader !== undefined, 'whoever may call it sees all');
  await ifTestable(session.make(resource, { caller: reader }));
  const foreign = await rowOfAnother(session, resource, reader);
  const first = model.request(endpoint, { path: {}, caller: reader, query: widest(model, endpoint) });
  const walk = await session.do(walkingPages(model, { ...first, isWhole: true }));
  session.claim({
    fact: { kind: 'pagination bounds', subject: endpoint.key },
    reason: totalBesideHidden,
    of: [walk, foreign] as const,
    judge: (pages: readonly TrialExchange[], made: TrialExchange): Judgement => {
      const id = isDone(made) ? idIn(model, made) : undefined;
      if (id === undefined) return moot('nobody else made a row');
      const field = model.identifierField(resource);
      const isShown = pages.some((page) => rowsOf(session, page)?.some((row) => String(row[field]) === String(id)));
      return isShown ? moot('its reader may see it') : judgeTotal(session, pages);
    },
  });
}

/** A row that somebody else makes, with whatever it needs. @throws {Untestable} */
async function rowOfAnother(session: Session, resource: string, reader: TrialCaller) {
  for (const other of session.model.callers) {
    if (other === reader || (other.user === reader.user && other.id === reader.id)) continue;
    try {
      const { made } = await session.make(resource, { caller: other });
      if (made) return made;
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
    }
  }
  throw new Untestable(`nobody else makes a ${resource}`);
}
