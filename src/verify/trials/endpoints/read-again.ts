import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Captured } from '../../exchange/symbol.ts';
import { beginBody } from '../../make/begin-body.ts';
import { callersFor } from '../../make/callers-for.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Session } from '../../session/session.ts';

/** A row that an endpoint reads. */
export async function rowRead(session: Session, endpoint: Endpoint): Promise<TrialRow> {
  return session.make(resourceOfEffect(statedValue(endpoint.does)) ?? '');
}

/** How a reader says what it has: alone, beside another, by weak comparison, whatever it is, and something else (RFC 9110 section 13.1.2). */
const had = [
  { what: 'its tag', before: '' },
  { what: 'its tag after another', before: '"nf-of-another-time", ' },
  { what: 'its tag, made weak', before: 'W/' },
  { what: 'any tag' },
  { what: 'the tag of another', text: '"nf-of-another-time"' },
] as const;

/** What a reader has already is not sent again, and what it has not is. */
export async function askAgain(session: Session, endpoint: Endpoint): Promise<void> {
  const row = await rowRead(session, endpoint);
  const [caller] = callersFor(session, endpoint, row);
  const first = await session.send(await requestAbout(session, row, endpoint, { caller }));
  const { etag } = first.value.headers;
  session.need(isDone(first.value) && etag !== undefined, 'it shows no ETag');
  for (const { what, ...said } of had) {
    if ('before' in said && said.before === 'W/' && etag?.startsWith('W/')) continue;
    const tag = new Captured(first.step, { in: 'header', name: 'etag' }, 'before' in said ? said.before : '');
    const headers = { 'If-None-Match': 'text' in said ? said.text : 'before' in said ? tag : '*' };
    const again = await session.send(await requestAbout(session, row, endpoint, { caller, headers }));
    const isOther = 'text' in said;
    session.claim({
      fact: { kind: 'response payload shapes', subject: endpoint.key },
      reason: `If-None-Match${what === 'its tag' ? '' : `, ${what}`}`,
      at: `${endpoint.at}/etag`,
      of: [first, again] as const,
      judge(seen: TrialExchange, got: TrialExchange) {
        if (!isDone(seen) || got.status >= 400) return moot('it was not read');
        if ((got.status === 304) !== isOther) return undefined;
        const promised = isOther
          ? 'the row itself, for whoever has something else'
          : '304, for what the reader already has (RFC 9110 section 13.1.2)';
        return { promised, seen: asText(got.status) };
      },
    });
  }
}

/** What has changed has another tag: a strong one tells every two representations apart (RFC 9110 section 8.8.1). */
export async function askAfterChange(session: Session, endpoint: Endpoint, update: Endpoint): Promise<void> {
  const begun = await beginBody(session, update, 'full');
  const { row } = begun;
  session.need(row !== undefined, `${update.key} is about no row`);
  const [caller] = callersFor(session, endpoint, row);
  const first = await session.send(await requestAbout(session, row, endpoint, { caller }));
  const change = await session.send(begun.request(begun.json));
  const again = await session.send(await requestAbout(session, row, endpoint, { caller }));
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'ETag of a change',
    at: `${endpoint.at}/etag`,
    of: [first, change, again] as const,
    judge(before: TrialExchange, changed: TrialExchange, after: TrialExchange) {
      if (![before, changed, after].every(isDone) || before.text === after.text) return moot('nothing has changed');
      const { etag } = before.headers;
      if (etag === undefined || after.headers.etag !== etag) return undefined;
      return { promised: 'another ETag for another representation', seen: `${etag} for both` };
    },
  });
}
