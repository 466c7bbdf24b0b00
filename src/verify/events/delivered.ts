import type { Json } from '../../document/document.ts';
import type { Told } from '../../kinds/envelopes/reading.ts';
import { signatureKind } from '../../kinds/signatures/all.ts';
import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, fieldsOf } from '../script/exchange.ts';
import type { Heard } from './ear.ts';
import { deliveryOf, envelopeFlaw, toldIn } from './envelope.ts';
import type { Delivery } from './receiver.ts';

/** That what comes to a subscriber is sent as stated: by POST, as JSON, in the envelope, signed, with the stated headers. */
export function deliveryJudgement(model: Model, created: Exchange, heard: Heard): Judgement {
  const webhook = deliveryOf(model.spec)?.webhook;
  const [first] = heard.deliveries;
  if (!webhook || !first) return moot('nothing came');
  const secret = secretIn(model, created);
  for (const delivery of heard.deliveries) {
    const { method, headers } = delivery;
    if (method !== 'POST') return { promised: 'web hooks are sent by POST', seen: method };
    if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? ''))
      return { promised: 'web hooks are JSON', seen: `Content-Type: ${headers['content-type'] ?? 'none'}` };
    const flaw = envelopeFlaw(model.spec, delivery.body);
    if (flaw !== undefined) return { promised: 'the stated envelope', seen: flaw };
    const told = toldIn(model.spec, delivery.body);
    const received = { headers, text: delivery.text, id: told.id };
    const unsigned =
      webhook.signature &&
      secret !== undefined &&
      signatureKind(webhook.signature)?.flaw(webhook.signature.facts, received, secret, heard.nowSeconds);
    if (unsigned) return { promised: 'web hooks are signed as stated, with the secret of the subscriber', seen: unsigned };
    const header = headerFlaw(model, delivery, told);
    if (header !== undefined) return { promised: 'web hooks have the stated headers', seen: header };
  }
  return undefined;
}

function headerFlaw(model: Model, { headers }: Delivery, told: Told): string | undefined {
  const event = { id: told.id ?? '', kind: told.kind ?? '', at: told.at ?? '', payload: told.payload ?? null };
  for (const [name, expression] of Object.entries(deliveryOf(model.spec)?.webhook?.headers ?? {})) {
    const evaluated = model.expressions.evaluate(expression, undefined, { context: { event }, unseen: {} });
    if (typeof evaluated === 'string' || evaluated.value === null) continue;
    const given = headers[name.toLowerCase()];
    if (given !== String(evaluated.value))
      return `${name}: ${given ?? 'none'}, where \`${expression.source}\` is ${String(evaluated.value)}`;
  }
  return undefined;
}

/** The secret of a subscriber: as it was revealed, or as it was sent. */
function secretIn({ spec }: Model, created: Exchange): string | undefined {
  const field = deliveryOf(spec)?.webhook?.subscribers?.secret;
  if (field === undefined) return undefined;
  const sent =
    typeof created.sent.json === 'object' && created.sent.json !== null ? (created.sent.json as Record<string, Json>) : {};
  const secret = fieldsOf(created)?.[field] ?? sent[field];
  return typeof secret === 'string' ? secret : undefined;
}
