/** Alterations of events, by web hook and on the stream. */
import { entriesOf } from '../../src/parts/fact.ts';
import { type Alteration, type Altering, type Row, type Setting, type Told, withJson } from './alteration.ts';

/** What goes wrong with each kind, however it is told, and with every delivery. */
export function ofEvents({ spec }: Setting): Alteration[] {
  const kinds = entriesOf(spec.events.kinds).map(([kind]) => kind);
  if (kinds.length === 0) return [];
  const of = (id: string, altering: Altering): Alteration => ({ id, part: 'events', altering });
  const body = (id: string, change: (body: Row) => unknown): Alteration =>
    of(id, { deliver: ({ text }) => ({ text: withJson(text, change) }) });
  const headers = (id: string, change: (headers: Told['headers']) => Told['headers']): Alteration =>
    of(id, { deliver: (told) => ({ headers: change(told.headers) }) });
  const isOf = (text: string, kind: string): boolean => text.includes(`"${kind}"`);
  const ofKind = kinds.flatMap((kind) => [
    of(`${kind} is never sent`, { deliver: (told) => (isOf(told.text, kind) ? undefined : {}) }),
    of(`${kind} is sent under another name`, { deliver: ({ text }) => ({ text: text.replaceAll(`"${kind}"`, '"other.kind"') }) }),
    of(`${kind} carries nothing`, {
      deliver: ({ text }) => (isOf(text, kind) ? { text: withJson(text, (envelope) => ({ ...envelope, data: {} })) } : {}),
    }),
    of(`${kind} is never on the stream`, { tell: (text) => (text.includes(`event: ${kind}\n`) ? ': nothing\n\n' : text) }),
    of(`${kind} carries nothing on the stream`, {
      tell: (text) => (isOf(text, kind) ? text.replace(/data: .*/g, 'data: {}') : text),
    }),
  ]);
  return [
    ...ofKind,
    ...['id', 'type', 'timestamp', 'data'].map((member) =>
      body(`${member} is left out of the envelope`, (envelope) =>
        Object.fromEntries(Object.entries(envelope).filter(([name]) => name !== member)),
      ),
    ),
    body('every event has the same id', (envelope) => ({ ...envelope, id: 'evt_1' })),
    body('it is told to be long ago', (envelope) => ({ ...envelope, timestamp: '2001-01-01T00:00:00.000Z' })),
    headers('nothing is signed', ({ 'webhook-signature': _signature, ...rest }) => rest),
    headers('another signature', (all) => ({ ...all, 'webhook-signature': 'v1,bm8gc2lnbmF0dXJlIGF0IGFsbCBpcyBoZXJlIGF0IGFs' })),
    headers('another time is signed', (all) => ({ ...all, 'webhook-timestamp': '1000000000' })),
    headers('no id', ({ 'webhook-id': _id, ...rest }) => rest),
    headers('another media type', (all) => ({ ...all, 'content-type': 'text/plain' })),
    of('nothing is delivered', { deliver: () => undefined }),
    of('ids are left out of the stream', { tell: (text) => text.replaceAll(/^id: .*\n/gm, '') }),
    of('kinds are left out of the stream', { tell: (text) => text.replaceAll(/^event: .*\n/gm, '') }),
    of('the stream tells nothing', { tell: () => ': nothing\n\n' }),
    of('what was missed is not told again', {
      bend: ({ headers: given }) => ({
        headers: Object.fromEntries(Object.entries(given).filter(([name]) => name !== 'last-event-id')),
      }),
    }),
    of('the secret is another', { spoil: ({ text }) => ({ text: text.replace(/"whsec_..../, '"whsec_AAAA') }) }),
  ];
}
