import type { Case } from '../harness.ts';

export const limitsCases: readonly Case[] = [
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 5, window: 1m, on: [create noet], cost: { list notes: 2 } }] }'],
    finds: [
      'errors/cannot-arise @ /errors/codes/slow_down/when',
      'limits/unknown-operation @ /limits/rate/0/on/0',
      'limits/unknown-operation @ /limits/rate/0/cost/list notes',
    ],
  },
  {
    snippets: ['limits: { quota: [{ per: caller, to: [writer, wirter], limit: 5, window: day }] }'],
    finds: ['limits/unknown-user @ /limits/quota/0/to/1'],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 5, window: minute }], timeout: { idle: 60 seconds } }'],
    finds: ['limits/duration @ /limits/rate/0/window', 'limits/duration @ /limits/timeout/idle'],
  },
  { snippets: ['limits: { size: { body: 64 kilobytes } }'], finds: ['limits/size @ /limits/size/body'] },
  {
    snippets: ['limits: { quota: [{ per: caller, limit: 5, window: fortnight, zone: Europe/Atlantis }] }'],
    finds: ['limits/calendar @ /limits/quota/0/window', 'limits/calendar @ /limits/quota/0/zone'],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, window: 1m }], quota: [{ per: caller, limit: 5 }] }'],
    finds: ['limits/incomplete @ /limits/rate/0', 'limits/incomplete @ /limits/quota/0'],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 0, window: 0s }], size: { body: 0 }, timeout: { request: 0s } }'],
    finds: [
      'limits/of-nothing @ /limits/rate/0/limit',
      'limits/of-nothing @ /limits/rate/0/window',
      'limits/of-nothing @ /limits/size/body',
      'limits/of-nothing @ /limits/timeout/request',
    ],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 5, window: 1s, kind: bucket, burst: 2, cost: { list note: 3 } }] }'],
    finds: ['limits/burst @ /limits/rate/0/cost/list note'],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 5, window: 1s, burst: 10 }] }'],
    finds: ['limits/idle-burst @ /limits/rate/0/burst'],
  },
  { snippets: ['limits: { size: { file: 1MiB } }'], finds: ['limits/file-above-body @ /limits/size/file'] },
  {
    snippets: ['limits: { rate: [{ per: caller, before: credentials, limit: 5, window: 1s }] }'],
    finds: ['limits/before-credentials @ /limits/rate/0/before'],
  },
  {
    snippets: ['limits: { rate: [{ per: everyone, before: credentials, if: "has(caller.id)", limit: 5, window: 1s }] }'],
    finds: ['limits/before-credentials @ /limits/rate/0/before'],
  },
  {
    snippets: ['limits: { rate: [{ per: address, to: anyone, on: [create note], limit: 5, window: 1s }] }'],
    finds: ['limits/nobody @ /limits/rate/0/to'],
  },
  {
    snippets: ['limits: { rate: [{ per: caller, limit: 5, window: 1s, uncounted: [304, 2XX] }] }'],
    finds: ['limits/of-nothing @ /limits/rate/0/uncounted/1'],
  },
  {
    snippets: [
      'limits: { rate: [{ per: caller.tenant, limit: 5, window: 1s }, { per: calller, if: caller.user, limit: 5, window: 1s }] }',
    ],
    finds: [
      'expressions/unknown-field @ /limits/rate/0/per',
      'expressions/not-in-scope @ /limits/rate/1/per',
      'expressions/may-be-absent @ /limits/rate/1/if',
      'expressions/wrong-result @ /limits/rate/1/if',
    ],
  },
  {
    snippets: [
      'limits: { rows: [{ of: noet, limit: 1 }, { of: note, per: keeper, limit: 1 }, { of: note, per: caller.user, limit: 1 }, { of: note }] }',
    ],
    finds: [
      'limits/rows @ /limits/rows/0/of',
      'limits/rows @ /limits/rows/1/per',
      'limits/rows @ /limits/rows/2/per',
      'limits/rows @ /limits/rows/3',
    ],
  },
  {
    snippets: ['limits: { at_once: [{ per: caller }, { to: wirter, on: [create noet], limit: 2 }] }'],
    finds: [
      'limits/incomplete @ /limits/at_once/0',
      'limits/unknown-user @ /limits/at_once/1/to',
      'limits/unknown-operation @ /limits/at_once/1/on/0',
    ],
  },
  { snippets: ['limits: { rows: { of: note, limit: 0 } }'], finds: ['limits/rows-of-nothing @ /limits/rows/limit'] },
  { snippets: ['limits: { trust_proxies: [10.0.0.0/8, gateway] }'], finds: ['limits/proxy @ /limits/trust_proxies/1'] },
  { snippets: ['limits: { pagination: { default: 200 } }'], finds: ['limits/page-default @ /limits/pagination/default'] },
  { snippets: ['limits: { pagination: { style: null } }'], finds: ['limits/page-style @ /limits/pagination'] },
  {
    snippets: ['limits: { pagination: { style: offset, cursor: null } }'],
    finds: ['limits/page-parameter @ /limits/pagination/style'],
  },
  {
    snippets: ['limits: { pagination: { items: none, offset: offset } }'],
    finds: ['limits/page-word @ /limits/pagination/next', 'limits/page-word @ /limits/pagination/offset'],
  },
  {
    snippets: ['limits: { pagination: { size: cursor, total: data } }'],
    finds: ['limits/page-names @ /limits/pagination/size', 'limits/page-names @ /limits/pagination/total'],
  },
  {
    snippets: ['limits: { headers: { limit: X Limit, remaining: X-Left, reset: { x-left: unix } } }'],
    finds: ['limits/header @ /limits/headers/limit', 'limits/header @ /limits/headers/reset'],
  },
];
