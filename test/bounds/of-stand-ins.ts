import type { Kinds } from './kinds.ts';

type Send = Kinds[string];

const repeat = (text: string, times: number) => text.repeat(times);
const ask =
  (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Send =>
  (target) =>
    target.send(method, path, { as: 'ann', headers, ...(body !== undefined && { body }) });
/** Sends it to an address of at most 16 KiB, which the door of a stand-in lets through. */
const list = (query: string): Send => ask('GET', `/things?${query}`);

/** What asks too much of a stand-in alone: of its samples, its narrowing of lists, its searches, streams and scenarios. */
export const standInKinds: Kinds = {
  'a stand-in’s order of a word of fifteen thousand': list(`sort=${repeat('a', 15_000)}`),
  'a stand-in’s order of five thousand words': list(`sort=${repeat('a,', 5_000)}`),
  'a stand-in’s order that goes down for ever': list(`sort=${repeat('-', 15_000)}name`),
  'a stand-in’s order of blanks': list(`sort=name${repeat('%20', 4_000)}x`),
  'a stand-in’s order of points': list(`sort=${repeat('like.', 2_500)}name`),
  'a stand-in’s filter of fifteen thousand': list(`name=${repeat('a', 15_000)}`),
  'a stand-in’s filter of seven thousand values': list(`tags=${repeat('a,', 7_000)}b`),
  'a stand-in’s filter two thousand times': list(repeat('tags=a&', 2_000)),
  'a stand-in’s filter in two thousand brackets': list(`filter${repeat('[like]', 1_800)}=1`),
  'a stand-in’s filter of many members': list(Array.from({ length: 800 }, (_, at) => `filter[m${at}]=1`).join('&')),
  'a stand-in’s search of fifteen thousand': list(`q=${repeat('a+b+', 3_000)}`),
  'a stand-in’s search of marks': list(`q=${repeat('(*:"', 3_500)}`),
  'a stand-in’s parameters that nobody stated': list(Array.from({ length: 2_000 }, (_, at) => `u${at}=1`).join('&')),
  'a stand-in’s page of everything': list('limit=999999999999'),
  'a stand-in’s page by a number beyond all': list('page=99999999999999999999&offset=9e99'),
  'a stand-in’s search by a deep map': ask(
    'POST',
    '/things/search',
    `{"query":${repeat('{"a":', 20_000)}1${repeat('}', 20_000)}}`,
  ),
  'a stand-in’s search by a wide map': ask('POST', '/things/search', {
    query: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`m${at}`, at])),
    sort: Array(10_000).fill('name'),
  }),
  'a thing that holds itself, a thousand deep': ask(
    'POST',
    '/things',
    `${repeat('{"name":"x","like":', 1_000)}"x"${repeat('}', 1_000)}`,
  ),
  'a patch whose copies are copied': async (target) => {
    const made = await target.send('POST', '/things', { as: 'ann', body: { name: 'copied', extra: { a: { b: 1 } } } });
    const { id } = JSON.parse(made.text) as { id: string };
    const doubled = Array.from({ length: 60 }, (_, at) => ({ op: 'copy', from: '/extra', path: `/extra/c${at}` }));
    await target.send('PATCH', `/things/${id}`, { as: 'ann', body: doubled });
  },
  'a note of ten thousand answers': ask('POST', '/things/t/notes', { answers: Array(10_000).fill({ text: 'x' }) }),
  'an example that is called fifteen thousand letters': ask('GET', '/things', undefined, {
    prefer: `example=${repeat('a', 14_000)}`,
  }),
  'a status that is preferred beyond all': ask('GET', '/things', undefined, { prefer: `code=${repeat('9', 14_000)}` }),
  'preferences without end': ask('GET', '/things', undefined, { prefer: repeat('a=b,', 3_500) }),
  'a scenario of fourteen thousand letters': ask('GET', '/things', undefined, { 'ninefold-scenario': repeat('a', 14_000) }),
  'scenarios without end': ask('GET', '/things', undefined, { 'ninefold-scenario': repeat('delay=1ms;', 1_400) }),
  'a type that is asked for and nobody has': ask('GET', '/things', undefined, {
    accept: `application/vnd.${repeat('x', 10_000)}+json`,
  }),
  'a row of a name of fifteen thousand': ask('GET', `/things/${repeat('a', 15_000)}`),
  'rows of two thousand names that nobody made': async (target) => {
    for (let at = 0; at < 2_000; at += 50)
      await Promise.all(Array.from({ length: 50 }, (_, n) => target.send('GET', `/things/n${at + n}`, { as: 'ann' })));
  },
  'acts on five hundred rows that nobody made': async (target) => {
    for (let at = 0; at < 500; at += 50)
      await Promise.all(Array.from({ length: 50 }, (_, n) => target.send('POST', `/things/f${at + n}/finish`, { as: 'ann' })));
  },
  'two hundred streams of a stand-in': async (target) => {
    for (let at = 0; at < 200; at += 50)
      await Promise.all(Array.from({ length: 50 }, () => target.send('POST', '/events', { as: 'ann', body: { stream: true } })));
  },
};
