import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check } from '../src/check/check.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';
import { toJsonSchema } from '../src/parts/schemas.ts';
import { readSpec } from '../src/parts/spec.ts';
import { compileVersionList } from '../src/serve/exchange/compilation.ts';
import { createValidator } from '../src/serve/http/ajv.ts';
import { times } from './long.ts';
import { type GeneratedHistory, generatedHistory, valueIn } from './versioning/generated-history.ts';
import { serveText } from './versioning/service.ts';

const runs = { numRuns: Number(process.env.FC_RUNS ?? times(6, 15)) };

function read(history: GeneratedHistory) {
  const spec = readSpec(parseDocument(history.text, 'document.json', { isKey }));
  const versions = compileVersionList(spec, createValidator(), () => 0);
  assert.ok(versions);
  return { spec, versions };
}

test('a value of an older version goes up and down to the same value, and is valid in both', () => {
  fc.assert(
    fc.property(
      generatedHistory,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      (history, chance) => {
        const { spec, versions } = read(history);
        const newest = createValidator().compile(toJsonSchema(spec, { resource: 'thing' }, 'stored'));
        for (const version of history.versions) {
          const older = versions.older(version);
          if (!older) continue;
          const carry = older.carries.resource('thing');
          const value = valueIn(older.spec, 'thing', chance, history.constants);
          const validate = older.validate({ resource: 'thing' }, 'stored');
          assert.deepEqual(validate(value), [], `${version} ${JSON.stringify(value)}`);
          const up = carry ? carry.up(value) : value;
          assert.deepEqual(newest(up), [], `${version} ${JSON.stringify(value)} -> ${JSON.stringify(up)}`);
          const down = carry ? carry.down(up) : up;
          assert.deepEqual(validate(down), []);
          assert.deepEqual(JSON.parse(JSON.stringify(down)), JSON.parse(JSON.stringify(value)), version);
        }
      },
    ),
    runs,
  );
});

test('what is sent back as it was read changes nothing, by replacing and by patching', () => {
  fc.assert(
    fc.property(
      generatedHistory,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      (history, chance) => {
        const { spec, versions } = read(history);
        const stored = valueIn(spec, 'thing', chance, new Map());
        for (const version of history.versions) {
          const carry = versions.older(version)?.carries.resource('thing');
          if (!carry) continue;
          const told = carry.down(stored) as Record<string, unknown>;
          assert.deepEqual(JSON.parse(JSON.stringify(carry.up(told, stored))), JSON.parse(JSON.stringify(stored)), version);
          assert.deepEqual(JSON.parse(JSON.stringify(carry.merge(stored, told))), JSON.parse(JSON.stringify(stored)), version);
          assert.deepEqual(carry.merge(stored, {}), stored);
        }
      },
    ),
    runs,
  );
});

test('a row made in any version is read in every version, in that version’s shape', async () => {
  await fc.assert(
    fc.asyncProperty(
      generatedHistory,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })),
      async (history, chance) => {
        const { spec, versions } = read(history);
        const served = await serveText(history.text, 'Version');
        try {
          for (const maker of history.versions) {
            const own = versions.older(maker)?.spec ?? spec;
            const { id: _id, ...body } = valueIn(own, 'thing', chance, history.constants);
            const made = await served.send('POST /things', { version: maker, body });
            assert.equal(made.status, 201, `${maker} ${JSON.stringify(body)} ${JSON.stringify(made.body)}`);
            assert.deepEqual({ ...made.body, id: 0 }, { ...body, id: 0 }, maker);
            for (const reader of history.versions) {
              const answer = await served.send(`GET /things/${made.body.id}`, { version: reader });
              assert.equal(answer.status, 200);
              const shape = toJsonSchema(versions.older(reader)?.spec ?? spec, { resource: 'thing' }, 'shown');
              assert.deepEqual(
                createValidator().compile(shape)(answer.body),
                [],
                `${maker} ${reader} ${JSON.stringify(answer.body)}`,
              );
              const again = await served.send(`PUT /things/${made.body.id}`, { version: reader, body: answer.body });
              assert.equal(again.status, 200, JSON.stringify(again.body));
            }
            assert.deepEqual((await served.send(`GET /things/${made.body.id}`, { version: maker })).body, made.body);
          }
        } finally {
          await served.service.close();
        }
      },
    ),
    { numRuns: Number(process.env.FC_RUNS ?? times(2, 10)) },
  );
});

test('a value may be called otherwise twice in one version, and leads to an allowed one in the end', () => {
  const errorsOf = (changes: readonly unknown[]) => {
    const document = {
      title: 'Jars',
      resources: { jar: { identifier: { field: 'id' }, fields: { id: 'string', lid: { enum: ['black', 'white'] } } } },
      versioning: { versions: { v0: {}, v1: { current: true } }, changes: { v0: { $none: true }, v1: changes } },
    };
    const { findings } = check(parseDocument(JSON.stringify(document), 'jars.json', { isKey }));
    return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  };
  const [first, second] = [
    { enum: 'jar.lid', values: { clear: 'pale' } },
    { enum: 'jar.lid', values: { pale: 'white' } },
  ];
  assert.deepEqual(errorsOf([first, second]), []);
  assert.deepEqual(errorsOf([second, first]), ['`"pale"` is no allowed value of `jar.lid`.']);
});
