import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Sorts of apples that are put under their names, with a rule over two fields. */
const document = `title: Yard
purpose: { purpose: Grows apples., base_url: "https://yard.example", users: { curator: Keeps the book. } }
resources:
  sort:
    identifier: { field: slug, generate: client }
    fields:
      slug: { type: string, pattern: "^[a-z]{3,14}$" }
      season: { enum: [early, late] }
      weeks: { type: integer, minimum: 0, maximum: 60 }
    required: [slug, season]
    rules:
      soft: { if: "next.season == 'early' && has(next.weeks) && next.weeks > 6", field: weeks, message: at most 6 }
states: { sort: none }
endpoints:
  PUT /sorts/{slug}: { does: upsert sort, if_match: none }
  GET /sorts/{slug}: { does: read sort }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all sort], to: curator }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

async function told(only: string, options: StandOptions = {}) {
  const stand = await openStand(document, options);
  try {
    const { breaches, facts } = await stand.verify({ only: [only] });
    const looks = facts.flatMap(({ evidence }) => evidence?.looks ?? []);
    return {
      broken: [...new Set(breaches.map(({ subject, reason }) => `${subject}, ${reason}`))],
      missing: looks.filter(({ name, isMet }) => name.startsWith('soft') && !isMet).map(({ name }) => name),
    };
  } finally {
    await stand.close();
  }
}

/** A service that looks at what is put no more once the row is there, and makes of it what fits. */
function laxThere(fitting: (sent: Record<string, unknown>) => Record<string, unknown>): StandOptions {
  const there = new Set<string>();
  return {
    bend: ({ method, target, text }) =>
      method === 'PUT' && there.has(target) && text.startsWith('{') ? { text: JSON.stringify(fitting(JSON.parse(text))) } : {},
    spoil: ({ method, target, status }) => {
      if (method === 'PUT' && status === 201) there.add(target);
      return {};
    },
  };
}

test('a row that is put again is held to the rules over several fields', async () => {
  assert.deepEqual(await told('resources/rules'), { broken: [], missing: [] });
  const lax = laxThere(({ weeks, ...sent }) => ({ ...sent, ...(typeof weeks === 'number' && { weeks: Math.min(weeks, 6) }) }));
  assert.deepEqual((await told('resources/rules', lax)).broken, ['sort.weeks, soft, refused of what is there']);
});

test('a row that is put again is held to the shapes of its fields', async () => {
  assert.deepEqual((await told('endpoints/bodies')).broken, []);
  const lax = laxThere(({ season, ...sent }) => ({ ...sent, season: season === 'early' ? season : 'late' }));
  const { broken } = await told('endpoints/bodies', lax);
  assert.ok(broken.includes('sort.season, invalid refused'), `${broken}`);
});
