import assert from 'node:assert/strict';
import { RegistryClient } from '@google-cloud/apigee-registry';
import { OAuth2Client } from 'google-auth-library';
import { gather, given, once, type Place, type State, type Vendor } from '../kit.ts';

/** The client speaks HTTP and JSON where it is told to (`rest`), and over plain HTTP to any host and port. */
const connect = (place: Place, token: string): RegistryClient => {
  const auth = new OAuth2Client();
  auth.setCredentials({ access_token: token });
  return new RegistryClient({
    fallback: 'rest',
    protocol: 'http',
    apiEndpoint: new URL(place.url).hostname,
    port: place.port,
    auth: auth as never,
  });
};

const parent = 'projects/demo/locations/global';
/** Codes of google.rpc.Code, as the client has them. */
const [invalid, notFound, exists, precondition] = [3, 5, 6, 9] as const;

/**
 * The call is refused. The client keeps no HTTP status, but a code: it takes the one of the answer's body for an HTTP status and
 * makes it one of google.rpc.Code, so that of an answer by the description, which has such a code already, 2 (unknown) is left.
 */
const turned = async (call: Promise<unknown>, ...codes: readonly number[]): Promise<void> => {
  let thrown: { readonly code?: number; readonly message: string; readonly constructor: { readonly name: string } };
  try {
    await call;
  } catch (error) {
    thrown = error as typeof thrown;
    if (thrown.constructor.name !== 'GoogleError') throw error;
    assert.ok([...codes, 2].includes(Number(thrown.code)), `refused with ${thrown.code}: ${thrown.message}`);
    assert.ok(thrown.message, 'refused without a message');
    return;
  }
  throw new Error('not refused');
};

/** What deletes: of an answer without a body, which is all that the description says of it, the client says that it is no JSON. */
const gone = async (call: Promise<unknown>): Promise<void> => {
  try {
    await call;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
};

const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => String(name));
const last = (name: string | null | undefined): string => String(name).split('/').at(-1) ?? '';
const alone = { autoPaginate: false };
const text = (words: string): Buffer => Buffer.from(words);
const first = 'openapi: 3.0.0\ninfo: {title: Pets, version: 1.0.0}\npaths: {}\n';
const second = 'openapi: 3.0.0\ninfo: {title: Pets, version: 1.0.1}\npaths: {}\n';
const third = 'openapi: 3.0.0\ninfo: {title: Many pets, version: 1.1.0}\npaths: {}\n';

/** The name of what was made: of an answer without one, the client has an empty text. */
const named = ([{ name }]: readonly [{ readonly name?: string | null }, ...unknown[]]): string =>
  given(name || undefined, 'name');
const api = async (c: RegistryClient, apiId: string, more: object = {}): Promise<string> =>
  named(await c.createApi({ parent, apiId, api: { displayName: apiId, ...more } }));
const version = async (c: RegistryClient, of: string, apiVersionId: string): Promise<string> =>
  named(await c.createApiVersion({ parent: of, apiVersionId, apiVersion: { displayName: apiVersionId } }));
/** A spec of a version of an API, and its first revision. */
const spec = async (c: RegistryClient, s: State): Promise<void> => {
  s.api = await api(c, 'petstore');
  s.version = await version(c, s.api, 'version-1');
  const apiSpec = { filename: 'openapi.yaml', mimeType: 'application/x.openapi', contents: text(first) };
  const [made] = await c.createApiSpec({ parent: s.version, apiSpecId: 'openapi', apiSpec });
  s.id = given(made.name || undefined, 'name');
  s.revision = given(made.revisionId || undefined, 'revision');
  s.hash = given(made.hash || undefined, 'hash');
};
const change = (c: RegistryClient, name: string, contents: string) =>
  c.updateApiSpec({ apiSpec: { name, mimeType: 'application/x.openapi', contents: text(contents) } });

/** Guide: cloud.google.com/apigee/docs/api-hub (APIs, versions, specs, deployments, artifacts), apigee.github.io/registry, google.aip.dev. */
export const vendor: Vendor<RegistryClient> = {
  document: 'apigee-registry/registry.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  flows: {
    'an API, from the first to the last day': (c, s) => ({
      made: async () => {
        const asked = { displayName: 'Pet store', description: 'Pets and their shops', availability: 'GENERAL' };
        const [made] = await c.createApi({ parent, apiId: 'petstore', api: asked });
        assert.partialDeepStrictEqual(made, asked);
        assert.equal(last(made.name), 'petstore');
        s.id = String(made.name);
      },
      read: async () => {
        const [read] = await c.getApi({ name: s.id });
        assert.deepEqual([read.name, read.displayName, read.availability], [s.id, 'Pet store', 'GENERAL']);
        assert.ok(read.createTime, 'no time');
      },
      'is in the list': async () => once(names((await c.listApis({ parent }))[0]), [s.id], 'APIs'),
      'called something else': async () => {
        const [changed] = await c.updateApi({
          api: { name: s.id, displayName: 'All pets' },
          updateMask: { paths: ['display_name'] },
        });
        assert.deepEqual([changed.name, changed.displayName], [s.id, 'All pets']);
      },
      'the rest as before': async () => {
        const [read] = await c.getApi({ name: s.id });
        assert.deepEqual([read.displayName, read.description], ['All pets', 'Pets and their shops']);
      },
      deleted: () => gone(c.deleteApi({ name: s.id })),
      'gone afterwards': () => turned(c.getApi({ name: s.id }), notFound),
    }),

    'what an API is labelled with': (c, s) => ({
      made: async () => {
        const labels = { team: 'animals', tier: 'gold' };
        const annotations = { owner: 'Jo of the animals' };
        const [made] = await c.createApi({ parent, apiId: 'labelled', api: { displayName: 'Labelled', labels, annotations } });
        assert.deepEqual([{ ...made.labels }, { ...made.annotations }], [labels, annotations]);
        s.id = String(made.name);
      },
      'kept so': async () => {
        const [{ labels, annotations }] = await c.getApi({ name: s.id });
        assert.deepEqual([labels?.team, labels?.tier, annotations?.owner], ['animals', 'gold', 'Jo of the animals']);
      },
      'other labels': async () => {
        const asked = { name: s.id, labels: { team: 'plants' } };
        const [{ labels }] = await c.updateApi({ api: asked, updateMask: { paths: ['labels'] } });
        assert.equal(labels?.team, 'plants');
      },
      'and nothing else': async () => {
        const [{ labels, annotations, displayName }] = await c.getApi({ name: s.id });
        assert.deepEqual({ ...labels }, { team: 'plants' });
        assert.deepEqual([annotations?.owner, displayName], ['Jo of the animals', 'Labelled']);
      },
    }),

    'APIs through all pages': (c, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) made.push(await api(c, `page-api-${n}`));
        assert.equal(new Set(made).size, 5);
        s.ids = made.join(',');
      },
      'two on a page, and there is another': async () => {
        const [rows, , answer] = await c.listApis({ parent, pageSize: 2 }, alone);
        assert.equal(rows.length, 2);
        assert.ok(answer?.nextPageToken, 'no token');
      },
      'the client walks them': async () =>
        once(names(await gather(c.listApisAsync({ parent, pageSize: 2 }), (row) => [row])), s.ids.split(','), 'pages'),
      'other ones on the next page': async () => {
        const [before, next] = await c.listApis({ parent, pageSize: 2 }, alone);
        assert.ok(next, 'no next page');
        const [after] = await c.listApis(next, alone);
        assert.deepEqual(
          names(after).filter((name) => names(before).includes(name)),
          [],
        );
      },
      'the last has no token': async () => {
        const [, , answer] = await c.listApis({ parent, pageSize: 1000 }, alone);
        assert.equal(answer?.nextPageToken || '', '');
      },
    }),

    'APIs of a kind': (c, s) => ({
      'three are made': async () => {
        s.one = await api(c, 'preview-one', { availability: 'PREVIEW' });
        s.two = await api(c, 'preview-two', { availability: 'PREVIEW' });
        s.other = await api(c, 'shut-down', { availability: 'SHUTDOWN' });
      },
      'those of the one': async () => {
        const [rows] = await c.listApis({ parent, filter: "availability == 'PREVIEW'" });
        once(names(rows), [s.one, s.two], 'APIs');
        for (const { availability } of rows) assert.equal(availability, 'PREVIEW');
      },
      'that of the other': async () =>
        assert.deepEqual(names((await c.listApis({ parent, filter: "availability == 'SHUTDOWN'" }))[0]), [s.other]),
      'none of what there is not': async () =>
        assert.deepEqual((await c.listApis({ parent, filter: "availability == 'NOWHERE'" }))[0], []),
    }),

    'versions of an API': (c, s) => ({
      'two of one API': async () => {
        s.api = await api(c, 'petstore');
        const asked = { displayName: 'First', description: 'The first of all', state: 'DESIGN' };
        const [made] = await c.createApiVersion({ parent: s.api, apiVersionId: 'version-1', apiVersion: asked });
        assert.partialDeepStrictEqual(made, asked);
        assert.equal(last(made.name), 'version-1');
        s.id = String(made.name);
        s.other = await version(c, s.api, 'version-2');
      },
      'both in the list': async () => once(names((await c.listApiVersions({ parent: s.api }))[0]), [s.id, s.other], 'versions'),
      'not those of another API': async () => {
        const another = await api(c, 'bookstore');
        assert.deepEqual((await c.listApiVersions({ parent: another }))[0], []);
      },
      'one is in use now': async () => {
        const asked = { name: s.id, state: 'PRODUCTION' };
        assert.equal((await c.updateApiVersion({ apiVersion: asked, updateMask: { paths: ['state'] } }))[0].state, 'PRODUCTION');
      },
      'and the same otherwise': async () => {
        const [read] = await c.getApiVersion({ name: s.id });
        assert.deepEqual([read.state, read.description], ['PRODUCTION', 'The first of all']);
      },
      'one goes': async () => {
        await gone(c.deleteApiVersion({ name: s.id }));
        await turned(c.getApiVersion({ name: s.id }), notFound);
      },
      'the other stays': async () => assert.equal((await c.getApiVersion({ name: s.other }))[0].name, s.other),
    }),

    'a spec of a version': (c, s) => ({
      'a version for it': async () => {
        s.version = await version(c, await api(c, 'petstore'), 'version-1');
      },
      made: async () => {
        const asked = {
          filename: 'openapi.yaml',
          mimeType: 'application/x.openapi',
          sourceUri: 'https://example.com/openapi.yaml',
        };
        const [made] = await c.createApiSpec({
          parent: s.version,
          apiSpecId: 'openapi',
          apiSpec: { ...asked, contents: text(first) },
        });
        assert.partialDeepStrictEqual(made, asked);
        assert.equal(last(made.name).split('@')[0], 'openapi');
        s.id = String(made.name);
      },
      'what it says is not told with it': async () => {
        const [read] = await c.getApiSpec({ name: s.id });
        assert.deepEqual([read.filename, read.contents?.length ?? 0], ['openapi.yaml', 0]);
      },
      'its size, its hash, its revision': async () => {
        const [{ sizeBytes, hash, revisionId }] = await c.getApiSpec({ name: s.id });
        assert.equal(sizeBytes, first.length);
        assert.ok(hash, 'no hash');
        assert.match(String(revisionId), /^[0-9a-f]{8}$/);
      },
      'is in the list': async () => once(names((await c.listApiSpecs({ parent: s.version }))[0]), [s.id], 'specs'),
      deleted: () => gone(c.deleteApiSpec({ name: s.id })),
      'gone afterwards': () => turned(c.getApiSpec({ name: s.id }), notFound),
    }),

    'revisions of a spec': (c, s) => ({
      'a spec': () => spec(c, s),
      'says something else': async () => {
        const [changed] = await change(c, s.id, second);
        assert.notEqual(changed.revisionId, s.revision);
        assert.notEqual(changed.hash, s.hash);
        s.next = String(changed.revisionId);
      },
      'the new one is read': async () => assert.equal((await c.getApiSpec({ name: s.id }))[0].revisionId, s.next),
      'both in the list, the last one first': async () => {
        const [rows] = await c.listApiSpecRevisions({ name: s.id });
        assert.deepEqual(
          rows.map(({ revisionId }) => revisionId),
          [s.next, s.revision],
        );
      },
      'none new where only its words change': async () => {
        const asked = { name: s.id, description: 'All pets' };
        const [changed] = await c.updateApiSpec({ apiSpec: asked, updateMask: { paths: ['description'] } });
        assert.deepEqual([changed.description, changed.revisionId], ['All pets', s.next]);
      },
    }),

    'back to an earlier revision': (c, s) => ({
      'a spec that says something else by now': async () => {
        await spec(c, s);
        s.next = String((await change(c, s.id, third))[0].revisionId);
      },
      'the first again, as a new one': async () => {
        const [back] = await c.rollbackApiSpec({ name: s.id, revisionId: s.revision });
        assert.equal(back.hash, s.hash);
        assert.ok(![s.revision, s.next].includes(String(back.revisionId)), String(back.revisionId));
        s.back = String(back.revisionId);
      },
      'it is what is read': async () => {
        const [read] = await c.getApiSpec({ name: s.id });
        assert.deepEqual([read.revisionId, read.hash], [s.back, s.hash]);
      },
      'it has a tag': async () => {
        const [tagged] = await c.tagApiSpecRevision({ name: `${s.id}@${s.back}`, tag: 'stable' });
        assert.equal(tagged.revisionId, s.back);
      },
      'not to one that there is not': () => turned(c.rollbackApiSpec({ name: s.id, revisionId: '00000000' }), notFound, invalid),
    }),

    'a deployment of an API': (c, s) => ({
      made: async () => {
        s.api = await api(c, 'petstore');
        const asked = { displayName: 'Production', endpointUri: 'https://pets.example.com', intendedAudience: 'Public' };
        const [made] = await c.createApiDeployment({ parent: s.api, apiDeploymentId: 'prod', apiDeployment: asked });
        assert.partialDeepStrictEqual(made, asked);
        assert.match(String(made.revisionId), /^[0-9a-f]{8}$/);
        s.id = String(made.name);
        s.revision = String(made.revisionId);
      },
      'is in the list': async () => once(names((await c.listApiDeployments({ parent: s.api }))[0]), [s.id], 'deployments'),
      'of other words, and no new revision': async () => {
        const asked = { name: s.id, accessGuidance: 'Ask for a key' };
        const mask = { paths: ['access_guidance'] };
        const [changed] = await c.updateApiDeployment({ apiDeployment: asked, updateMask: mask });
        assert.deepEqual([changed.accessGuidance, changed.revisionId], ['Ask for a key', s.revision]);
      },
      'elsewhere, and a new one': async () => {
        const asked = { name: s.id, endpointUri: 'https://pets.example.org' };
        const [changed] = await c.updateApiDeployment({ apiDeployment: asked, updateMask: { paths: ['endpoint_uri'] } });
        assert.equal(changed.endpointUri, 'https://pets.example.org');
        assert.notEqual(changed.revisionId, s.revision);
      },
      'both in the list of its revisions': async () => {
        const [rows] = await c.listApiDeploymentRevisions({ name: s.id });
        assert.deepEqual(
          rows.map(({ endpointUri }) => endpointUri),
          ['https://pets.example.org', 'https://pets.example.com'],
        );
      },
      deleted: () => gone(c.deleteApiDeployment({ name: s.id })),
      'gone afterwards': () => turned(c.getApiDeployment({ name: s.id }), notFound),
    }),

    'an artifact of a project': (c, s) => ({
      made: async () => {
        const artifact = { mimeType: 'text/plain', contents: text('a note') };
        const [made] = await c.createArtifact({ parent, artifactId: 'note', artifact });
        assert.deepEqual([last(made.name), made.mimeType, made.sizeBytes], ['note', 'text/plain', 6]);
        s.id = String(made.name);
        s.hash = String(made.hash);
      },
      'what it says is not told with it': async () => {
        const [read] = await c.getArtifact({ name: s.id });
        assert.deepEqual([read.name, read.mimeType, read.contents?.length ?? 0], [s.id, 'text/plain', 0]);
      },
      'is in the list': async () => once(names((await c.listArtifacts({ parent }))[0]), [s.id], 'artifacts'),
      replaced: async () => {
        const artifact = { name: s.id, mimeType: 'text/markdown', contents: text('# Another note') };
        const [changed] = await c.replaceArtifact({ artifact });
        assert.deepEqual([changed.name, changed.mimeType], [s.id, 'text/markdown']);
        assert.notEqual(changed.hash, s.hash);
      },
      'kept so': async () => {
        const [{ mimeType, sizeBytes }] = await c.getArtifact({ name: s.id });
        assert.deepEqual([mimeType, sizeBytes], ['text/markdown', '# Another note'.length]);
      },
      deleted: () => gone(c.deleteArtifact({ name: s.id })),
      'gone afterwards': () => turned(c.getArtifact({ name: s.id }), notFound),
    }),

    'artifacts through all pages': (c, s) => ({
      'four are made': async () => {
        const made: string[] = [];
        for (const artifactId of ['note-a', 'note-b', 'note-c', 'note-d']) {
          const artifact = { mimeType: 'text/plain', contents: text(artifactId) };
          made.push(named(await c.createArtifact({ parent, artifactId, artifact })));
        }
        s.ids = made.join(',');
      },
      'one on a page, and there is another': async () => {
        const [rows, , answer] = await c.listArtifacts({ parent, pageSize: 1 }, alone);
        assert.equal(rows.length, 1);
        assert.ok(answer?.nextPageToken, 'no token');
      },
      'the client walks them': async () =>
        once(names(await gather(c.listArtifactsAsync({ parent, pageSize: 1 }), (row) => [row])), s.ids.split(','), 'pages'),
      'all at once': async () => once(names((await c.listArtifacts({ parent, pageSize: 100 }))[0]), s.ids.split(','), 'rows'),
    }),

    'changed, or made where it is missing': (c, s) => ({
      'not without being told so': () =>
        turned(c.updateApi({ api: { name: `${parent}/apis/upserted`, displayName: 'Upserted' } }), notFound),
      'made where it is missing': async () => {
        const asked = { name: `${parent}/apis/upserted`, displayName: 'Upserted', description: 'By a change' };
        const [made] = await c.updateApi({ api: asked, allowMissing: true });
        assert.equal(made.displayName, 'Upserted');
        s.id = String(made.name);
      },
      'it is there': async () => {
        const [read] = await c.getApi({ name: s.id });
        assert.deepEqual([last(read.name), read.description], ['upserted', 'By a change']);
      },
      'changed where it is there': async () => {
        const asked = { name: s.id, displayName: 'Changed' };
        assert.equal((await c.updateApi({ api: asked, allowMissing: true }))[0].displayName, 'Changed');
      },
      'what was not set is not touched': async () => {
        const [read] = await c.getApi({ name: s.id });
        assert.deepEqual([read.displayName, read.description], ['Changed', 'By a change']);
      },
    }),

    'an API with something in it': (c, s) => ({
      'a spec of a version': () => spec(c, s),
      'is not deleted just so': () => turned(c.deleteApi({ name: s.api }), precondition),
      'still there': async () => assert.equal((await c.getApi({ name: s.api }))[0].name, s.api),
      'by force': () => gone(c.deleteApi({ name: s.api, force: true })),
      'it is gone': () => turned(c.getApi({ name: s.api }), notFound),
      'and what was in it': async () => {
        await turned(c.getApiVersion({ name: s.version }), notFound);
        await turned(c.getApiSpec({ name: s.id }), notFound);
      },
    }),

    'which version and deployment to use': (c, s) => ({
      'one of each': async () => {
        s.api = await api(c, 'petstore');
        s.version = await version(c, s.api, 'version-1');
        const apiDeployment = { endpointUri: 'https://pets.example.com' };
        s.deployment = named(await c.createApiDeployment({ parent: s.api, apiDeploymentId: 'prod', apiDeployment }));
      },
      recommended: async () => {
        const asked = { name: s.api, recommendedVersion: s.version, recommendedDeployment: s.deployment };
        const mask = { paths: ['recommended_version', 'recommended_deployment'] };
        const [changed] = await c.updateApi({ api: asked, updateMask: mask });
        assert.deepEqual([changed.recommendedVersion, changed.recommendedDeployment], [s.version, s.deployment]);
      },
      'kept so': async () => {
        const [read] = await c.getApi({ name: s.api });
        assert.deepEqual([read.recommendedVersion, read.recommendedDeployment], [s.version, s.deployment]);
      },
      'both are there': async () => {
        assert.equal((await c.getApiVersion({ name: s.version }))[0].displayName, 'version-1');
        assert.equal((await c.getApiDeployment({ name: s.deployment }))[0].endpointUri, 'https://pets.example.com');
      },
    }),

    'what is not there, and what is not right': (c, s) => ({
      'no such API': () => turned(c.getApi({ name: `${parent}/apis/no-such-api` }), notFound),
      'no such artifact to delete': () => turned(c.deleteArtifact({ name: `${parent}/artifacts/no-such` }), notFound),
      'no version of no API': () => turned(version(c, `${parent}/apis/no-such-api`, 'version-1'), notFound),
      'a name is there once': async () => {
        s.id = await api(c, 'only-once');
        await turned(c.createApi({ parent, apiId: 'only-once', api: { displayName: 'Again' } }), exists);
      },
      'an id is needed': () => turned(c.createApi({ parent, api: { displayName: 'Nameless' } }), invalid),
      'what it was is what it is': async () => assert.equal((await c.getApi({ name: s.id }))[0].displayName, 'only-once'),
    }),
  },
};
