import { streamKind } from '../../kinds/streams/all.ts';
import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Heard } from './ear.ts';
import { deliveryOf, envelopeFlaw, toldIn } from './envelope.ts';

/** Server-sent events: `id` is the event's, `event` its kind, `data` the envelope on one line. */
export function streamJudgement(model: Model, opened: Exchange, { deliveries }: Heard): Judgement {
  if (opened.trouble) return moot(opened.trouble.message);
  if (!isDone(opened)) return { promised: 'the stated stream of events can be read', seen: `it was answered ${opened.status}` };
  const type = opened.headers['content-type'] ?? 'none';
  const wanted = streamKind(deliveryOf(model.spec)?.stream?.format)?.mediaType ?? type;
  if (type.split(';')[0]?.trim().toLowerCase() !== wanted.toLowerCase())
    return { promised: `a stream is ${wanted}`, seen: `Content-Type: ${type}` };
  if (deliveries.length === 0) return moot('nothing came');
  for (const { headers, body } of deliveries) {
    const flaw = envelopeFlaw(model.spec, body);
    if (flaw !== undefined) return { promised: 'the data of an event is the stated envelope', seen: flaw };
    const { id, kind } = toldIn(model.spec, body);
    if (id !== undefined && headers.id !== id)
      return { promised: `the id of a server-sent event is the event's: ${id}`, seen: headers.id || 'none' };
    if (kind !== undefined && headers.event !== kind)
      return { promised: `its event is the kind: ${kind}`, seen: headers.event || 'none' };
  }
  return undefined;
}
