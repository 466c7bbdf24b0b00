import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { smallService } from './verify/small-service.ts';
import { openStand, type Stand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  // Purpose
  [
    'another base address',
    'base_url: https://small.example/v1',
    'base_url: https://small.example/v2',
    'base address:service',
    /below it/,
  ],
  [
    'a user may do nothing',
    'to: editor }\n    - { allow: [create hook], to: [writer, editor] }\n    - { allow: [list hook, read hook, delete hook], to: [writer, editor]',
    'to: writer }\n    - { allow: [create hook], to: writer }\n    - { allow: [list hook, read hook, delete hook], to: writer',
    'users:service',
    /editor/,
  ],
  [
    'an operation of a function is not there',
    'POST /notes/{id}/close: { does: close note }',
    'POST /notes/{id}/shut: { does: close note }',
    'functions:service',
    /close note succeeds/,
  ],

  // Authentication
  ['another header', 'header: X-Key', 'header: X-Api-Key', 'header names:key', /known/],
  [
    'anybody may do it',
    '{ allow: [stream events], to: [writer, editor] }',
    '{ allow: [stream events], to: anyone }',
    'permission rules:stream events',
    /nobody/,
  ],
  ['a public operation asks who calls', 'public: [about]', 'public: []', 'schemes:service', /public about/],
  ['another page may call', 'origins: [https://page.example]', 'origins: ["*"]', 'schemes:service', /origins/],
  ['no page may call', 'origins: [https://page.example]', 'origins: none', 'schemes:service', /let in/],
  [
    'a user may do what it may not',
    '{ allow: [list note, news, read note, close note], to: editor }',
    '{ allow: [list note, news, read note, close note], to: [editor, writer] }',
    'permission rules:close note',
    /writer/,
  ],
  [
    'a user may not do what it may',
    '{ allow: [create note], to: writer }',
    '{ allow: [create note], to: editor }',
    'permission rules:create note',
    /writer|editor/,
  ],
  [
    'foreign rows are read',
    'read note, update note, delete note], to: writer, if: resource.owner == caller.id }',
    'update note, delete note], to: writer, if: resource.owner == caller.id }\n    - { allow: [read note], to: writer }',
    'permission rules:read note',
    /foreign/,
  ],
  [
    'foreign rows are deleted',
    'update note, delete note], to: writer, if: resource.owner == caller.id }',
    'update note], to: writer, if: resource.owner == caller.id }\n    - { allow: [delete note], to: writer }',
    'permission rules:delete note',
    /foreign/,
  ],
  [
    'own rows are not read',
    'read note, update note, delete note], to: writer, if: resource.owner == caller.id }',
    'read note, update note, delete note], to: writer, if: "resource.owner == \'nobody\'" }',
    'permission rules:read note',
    /own/,
  ],
  [
    'a list shows foreign rows',
    '{ allow: [list note, news, read note, update note',
    '{ allow: [list note], to: writer }\n    - { allow: [list note, news, read note, update note',
    'permission rules:list note',
    /leaks/,
  ],
  [
    'a list hides own rows',
    '{ allow: [list note, news, read note, update note, delete note], to: writer, if: resource.owner == caller.id }',
    '{ allow: [news, read note, update note, delete note], to: writer, if: resource.owner == caller.id }\n    - { allow: [list note], to: writer, if: "resource.owner == \'nobody\'" }',
    'permission rules:list note',
    /shows/,
  ],
  [
    'a hidden row is said to be forbidden',
    'if: resource.owner == caller.id }\n    - { allow: [list note, news, read note, close',
    'if: resource.owner == caller.id, else: forbidden }\n    - { allow: [list note, news, read note, close',
    'permission rules:read note',
    /foreign/,
  ],

  // Events
  [
    'an event is not sent',
    'note.gone: { on: [delete note],',
    'note.gone: { on: [close note],',
    'emitting operations:note.gone',
    /emitted/,
  ],
  ['an event is sent under another name', '    note.gone:', '    note.removed:', 'kinds of event:service', /kinds/],
  [
    'the condition of an event is another',
    'if: next.text != resource.text, payload: note',
    'payload: note',
    'emitting operations:note.changed',
    /emitted/,
  ],
  ['a payload says something else', 'was: resource.status', 'was: next.status', 'payload shapes:note.closed', /payload/],
  [
    'a payload lacks a member',
    'required: [note, was] }, data: { note: next.id, was: resource.status }',
    'required: [note] }, data: { note: next.id }',
    'payload shapes:note.closed',
    /payload/,
  ],
  [
    'a payload shows what its reader may not see',
    'visible: [editor], writable',
    'writable',
    'payload shapes:note.made',
    /payload/,
  ],
  [
    'others hear of a row',
    'note.made: { on: [create note], payload: note }',
    'note.made: { on: [create note], payload: note, to: "true" }',
    'emitting operations:note.made',
    /emitted/,
  ],
  [
    'others are told of a row',
    'note.made: { on: [create note], payload: note }',
    'note.made: { on: [create note], payload: note, to: "true" }',
    'delivery mechanism:service',
    /to nobody else/,
  ],
  ['a stream is kept shorter', 'keep: 1h', 'keep: 1m', 'delivery mechanism:service', /^kept/],
  ['who fails is disabled later', 'disable_after: 2d', 'disable_after: 5d', 'delivery mechanism:service', /^disabled/],
  [
    'who fails is disabled earlier',
    'disable_after: 2d',
    'disable_after: 2h',
    'delivery mechanism:service',
    /not disabled earlier/,
  ],
  [
    'the signature is another',
    'signature: standard-webhooks',
    'signature: { header: webhook-signature, value: "v1,{hmac-sha256:base64}", signs: "{body}" }',
    'delivery mechanism:service',
    /sent as stated/,
  ],
  [
    'a stated header is not sent',
    'headers: { X-Kind: event.kind }',
    'headers: { X-Sort: event.kind }',
    'delivery mechanism:service',
    /sent as stated/,
  ],
  [
    'the envelope is another',
    'stream: { path: GET /events, format: sse, keep: 1h }',
    'stream: { path: GET /events, format: sse, keep: 1h }\n    envelope: { id: event.id, type: event.kind, at: event.at, data: event.payload }',
    'delivery mechanism:service',
    /sent as stated/,
  ],
  ['nothing is tried again', 'retry: [1s, 1s]', 'retry: none', 'delivery mechanism:service', /tried again/],
  [
    'what comes later does not wait',
    'timeout: 5s\n',
    'timeout: 5s\n      order: any\n',
    'delivery mechanism:service',
    /in order/,
  ],
  [
    'the list of kinds is not looked at',
    ', events: kinds, enabled',
    ', enabled',
    'delivery mechanism:service',
    /kinds that are asked for|unknown kind/,
  ],
  ['who is switched off is told', ', enabled: enabled }', ' }', 'delivery mechanism:service', /switched off/],
  [
    'what the clock does is not told',
    'on: [rot note], payload: note',
    'on: [rot note], if: "false", payload: note',
    'emitting operations:note.stale',
    /rot note/,
  ],

  // Limits
  ['one more in the window', 'limit: 20, window: 2s', 'limit: 21, window: 2s', 'rate limits:service', /kept/],
  ['one less in the window', 'limit: 20, window: 2s', 'limit: 19, window: 2s', 'rate limits:service', /not earlier/],
  ['a longer window', 'limit: 20, window: 2s', 'limit: 20, window: 60s', 'rate limits:service', /Retry-After|not earlier/],
  ['callers share a rate', 'rate: [{ per: caller,', 'rate: [{ per: everyone,', 'rate limits:service', /apart/],
  ['one byte less in a body', 'body: 2KiB', 'body: 2047B', 'size limits:service', /body up to/],
  ['one byte more in a body', 'body: 2KiB', 'body: 2049B', 'size limits:service', /body above/],
  ['one byte more in an address', 'url: 1KiB', 'url: 1025B', 'size limits:service', /url above/],
  ['larger headers', 'headers: 12KiB', 'headers: 14KiB', 'size limits:service', /headers above/],
  ['more time for a body', 'timeout: { request: 1s', 'timeout: { request: 60s', 'time-outs:service', /request/],
  ['another default size', 'default: 3', 'default: 4', 'pagination bounds:GET /hooks', /default/],
  ['larger pages', 'max: 6', 'max: 7', 'pagination bounds:GET /hooks', /above the most/],
  ['smaller pages', 'max: 6', 'max: 5', 'pagination bounds:GET /hooks', /at the most/],
  ['what is too large is cut down', 'over_max: refuse', 'over_max: clamp', 'pagination bounds:GET /hooks', /above the most/],
  ['a larger quota', 'limit: 10, window: day', 'limit: 11, window: day', 'quotas:service', /kept/],
  ['a smaller quota', 'limit: 10, window: day', 'limit: 9, window: day', 'quotas:service', /not earlier/],

  // Versioning
  ['a version is not over', 'sunset: 2021-01-01', 'sunset: 2091-01-01', 'deprecation rules:1', /sunset/],
  ['another last day', 'sunset: 2090-01-01', 'sunset: 2089-01-01', 'deprecation rules:2', /told/],
  [
    'nothing is said of a deprecation',
    '"2": { deprecated: 2025-01-01, sunset: 2090-01-01, link: https://small.example/changes }',
    '"2": {}',
    'deprecation rules:2',
    /told/,
  ],
  ['another link', 'link: https://small.example/changes', 'link: https://small.example/other', 'deprecation rules:2', /told/],
  [
    'the current one is deprecated',
    '"3": { current: true }',
    '"3": { current: true, deprecated: 2026-01-01 }',
    'deprecation rules:3',
    /told/,
  ],
  [
    'the oldest by default',
    'default: current }\n  guarantee',
    'default: oldest }\n  guarantee',
    'version selection:service',
    /default/,
  ],
  [
    'another name in the old version',
    'rename: note.words,',
    'rename: note.phrase,',
    'version identifiers:service',
    /read|written/,
  ],
  [
    'another name in the events of the old version',
    'rename: note.words,',
    'rename: note.phrase,',
    'version identifiers:service',
    /events of a subscriber/,
  ],
  [
    'another name in the stream of the old version',
    'rename: note.words,',
    'rename: note.phrase,',
    'version identifiers:service',
    /events of the stream/,
  ],
  [
    'an old value is cut off and not rounded',
    'int(round(value * 100.0))',
    'int(value * 100.0)',
    'version identifiers:service',
    /written/,
  ],
  ['another value in the old version', 'paper: letter', 'sheet: letter', 'version identifiers:service', /read|written/],
  [
    'an endpoint in a version before it',
    '      - { endpoint: GET /news, added: true }\n',
    '',
    'version identifiers:service',
    /not there/,
  ],
];

servedOtherwise(
  smallService,
  oneOfEach(rows, ([, , , breaks]) => breaks.split(':')[0] ?? ''),
  { allowPrivateWebhooks: true },
);

let stand: Stand;
before(async () => {
  stand = await openStand(smallService, { inPairs: true, serve: { allowPrivateWebhooks: true } });
});
after(() => stand.close());

for (const seed of isLong ? [1, 2, 3] : [1]) {
  test(`nothing is said to be broken where nothing is, seed ${seed}`, async (context) => {
    const only = ['purpose', 'authentication', 'events', 'limits', 'versioning'];
    // A run ends with its clock past the last day of an older version, of which the next would see nothing.
    const own = await openStand(smallService, { inPairs: true, serve: { allowPrivateWebhooks: true } });
    context.after(() => own.close());
    const { breaches, unsteady, facts } = await own.verify({ seed, only });
    assert.deepEqual(breaches, []);
    assert.deepEqual(unsteady, []);
    const untested = facts.filter(({ part, verdict }) => only.includes(part) && verdict !== 'held');
    // What nothing can show: words for people, examples, what is promised of later documents, who made a key that was given,
    // and a connection that is idle for longer than a case may wait; and totals, at which trials of endpoints look.
    assert.deepEqual(untested.map(({ kind, subject }) => `${kind} (${subject})`).sort(), [
      'compatibility guarantees (service)',
      'credential placeholders (key)',
      ...['GET /hooks', 'GET /news', 'GET /notes'].map((list) => `pagination bounds (${list})`),
      'purpose (service)',
      'time-outs (service)',
      'token formats (key)',
    ]);
    assert.deepEqual(own.failures, []);
  });
}
