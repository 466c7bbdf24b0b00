/** Part 6 of strange documents: kinds, who hears of them, by web hook and by stream, in envelopes and under signatures of all sorts. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { GeneratedResource } from '../serving/generated-document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { knowsCallers, ownerField } from './callers.ts';
import { type Draft, laid, mapAt, oneIn } from './layers.ts';

/** States none, nothing, or kinds with a delivery. */
export function layEvents(draw: Draw, draft: Draft): Draft {
  const sort = pick(draw, ['open', 'none', 'web hook', 'web hook', 'stream', 'both']);
  if (sort === 'open') return draft;
  if (sort === 'none') return laid(draft, { events: 'none' }, 'events none');
  const kinds = Object.fromEntries(draft.resources.flatMap((resource) => kindsOf(draw, resource, draft)));
  if (Object.keys(kinds).length === 0) return laid(draft, { events: 'none' }, 'events none');
  const isStreamed = sort !== 'web hook' && knowsCallers(draft.document);
  const envelope = pick<JsonMap>(draw, [
    {},
    { envelope: 'none' },
    { envelope: { id: 'event.id', kind: 'event.kind', at: 'event.at', about: 'event.payload' } },
    { envelope: { 'the/id': 'event.id', kind: 'event.kind', thing: 'event.payload.id', v: 2 } },
  ]);
  const hooks = sort === 'stream' ? undefined : hooksOf(draw, Object.keys(kinds));
  const stream = isStreamed ? { stream: { path: 'GET /the/stream', format: 'sse', keep: pick(draw, ['1h', '24h']) } } : {};
  if (!hooks && !isStreamed) return laid(draft, { events: { kinds, delivery: 'none' } }, 'delivery none');
  const events = { kinds, delivery: { ...(hooks && { webhook: hooks.webhook }), ...stream, ...envelope } };
  const told = [
    'envelope' in envelope ? (envelope.envelope === 'none' ? 'envelope none' : 'envelope own') : 'envelope usual',
    ...(isStreamed ? ['stream'] : []),
  ];
  if (!hooks) return laid(draft, { events }, ...told);
  const states = draft.document.states === 'none' ? {} : { states: { hook: 'none' } };
  return laid(
    draft,
    { events, resources: { hook: hooks.resource }, endpoints: hooks.endpoints, ...states },
    ...told,
    ...hooks.told,
  );
}

function kindsOf(draw: Draw, { name, machine, identifier }: GeneratedResource, { document }: Draft): [string, Json][] {
  if (oneIn(draw, 3)) return [];
  const fields = mapAt(document, 'resources', name, 'fields');
  const row = pick<JsonMap>(draw, [
    { payload: name },
    { payload: name },
    {
      payload: {
        type: 'object',
        properties: { id: identifier.isInteger ? 'integer' : 'string', at: { type: 'string', format: 'date-time' } },
        required: ['id', 'at'],
      },
      data: { id: 'next.id', at: 'now' },
    },
  ]);
  const to = ownerField in fields && oneIn(draw, 3) ? { to: `caller.id == next.${ownerField}` } : {};
  const some = { if: 'next.count < 3' };
  const kinds: [string, Json][] = [[`${name}.made`, { on: [`create ${name}`], ...row, ...to }]];
  if (oneIn(draw, 2)) kinds.push([`${name}.changed`, { on: [`update ${name}`], ...row, ...(oneIn(draw, 2) && some) }]);
  if (oneIn(draw, 3)) kinds.push([`${name} gone`, { on: [`delete ${name}`], payload: name }]);
  const [move] = machine?.transitions ?? [];
  if (move !== undefined && oneIn(draw, 2)) kinds.push([`${name}_moved`, { on: [`${move} ${name}`], ...row }]);
  if (oneIn(draw, 4)) kinds.push([`${name}.any`, { on: [`all ${name}`], payload: name }]);
  return kinds;
}

function hooksOf(draw: Draw, kinds: readonly string[]) {
  const signing = pick<readonly [string, Json | undefined, JsonMap]>(draw, [
    [
      'signature standard',
      'standard-webhooks',
      { type: 'string', readOnly: true, generate: 'whsec_{base64:32}', reveal: 'once', required: true },
    ],
    [
      'signature standard',
      'standard-webhooks',
      { type: 'string', readOnly: true, generate: '{base64:32}', reveal: 'once', required: true },
    ],
    [
      'signature own',
      { header: 'X-Signature', value: 't={timestamp},v1={hmac-sha256:hex}', signs: '{timestamp}.{body}' },
      { type: 'string', readOnly: true, generate: '{random:32}', reveal: 'once', required: true },
    ],
    [
      'signature own, secret sent',
      { header: 'X-Signature', value: '{hmac-sha512:base64}', signs: '{id}{body}' },
      { type: 'string', writeOnly: true, minLength: 8, maxLength: 40, required: true },
    ],
    ['signature none', 'none', {}],
  ]);
  const [told, signature, secret] = signing;
  const hasSecret = Object.keys(secret).length > 0;
  const list = pick<readonly [string, JsonMap | undefined]>(draw, [
    ['subscribed any text', { type: 'array', items: 'string', default: ['*'], required: true }],
    ['subscribed enum', { type: 'array', items: { enum: kinds }, required: false }],
    ['subscribed enum', { type: 'array', items: { enum: kinds }, minItems: 1, required: true }],
    ['subscribed enum and star', { type: 'array', items: { enum: [...kinds, '*'] }, default: ['*'], required: true }],
    ['subscribed nothing', undefined],
  ]);
  const [wanted, eventsField] = list;
  const canBeTurned = oneIn(draw, 2);
  const fields: JsonMap = {
    id: { type: 'string', required: true },
    url: { type: 'string', format: 'uri', required: true },
    ...(hasSecret && { secret }),
    ...(eventsField && { wanted: eventsField }),
    ...(canBeTurned && { enabled: { type: 'boolean', default: true, required: true } }),
  };
  const retry = pick<JsonMap>(draw, [{}, { retry: ['5s', '1m'] }, { retry: 'none' }]);
  const more = pick<JsonMap>(draw, [
    {},
    { headers: { 'X-Kind': 'event.kind' } },
    { timeout: '5s' },
    { disable_after: '1h' },
    { order: 'any' },
  ]);
  const confirm = pick<JsonMap>(draw, [{}, {}, {}, { confirm: 'challenge' }, { confirm: 'ping' }]);
  const webhook: JsonMap = {
    signature: signature ?? 'none',
    ...retry,
    ...(canBeTurned || !('disable_after' in more) ? more : {}),
    ...confirm,
    subscribers: {
      resource: 'hook',
      url: 'url',
      ...(hasSecret && { secret: 'secret' }),
      ...(eventsField && { events: 'wanted' }),
      ...(canBeTurned && { enabled: 'enabled' }),
    },
  };
  const endpoints: JsonMap = {
    'POST /hooks': { does: 'create hook' },
    'GET /hooks/{id}': { does: 'read hook' },
    'DELETE /hooks/{id}': { does: 'delete hook' },
    ...(oneIn(draw, 2) && { 'GET /hooks': { does: 'list hook' } }),
    ...(oneIn(draw, 2) && { 'PATCH /hooks/{id}': { does: 'update hook' } }),
  };
  return {
    webhook,
    resource: { identifier: { field: 'id', generate: 'uuid' }, fields },
    endpoints,
    told: [told, wanted, ...('confirm' in confirm ? [`confirm ${String(confirm.confirm)}`] : [])],
  };
}
