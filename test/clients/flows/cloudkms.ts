import assert from 'node:assert/strict';
import { constants, createHash, createPublicKey, publicEncrypt, verify } from 'node:crypto';
import { auth, cloudkms_v1 } from 'googleapis/build/src/apis/cloudkms/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Kms = cloudkms_v1.Cloudkms;
const connect = (place: Place, token: string): Kms => {
  const signed = new auth.OAuth2();
  signed.setCredentials({ access_token: token });
  return new cloudkms_v1.Cloudkms({ rootUrl: `${place.url}/`, auth: signed, retry: false });
};

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | null | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const recent = (value: string | null | undefined, what: string): void => {
  const at = Date.parse(given(value, what));
  assert.ok(Math.abs(at - Date.now()) < 600_000, `${what} is ${value}`);
};
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const text = (value: string | null | undefined): string => Buffer.from(given(value, 'text'), 'base64').toString();

/** The checksum of the guide's "verifying end-to-end data integrity": CRC32C (Castagnoli), as a decimal number. */
const crc32c = (bytes: Uint8Array): string => {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return String((crc ^ 0xffffffff) >>> 0);
};

const project = 'projects/my-project';
const here = `${project}/locations/us-east1`;
const elsewhere = `${project}/locations/europe-west1`;

const ring = async (k: Kms, keyRingId: string, parent = here): Promise<string> => {
  const { data } = await k.projects.locations.keyRings.create({ parent, keyRingId, requestBody: {} });
  return given(data.name, 'name');
};
const rings = async (k: Kms, pageSize = 100, parent = here): Promise<string[]> => {
  const rows = await pages(
    async (from) =>
      (await k.projects.locations.keyRings.list({ parent, pageSize, ...(from !== undefined && { pageToken: from }) })).data,
    (page) => page.keyRings ?? [],
    (page) => page.nextPageToken || undefined,
  );
  return rows.map(({ name }) => given(name, 'name'));
};
type Key = cloudkms_v1.Schema$CryptoKey;
const symmetric: Key = { purpose: 'ENCRYPT_DECRYPT' };
const made = async (k: Kms, parent: string, cryptoKeyId: string, requestBody: Key = symmetric): Promise<Key> =>
  (await k.projects.locations.keyRings.cryptoKeys.create({ parent, cryptoKeyId, requestBody })).data;
const key = async (k: Kms, parent: string, cryptoKeyId: string, how: Key = symmetric): Promise<string> =>
  given((await made(k, parent, cryptoKeyId, how)).name, 'name');
const readKey = async (k: Kms, name: string): Promise<Key> => (await k.projects.locations.keyRings.cryptoKeys.get({ name })).data;
type Wish = Omit<cloudkms_v1.Params$Resource$Projects$Locations$Keyrings$Cryptokeys$List, 'parent'>;
const keys = async (k: Kms, parent: string, wish: Wish = {}): Promise<Key[]> =>
  pages(
    async (from) =>
      (await k.projects.locations.keyRings.cryptoKeys.list({ parent, ...wish, ...(from !== undefined && { pageToken: from }) }))
        .data,
    (page) => page.cryptoKeys ?? [],
    (page) => page.nextPageToken || undefined,
  );
const names = (rows: readonly { name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));

type Version = cloudkms_v1.Schema$CryptoKeyVersion;
const readVersion = async (k: Kms, name: string): Promise<Version> =>
  (await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.get({ name })).data;
const addVersion = async (k: Kms, parent: string): Promise<string> => {
  const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.create({ parent, requestBody: {} });
  return given(data.name, 'name');
};
const versions = async (k: Kms, parent: string, wish: Omit<Wish, 'versionView'> = {}): Promise<Version[]> =>
  pages(
    async (from) =>
      (
        await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.list({
          parent,
          ...wish,
          ...(from !== undefined && { pageToken: from }),
        })
      ).data,
    (page) => page.cryptoKeyVersions ?? [],
    (page) => page.nextPageToken || undefined,
  );
const turn = async (k: Kms, name: string, state: string): Promise<Version> =>
  (
    await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.patch({
      name,
      updateMask: 'state',
      requestBody: { state },
    })
  ).data;
/** What is still being generated is asked for until it is not, for two seconds. */
const ready = async <Row extends { state?: string | null }>(ask: () => Promise<Row>): Promise<Row> => {
  let row = await ask();
  for (let at = 0; at < 10 && row.state === 'PENDING_GENERATION'; at += 1) {
    await new Promise((done) => setTimeout(done, 200));
    row = await ask();
  }
  return row;
};

const encrypt = async (
  k: Kms,
  name: string,
  requestBody: cloudkms_v1.Schema$EncryptRequest,
): Promise<cloudkms_v1.Schema$EncryptResponse> =>
  (await k.projects.locations.keyRings.cryptoKeys.encrypt({ name, requestBody })).data;
const decrypt = async (
  k: Kms,
  name: string,
  requestBody: cloudkms_v1.Schema$DecryptRequest,
): Promise<cloudkms_v1.Schema$DecryptResponse> =>
  (await k.projects.locations.keyRings.cryptoKeys.decrypt({ name, requestBody })).data;
const publicKey = async (k: Kms, name: string): Promise<cloudkms_v1.Schema$PublicKey> =>
  (await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.getPublicKey({ name })).data;
const random = async (k: Kms, lengthBytes: number): Promise<cloudkms_v1.Schema$GenerateRandomBytesResponse> =>
  (await k.projects.locations.generateRandomBytes({ location: here, requestBody: { lengthBytes, protectionLevel: 'HSM' } })).data;

/** The certificate of an external key manager, signed by itself. */
const rawDer =
  'MIIBizCCATGgAwIBAgIUEtbqpQUIDthXBADFFk8jpHzSit8wCgYIKoZIzj0EAwIwGjEYMBYGA1UEAwwPZWttLmV4YW1wbGUuY29tMCAXDTI2MTEyODEyMDAyM1oYDzIxMjYxMTA0MTIwMDIzWjAaMRgwFgYDVQQDDA9la20uZXhhbXBsZS5jb20wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASPlzNnMRl0nVS325zIuk6c4qQC6+epA3B+OEPcz37G3WjcwwvslSerelswmVpzvIaMoan+1kKSF+htGV+eW33no1MwUTAdBgNVHQ4EFgQUw3RLtWdKlYNFoz5gVWLJgzVYhHMwHwYDVR0jBBgwFoAUw3RLtWdKlYNFoz5gVWLJgzVYhHMwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA4HJR03T7QEHs1mfyyntno6kQpQ+ZuuZUPHmdJwIuTOECIHaHg7bOUTezTHT6WjXr9KlKNexBG2bQk3aCMrKTw+oD';
const resolver = (hostname: string): cloudkms_v1.Schema$ServiceResolver => ({
  serviceDirectoryService: `${here}/namespaces/ekm/services/primary`,
  hostname,
  serverCertificates: [{ rawDer }],
});

/** Guide: cloud.google.com/kms/docs (key rings, rotation, states, encryption, signatures, MAC, import, EKM, IAM) and its REST reference. */
export const vendor: Vendor<Kms> = {
  document: 'cloudkms/cloudkms.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.a0AfH6SMBexampleexampleexample',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a key ring, which stays for good': (k, s) => ({
      made: async () => {
        const { data } = await k.projects.locations.keyRings.create({ parent: here, keyRingId: 'my-ring', requestBody: {} });
        assert.equal(data.name, `${here}/keyRings/my-ring`);
        recent(data.createTime, 'createTime');
        s.time = given(data.createTime, 'createTime');
      },
      read: async () => {
        const { data } = await k.projects.locations.keyRings.get({ name: `${here}/keyRings/my-ring` });
        assert.deepEqual([data.name, data.createTime], [`${here}/keyRings/my-ring`, s.time]);
      },
      'is in the list': async () => once(await rings(k), [`${here}/keyRings/my-ring`], 'rings'),
      'its name is taken': () => refused(ring(k, 'my-ring'), 409),
      'but not elsewhere': async () => {
        assert.equal(await ring(k, 'my-ring', elsewhere), `${elsewhere}/keyRings/my-ring`);
        once(await rings(k, 100, elsewhere), [`${elsewhere}/keyRings/my-ring`], 'rings');
        without(await rings(k), `${elsewhere}/keyRings/my-ring`);
      },
      'there is nothing in it': async () => assert.deepEqual(await keys(k, `${here}/keyRings/my-ring`), []),
      'one that is not there': () => refused(k.projects.locations.keyRings.get({ name: `${here}/keyRings/no-such-ring` }), 404),
    }),

    'key rings through all pages': (k) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) await ring(k, `page-${letter}`);
      },
      'no more on a page than asked for': async () => {
        const { data } = await k.projects.locations.keyRings.list({ parent: here, pageSize: 2 });
        assert.equal(given(data.keyRings, 'keyRings').length, 2);
        given(data.nextPageToken, 'nextPageToken');
      },
      'all of them, each once': async () => {
        const rows = await rings(k, 2);
        once(rows, [...new Set(rows), ...['a', 'b', 'c', 'd', 'e'].map((letter) => `${here}/keyRings/page-${letter}`)], 'rings');
      },
      'as many as it says': async () => {
        const { data } = await k.projects.locations.keyRings.list({ parent: here, pageSize: 2 });
        assert.equal(data.totalSize, (await rings(k, 2)).length);
      },
      'from the last name to the first': async () => {
        const { data } = await k.projects.locations.keyRings.list({ parent: here, pageSize: 100, orderBy: 'name desc' });
        const mine = names(data.keyRings ?? []).filter((name) => name.includes('/page-'));
        assert.deepEqual(
          mine.map((name) => name.slice(-1)),
          ['e', 'd', 'c', 'b', 'a'],
        );
      },
      'not from a page that never was': () =>
        refused(k.projects.locations.keyRings.list({ parent: here, pageToken: 'no-such-token' }), 400),
    }),

    'a key and what is changed of it': (k, s) => ({
      made: async () => {
        s.ring = await ring(k, 'key-ring');
        const data = await made(k, s.ring, 'my-key', { ...symmetric, labels: { team: 'alpha' } });
        assert.deepEqual(
          [data.name, data.purpose, data.labels],
          [`${s.ring}/cryptoKeys/my-key`, 'ENCRYPT_DECRYPT', { team: 'alpha' }],
        );
        s.key = given(data.name, 'name');
      },
      'it has a first version, its primary one': async () => {
        const { primary, versionTemplate } = await readKey(k, s.key);
        assert.deepEqual([primary?.name, primary?.state], [`${s.key}/cryptoKeyVersions/1`, 'ENABLED']);
        assert.deepEqual(
          [versionTemplate?.algorithm, versionTemplate?.protectionLevel],
          ['GOOGLE_SYMMETRIC_ENCRYPTION', 'SOFTWARE'],
        );
      },
      'its name is taken': () => refused(made(k, s.ring, 'my-key'), 409),
      'other labels': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.patch({
          name: s.key,
          updateMask: 'labels',
          requestBody: { labels: { team: 'beta', cost: '42' } },
        });
        assert.deepEqual(data.labels, { team: 'beta', cost: '42' });
        assert.deepEqual((await readKey(k, s.key)).labels, { team: 'beta', cost: '42' });
      },
      'it is rotated every ninety days': async () => {
        const nextRotationTime = new Date(Date.now() + 7 * 86_400_000).toISOString();
        await k.projects.locations.keyRings.cryptoKeys.patch({
          name: s.key,
          updateMask: 'rotationPeriod,nextRotationTime',
          requestBody: { rotationPeriod: '7776000s', nextRotationTime },
        });
        const read = await readKey(k, s.key);
        assert.equal(read.rotationPeriod, '7776000s');
        assert.equal(Date.parse(given(read.nextRotationTime, 'nextRotationTime')), Date.parse(nextRotationTime));
        assert.deepEqual(read.labels, { team: 'beta', cost: '42' });
      },
      'only what the mask names is changed': async () => {
        await k.projects.locations.keyRings.cryptoKeys.patch({
          name: s.key,
          updateMask: 'labels',
          requestBody: { labels: { team: 'gamma' }, rotationPeriod: '8640000s' },
        });
        const read = await readKey(k, s.key);
        assert.deepEqual([read.labels, read.rotationPeriod], [{ team: 'gamma' }, '7776000s']);
      },
      'not what it is for': async () => {
        await refused(
          k.projects.locations.keyRings.cryptoKeys.patch({
            name: s.key,
            updateMask: 'purpose',
            requestBody: { purpose: 'MAC' },
          }),
          400,
        );
        assert.equal((await readKey(k, s.key)).purpose, 'ENCRYPT_DECRYPT');
      },
      'is in the list': async () => once(names(await keys(k, s.ring)), [s.key], 'keys'),
    }),

    'keys of a ring, some of them and all': (k, s) => ({
      'four in one ring, one in another': async () => {
        s.ring = await ring(k, 'some-keys');
        s.other = await ring(k, 'other-keys');
        s.a = await key(k, s.ring, 'a', { ...symmetric, labels: { stage: 'live' } });
        s.b = await key(k, s.ring, 'b', {
          purpose: 'ASYMMETRIC_SIGN',
          versionTemplate: { algorithm: 'EC_SIGN_P256_SHA256', protectionLevel: 'SOFTWARE' },
        });
        s.c = await key(k, s.ring, 'c', { ...symmetric, labels: { stage: 'test' } });
        s.d = await key(k, s.ring, 'd', {
          purpose: 'MAC',
          versionTemplate: { algorithm: 'HMAC_SHA256', protectionLevel: 'SOFTWARE' },
        });
        s.e = await key(k, s.other, 'a');
      },
      'no more on a page than asked for': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.list({ parent: s.ring, pageSize: 3 });
        assert.equal(given(data.cryptoKeys, 'cryptoKeys').length, 3);
        given(data.nextPageToken, 'nextPageToken');
      },
      'all of the ring, and none of the other': async () => {
        const rows = names(await keys(k, s.ring, { pageSize: 1 }));
        once(rows, [s.a, s.b, s.c, s.d], 'keys');
        without(rows, s.e);
      },
      'those that encrypt': async () => {
        const rows = names(await keys(k, s.ring, { filter: 'purpose=ENCRYPT_DECRYPT' }));
        once(rows, [s.a, s.c], 'keys');
        without(rows, s.b);
        without(rows, s.d);
      },
      'those with a label': async () => {
        const rows = names(await keys(k, s.ring, { filter: 'labels.stage=live' }));
        once(rows, [s.a], 'keys');
        without(rows, s.c);
      },
      'from the last to the first': async () => {
        const rows = names(await keys(k, s.ring, { orderBy: 'name desc' }));
        assert.deepEqual(
          rows.filter((name) => [s.a, s.b, s.c, s.d].includes(name)),
          [s.d, s.c, s.b, s.a],
        );
      },
      'only those that encrypt have a primary version': async () => {
        assert.equal((await readKey(k, s.a)).primary?.name, `${s.a}/cryptoKeyVersions/1`);
        assert.equal((await readKey(k, s.b)).primary ?? undefined, undefined);
        assert.equal((await readKey(k, s.d)).primary ?? undefined, undefined);
      },
    }),

    'a key of several versions': (k, s) => ({
      'a key': async () => {
        s.key = await key(k, await ring(k, 'version-ring'), 'versioned');
      },
      'two more versions': async () => {
        s.two = await addVersion(k, s.key);
        s.three = await addVersion(k, s.key);
        assert.deepEqual([s.two, s.three], [`${s.key}/cryptoKeyVersions/2`, `${s.key}/cryptoKeyVersions/3`]);
      },
      'one is read': async () => {
        const read = await ready(() => readVersion(k, s.two));
        assert.deepEqual(
          [read.name, read.state, read.algorithm, read.protectionLevel],
          [s.two, 'ENABLED', 'GOOGLE_SYMMETRIC_ENCRYPTION', 'SOFTWARE'],
        );
        recent(read.createTime, 'createTime');
      },
      'the first is still the primary one': async () =>
        assert.equal((await readKey(k, s.key)).primary?.name, `${s.key}/cryptoKeyVersions/1`),
      'all of them, each once': async () =>
        once(names(await versions(k, s.key, { pageSize: 1 })), [`${s.key}/cryptoKeyVersions/1`, s.two, s.three], 'versions'),
      'the second becomes the primary one': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.updatePrimaryVersion({
          name: s.key,
          requestBody: { cryptoKeyVersionId: '2' },
        });
        assert.deepEqual([data.name, data.primary?.name], [s.key, s.two]);
        assert.equal((await readKey(k, s.key)).primary?.name, s.two);
      },
      'one that is not there does not': async () => {
        await refused(
          k.projects.locations.keyRings.cryptoKeys.updatePrimaryVersion({
            name: s.key,
            requestBody: { cryptoKeyVersionId: '9' },
          }),
          404,
          400,
        );
        assert.equal((await readKey(k, s.key)).primary?.name, s.two);
      },
      'a key can have none at first': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.create({
          parent: `${here}/keyRings/version-ring`,
          cryptoKeyId: 'empty',
          skipInitialVersionCreation: true,
          requestBody: symmetric,
        });
        assert.equal(data.primary ?? undefined, undefined);
        assert.deepEqual(await versions(k, given(data.name, 'name')), []);
        assert.equal(await addVersion(k, given(data.name, 'name')), `${data.name}/cryptoKeyVersions/1`);
      },
    }),

    'the states of a version': (k, s) => ({
      'a version of a key that is quick to be destroyed': async () => {
        const how = { ...symmetric, destroyScheduledDuration: '172800s' };
        s.key = await key(k, await ring(k, 'state-ring'), 'stated', how);
        assert.equal((await readKey(k, s.key)).destroyScheduledDuration, '172800s');
        s.one = `${s.key}/cryptoKeyVersions/1`;
        s.two = await addVersion(k, s.key);
        assert.equal((await ready(() => readVersion(k, s.two))).state, 'ENABLED');
      },
      'disabled, and enabled': async () => {
        assert.equal((await turn(k, s.two, 'DISABLED')).state, 'DISABLED');
        assert.equal((await readVersion(k, s.two)).state, 'DISABLED');
        assert.equal((await turn(k, s.two, 'ENABLED')).state, 'ENABLED');
      },
      'what is enabled is not restored': () =>
        refused(k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.restore({ name: s.two, requestBody: {} }), 400),
      'to be destroyed in two days': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.destroy({
          name: s.two,
          requestBody: {},
        });
        assert.equal(data.state, 'DESTROY_SCHEDULED');
        const days = (Date.parse(given(data.destroyTime, 'destroyTime')) - Date.now()) / 86_400_000;
        assert.ok(days > 1.9 && days < 2.1, `in ${days} days, not in 2`);
      },
      'it is neither enabled nor destroyed again': async () => {
        await refused(turn(k, s.two, 'ENABLED'), 400);
        await refused(k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.destroy({ name: s.two, requestBody: {} }), 400);
        assert.equal((await readVersion(k, s.two)).state, 'DESTROY_SCHEDULED');
      },
      'versions by their state': async () => {
        const rows = names(await versions(k, s.key, { filter: 'state=ENABLED' }));
        once(rows, [s.one], 'versions');
        without(rows, s.two);
        once(names(await versions(k, s.key, { filter: 'state=DESTROY_SCHEDULED' })), [s.two], 'versions');
      },
      'restored, it is disabled': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.restore({
          name: s.two,
          requestBody: {},
        });
        assert.deepEqual([data.state, data.destroyTime ?? undefined], ['DISABLED', undefined]);
        const read = await readVersion(k, s.two);
        assert.deepEqual([read.state, read.destroyTime ?? undefined], ['DISABLED', undefined]);
      },
      'enabled at last': async () => {
        await turn(k, s.two, 'ENABLED');
        once(names(await versions(k, s.key, { filter: 'state=ENABLED' })), [s.one, s.two], 'versions');
      },
    }),

    'what is encrypted and decrypted': (k, s) => ({
      'two keys': async () => {
        const parent = await ring(k, 'secret-ring');
        s.key = await key(k, parent, 'secret');
        s.other = await key(k, parent, 'other');
      },
      encrypted: async () => {
        const data = await encrypt(k, s.key, { plaintext: base64('my secret') });
        assert.deepEqual([data.name, data.protectionLevel], [`${s.key}/cryptoKeyVersions/1`, 'SOFTWARE']);
        s.cipher = given(data.ciphertext, 'ciphertext');
        assert.ok(!text(s.cipher).includes('my secret'), 'it can be read');
      },
      decrypted: async () => {
        const data = await decrypt(k, s.key, { ciphertext: s.cipher });
        assert.deepEqual([text(data.plaintext), data.usedPrimary], ['my secret', true]);
      },
      'not by another key, nor when it was changed': async () => {
        await refused(decrypt(k, s.other, { ciphertext: s.cipher }), 400);
        const bytes = Buffer.from(s.cipher, 'base64');
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
        await refused(decrypt(k, s.key, { ciphertext: bytes.toString('base64') }), 400);
      },
      'together with what is known': async () => {
        const additionalAuthenticatedData = base64('for Alice');
        const { ciphertext } = await encrypt(k, s.key, { plaintext: base64('her secret'), additionalAuthenticatedData });
        s.aad = given(ciphertext, 'ciphertext');
        const data = await decrypt(k, s.key, { ciphertext: s.aad, additionalAuthenticatedData });
        assert.equal(text(data.plaintext), 'her secret');
      },
      'and not without it, or with something else': async () => {
        await refused(decrypt(k, s.key, { ciphertext: s.aad }), 400);
        await refused(decrypt(k, s.key, { ciphertext: s.aad, additionalAuthenticatedData: base64('for Bob') }), 400);
      },
      'with a right checksum, which comes back': async () => {
        const data = await encrypt(k, s.key, {
          plaintext: base64('checked'),
          plaintextCrc32c: crc32c(Buffer.from('checked')),
        });
        assert.equal(data.verifiedPlaintextCrc32c, true);
        s.checked = given(data.ciphertext, 'ciphertext');
        assert.equal(data.ciphertextCrc32c, crc32c(Buffer.from(s.checked, 'base64')));
        const back = await decrypt(k, s.key, {
          ciphertext: s.checked,
          ciphertextCrc32c: given(data.ciphertextCrc32c, 'checksum'),
        });
        assert.deepEqual([text(back.plaintext), back.plaintextCrc32c], ['checked', crc32c(Buffer.from('checked'))]);
      },
      'with a wrong checksum': async () => {
        const plaintextCrc32c = crc32c(Buffer.from('else'));
        await refused(encrypt(k, s.key, { plaintext: base64('checked'), plaintextCrc32c }), 400);
        await refused(decrypt(k, s.key, { ciphertext: s.checked, ciphertextCrc32c: '12345' }), 400);
      },
      'no more than 64 KiB': () => refused(encrypt(k, s.key, { plaintext: base64('x'.repeat(65_537)) }), 400),
    }),

    'a key is rotated': (k, s) => ({
      'something is encrypted with the first version': async () => {
        s.key = await key(k, await ring(k, 'rotate-ring'), 'rotated');
        s.one = `${s.key}/cryptoKeyVersions/1`;
        s.cipher = given((await encrypt(k, s.key, { plaintext: base64('of old') })).ciphertext, 'ciphertext');
      },
      'a second one becomes the primary one': async () => {
        s.two = await addVersion(k, s.key);
        await ready(() => readVersion(k, s.two));
        await k.projects.locations.keyRings.cryptoKeys.updatePrimaryVersion({
          name: s.key,
          requestBody: { cryptoKeyVersionId: '2' },
        });
      },
      'what is new is encrypted with that': async () => {
        const data = await encrypt(k, s.key, { plaintext: base64('of new') });
        assert.equal(data.name, s.two);
        const back = await decrypt(k, s.key, { ciphertext: given(data.ciphertext, 'ciphertext') });
        assert.deepEqual([text(back.plaintext), back.usedPrimary], ['of new', true]);
      },
      'what is old can still be read': async () => {
        const back = await decrypt(k, s.key, { ciphertext: s.cipher });
        assert.deepEqual([text(back.plaintext), back.usedPrimary ?? false], ['of old', false]);
      },
      'by naming a version, one encrypts with it': async () =>
        assert.equal((await encrypt(k, s.one, { plaintext: base64('of old') })).name, s.one),
      'not when the first is disabled': async () => {
        await turn(k, s.one, 'DISABLED');
        await refused(decrypt(k, s.key, { ciphertext: s.cipher }), 400);
        await refused(encrypt(k, s.one, { plaintext: base64('of old') }), 400);
      },
      'again when it is enabled': async () => {
        await turn(k, s.one, 'ENABLED');
        assert.equal(text((await decrypt(k, s.key, { ciphertext: s.cipher })).plaintext), 'of old');
      },
      'nothing is encrypted when the primary one is disabled': async () => {
        await turn(k, s.two, 'DISABLED');
        await refused(encrypt(k, s.key, { plaintext: base64('never') }), 400);
        assert.equal((await readKey(k, s.key)).primary?.state, 'DISABLED');
      },
    }),

    'a key that signs': (k, s) => ({
      'a key of an elliptic curve': async () => {
        const versionTemplate = { algorithm: 'EC_SIGN_P256_SHA256', protectionLevel: 'SOFTWARE' };
        s.key = await key(k, await ring(k, 'sign-ring'), 'signing', { purpose: 'ASYMMETRIC_SIGN', versionTemplate });
        s.one = `${s.key}/cryptoKeyVersions/1`;
        const read = await ready(() => readVersion(k, s.one));
        assert.deepEqual([read.state, read.algorithm], ['ENABLED', 'EC_SIGN_P256_SHA256']);
      },
      'its public half': async () => {
        const data = await publicKey(k, s.one);
        assert.deepEqual([data.name, data.algorithm, data.protectionLevel], [s.one, 'EC_SIGN_P256_SHA256', 'SOFTWARE']);
        s.pem = given(data.pem, 'pem');
        assert.match(s.pem, /^-----BEGIN PUBLIC KEY-----\n/);
        assert.equal(createPublicKey(s.pem).asymmetricKeyType, 'ec');
        assert.equal(data.pemCrc32c, crc32c(Buffer.from(s.pem)));
      },
      'a digest is signed': async () => {
        const sha256 = createHash('sha256').update('to be signed').digest('base64');
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.asymmetricSign({
          name: s.one,
          requestBody: { digest: { sha256 } },
        });
        assert.equal(data.name, s.one);
        s.signature = given(data.signature, 'signature');
      },
      'the signature is right': () => {
        assert.ok(verify('sha256', Buffer.from('to be signed'), s.pem, Buffer.from(s.signature, 'base64')), 'it is wrong');
        assert.ok(!verify('sha256', Buffer.from('something else'), s.pem, Buffer.from(s.signature, 'base64')), 'of anything');
        return Promise.resolve();
      },
      'not a digest of another kind': () => {
        const sha512 = createHash('sha512').update('to be signed').digest('base64');
        return refused(
          k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.asymmetricSign({
            name: s.one,
            requestBody: { digest: { sha512 } },
          }),
          400,
        );
      },
      'it encrypts nothing': () => refused(encrypt(k, s.key, { plaintext: base64('secret') }), 400),
      'nothing is signed when it is disabled': async () => {
        await turn(k, s.one, 'DISABLED');
        const sha256 = createHash('sha256').update('late').digest('base64');
        await refused(
          k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.asymmetricSign({
            name: s.one,
            requestBody: { digest: { sha256 } },
          }),
          400,
        );
      },
    }),

    'a key for what others encrypt': (k, s) => ({
      'an RSA key': async () => {
        const versionTemplate = { algorithm: 'RSA_DECRYPT_OAEP_2048_SHA256', protectionLevel: 'SOFTWARE' };
        s.key = await key(k, await ring(k, 'rsa-ring'), 'private', { purpose: 'ASYMMETRIC_DECRYPT', versionTemplate });
        s.one = `${s.key}/cryptoKeyVersions/1`;
        const read = await ready(() => readVersion(k, s.one));
        assert.deepEqual([read.state, read.algorithm], ['ENABLED', 'RSA_DECRYPT_OAEP_2048_SHA256']);
      },
      'its public half': async () => {
        const data = await publicKey(k, s.one);
        assert.equal(data.algorithm, 'RSA_DECRYPT_OAEP_2048_SHA256');
        s.pem = given(data.pem, 'pem');
        const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(s.pem);
        assert.deepEqual([asymmetricKeyType, asymmetricKeyDetails?.modulusLength], ['rsa', 2048]);
      },
      'what is encrypted with that is decrypted': async () => {
        const how = { key: s.pem, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
        const ciphertext = publicEncrypt(how, Buffer.from('for you alone')).toString('base64');
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.asymmetricDecrypt({
          name: s.one,
          requestBody: { ciphertext },
        });
        assert.equal(text(data.plaintext), 'for you alone');
      },
      'what is not encrypted is not decrypted': () =>
        refused(
          k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.asymmetricDecrypt({
            name: s.one,
            requestBody: { ciphertext: base64('nothing at all') },
          }),
          400,
        ),
      'it has no primary version': async () => {
        await refused(
          k.projects.locations.keyRings.cryptoKeys.updatePrimaryVersion({
            name: s.key,
            requestBody: { cryptoKeyVersionId: '1' },
          }),
          400,
        );
        assert.equal((await readKey(k, s.key)).primary ?? undefined, undefined);
      },
      'a key that encrypts by itself has no public half': async () => {
        const name = await key(k, `${here}/keyRings/rsa-ring`, 'symmetric');
        await refused(publicKey(k, `${name}/cryptoKeyVersions/1`), 400);
      },
    }),

    'codes that authenticate a message': (k, s) => ({
      'a key': async () => {
        const versionTemplate = { algorithm: 'HMAC_SHA256', protectionLevel: 'SOFTWARE' };
        const name = await key(k, await ring(k, 'mac-ring'), 'mac', { purpose: 'MAC', versionTemplate });
        s.one = `${name}/cryptoKeyVersions/1`;
        assert.equal((await ready(() => readVersion(k, s.one))).algorithm, 'HMAC_SHA256');
      },
      'a code is made': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.macSign({
          name: s.one,
          requestBody: { data: base64('a message') },
        });
        assert.equal(data.name, s.one);
        s.mac = given(data.mac, 'mac');
        assert.equal(Buffer.from(s.mac, 'base64').length, 32);
      },
      'the same one again': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.macSign({
          name: s.one,
          requestBody: { data: base64('a message') },
        });
        assert.equal(data.mac, s.mac);
      },
      'it is right': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.macVerify({
          name: s.one,
          requestBody: { data: base64('a message'), mac: s.mac },
        });
        assert.deepEqual([data.name, data.success], [s.one, true]);
      },
      'but not of another message': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.macVerify({
          name: s.one,
          requestBody: { data: base64('another message'), mac: s.mac },
        });
        assert.equal(data.success ?? false, false);
      },
      'not by a version that is disabled': async () => {
        await turn(k, s.one, 'DISABLED');
        await refused(
          k.projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.macSign({
            name: s.one,
            requestBody: { data: base64('a message') },
          }),
          400,
        );
      },
    }),

    'a job that imports': (k, s) => ({
      made: async () => {
        s.ring = await ring(k, 'import-ring');
        const { data } = await k.projects.locations.keyRings.importJobs.create({
          parent: s.ring,
          importJobId: 'my-job',
          requestBody: { importMethod: 'RSA_OAEP_3072_SHA256_AES_256', protectionLevel: 'HSM' },
        });
        s.job = given(data.name, 'name');
        assert.equal(s.job, `${s.ring}/importJobs/my-job`);
        oneOf(data.state, 'PENDING_GENERATION', 'ACTIVE');
        recent(data.createTime, 'createTime');
      },
      read: async () => {
        const { data } = await k.projects.locations.keyRings.importJobs.get({ name: s.job });
        assert.deepEqual([data.name, data.importMethod, data.protectionLevel], [s.job, 'RSA_OAEP_3072_SHA256_AES_256', 'HSM']);
      },
      'active, it has a key to wrap with': async () => {
        const job = await ready(async () => (await k.projects.locations.keyRings.importJobs.get({ name: s.job })).data);
        oneOf(job.state, 'PENDING_GENERATION', 'ACTIVE');
        if (job.state === 'ACTIVE') {
          assert.match(given(job.publicKey?.pem, 'pem'), /^-----BEGIN PUBLIC KEY-----/);
          const days = (Date.parse(given(job.expireTime, 'expireTime')) - Date.now()) / 86_400_000;
          assert.ok(days > 2.9 && days < 3.1, `it expires in ${days} days, not in 3`);
        }
      },
      'its name is taken': () =>
        refused(
          k.projects.locations.keyRings.importJobs.create({
            parent: s.ring,
            importJobId: 'my-job',
            requestBody: { importMethod: 'RSA_OAEP_3072_SHA256_AES_256', protectionLevel: 'HSM' },
          }),
          409,
        ),
      'three of them, each once': async () => {
        for (const importJobId of ['job-2', 'job-3']) {
          await k.projects.locations.keyRings.importJobs.create({
            parent: s.ring,
            importJobId,
            requestBody: { importMethod: 'RSA_OAEP_4096_SHA256', protectionLevel: 'SOFTWARE' },
          });
        }
        const rows = await pages(
          async (from) =>
            (
              await k.projects.locations.keyRings.importJobs.list({
                parent: s.ring,
                pageSize: 1,
                ...(from !== undefined && { pageToken: from }),
              })
            ).data,
          (page) => page.importJobs ?? [],
          (page) => page.nextPageToken || undefined,
        );
        once(names(rows), [s.job, `${s.ring}/importJobs/job-2`, `${s.ring}/importJobs/job-3`], 'jobs');
      },
      'not without a method': () =>
        refused(
          k.projects.locations.keyRings.importJobs.create({
            parent: s.ring,
            importJobId: 'wrong',
            requestBody: { protectionLevel: 'HSM' },
          }),
          400,
        ),
      'one that is not there': () =>
        refused(k.projects.locations.keyRings.importJobs.get({ name: `${s.ring}/importJobs/no-such-job` }), 404),
      'a key that only takes what is imported': async () => {
        const { data } = await k.projects.locations.keyRings.cryptoKeys.create({
          parent: s.ring,
          cryptoKeyId: 'imported',
          skipInitialVersionCreation: true,
          requestBody: { ...symmetric, importOnly: true },
        });
        assert.equal(data.importOnly, true);
        await refused(addVersion(k, given(data.name, 'name')), 400);
      },
    }),

    'a connection to keys that are kept outside': (k, s) => ({
      made: async () => {
        const { data } = await k.projects.locations.ekmConnections.create({
          parent: here,
          ekmConnectionId: 'my-ekm',
          requestBody: { serviceResolvers: [resolver('ekm.example.com')] },
        });
        s.name = given(data.name, 'name');
        assert.equal(s.name, `${here}/ekmConnections/my-ekm`);
        recent(data.createTime, 'createTime');
        given(data.etag, 'etag');
      },
      read: async () => {
        const { data } = await k.projects.locations.ekmConnections.get({ name: s.name });
        const [first] = given(data.serviceResolvers, 'serviceResolvers');
        assert.deepEqual(
          [data.name, first?.hostname, first?.serviceDirectoryService, first?.serverCertificates?.[0]?.rawDer],
          [s.name, 'ekm.example.com', `${here}/namespaces/ekm/services/primary`, rawDer],
        );
        assert.equal(data.keyManagementMode ?? 'MANUAL', 'MANUAL');
      },
      'its name is taken': () =>
        refused(
          k.projects.locations.ekmConnections.create({
            parent: here,
            ekmConnectionId: 'my-ekm',
            requestBody: { serviceResolvers: [resolver('ekm.example.com')] },
          }),
          409,
        ),
      'another host': async () => {
        await k.projects.locations.ekmConnections.patch({
          name: s.name,
          updateMask: 'serviceResolvers',
          requestBody: { serviceResolvers: [resolver('ekm2.example.com')] },
        });
        const { data } = await k.projects.locations.ekmConnections.get({ name: s.name });
        assert.deepEqual(
          data.serviceResolvers?.map(({ hostname }) => hostname),
          ['ekm2.example.com'],
        );
      },
      'a second one, and both are listed': async () => {
        await k.projects.locations.ekmConnections.create({
          parent: here,
          ekmConnectionId: 'second-ekm',
          requestBody: { serviceResolvers: [resolver('ekm.example.com')] },
        });
        const rows = await pages(
          async (from) =>
            (
              await k.projects.locations.ekmConnections.list({
                parent: here,
                pageSize: 1,
                ...(from !== undefined && { pageToken: from }),
              })
            ).data,
          (page) => page.ekmConnections ?? [],
          (page) => page.nextPageToken || undefined,
        );
        once(names(rows), [s.name, `${here}/ekmConnections/second-ekm`], 'connections');
      },
      'one that is not there': async () => {
        const name = `${here}/ekmConnections/no-such-ekm`;
        await refused(k.projects.locations.ekmConnections.get({ name }), 404);
        await refused(
          k.projects.locations.ekmConnections.patch({
            name,
            updateMask: 'serviceResolvers',
            requestBody: { serviceResolvers: [resolver('ekm.example.com')] },
          }),
          404,
        );
      },
    }),

    'who may use a ring and a key': (k, s) => ({
      'nobody in particular, at first': async () => {
        s.ring = await ring(k, 'policy-ring');
        s.key = await key(k, s.ring, 'policy-key');
        const { data } = await k.projects.locations.keyRings.getIamPolicy({ resource: s.ring });
        assert.deepEqual(data.bindings ?? [], []);
        s.first = given(data.etag, 'etag');
      },
      'somebody may look at the ring': async () => {
        const bindings = [{ role: 'roles/cloudkms.viewer', members: ['user:alice@example.com'] }];
        const { data } = await k.projects.locations.keyRings.setIamPolicy({
          resource: s.ring,
          requestBody: { policy: { bindings, etag: s.first } },
        });
        assert.deepEqual(data.bindings, bindings);
        s.second = given(data.etag, 'etag');
        assert.notEqual(s.second, s.first);
      },
      'read as it is now': async () => {
        const { data } = await k.projects.locations.keyRings.getIamPolicy({ resource: s.ring });
        assert.deepEqual(data.bindings, [{ role: 'roles/cloudkms.viewer', members: ['user:alice@example.com'] }]);
        assert.equal(data.etag, s.second);
      },
      'not by who has not seen it': async () => {
        const bindings = [{ role: 'roles/cloudkms.admin', members: ['user:mallory@example.com'] }];
        await refused(
          k.projects.locations.keyRings.setIamPolicy({
            resource: s.ring,
            requestBody: { policy: { bindings, etag: s.first } },
          }),
          409,
        );
        assert.equal((await k.projects.locations.keyRings.getIamPolicy({ resource: s.ring })).data.etag, s.second);
      },
      'the key has a policy of its own': async () => {
        const before = await k.projects.locations.keyRings.cryptoKeys.getIamPolicy({ resource: s.key });
        assert.deepEqual(before.data.bindings ?? [], []);
        const member = 'serviceAccount:app@my-project.iam.gserviceaccount.com';
        const bindings = [{ role: 'roles/cloudkms.cryptoKeyEncrypterDecrypter', members: [member] }];
        await k.projects.locations.keyRings.cryptoKeys.setIamPolicy({
          resource: s.key,
          requestBody: { policy: { bindings } },
        });
        const after = await k.projects.locations.keyRings.cryptoKeys.getIamPolicy({ resource: s.key });
        assert.deepEqual(after.data.bindings, bindings);
      },
      'what one may do oneself': async () => {
        const permissions = ['cloudkms.keyRings.get', 'cloudkms.cryptoKeys.create'];
        const { data } = await k.projects.locations.keyRings.testIamPermissions({
          resource: s.ring,
          requestBody: { permissions },
        });
        assert.deepEqual(data.permissions?.toSorted(), permissions.toSorted());
      },
      'nobody again': async () => {
        await k.projects.locations.keyRings.setIamPolicy({ resource: s.ring, requestBody: { policy: { bindings: [] } } });
        const { data } = await k.projects.locations.keyRings.getIamPolicy({ resource: s.ring });
        assert.deepEqual(data.bindings ?? [], []);
      },
      'no policy of what is not there': () =>
        refused(k.projects.locations.keyRings.getIamPolicy({ resource: `${here}/keyRings/no-such-ring` }), 404),
    }),

    'a credential that is refused': (k, s, another) => ({
      'a ring and a key': async () => {
        s.ring = await ring(k, 'guarded-ring');
        s.key = await key(k, s.ring, 'guarded-key');
        s.cipher = given((await encrypt(k, s.key, { plaintext: base64('guarded') })).ciphertext, 'ciphertext');
      },
      'neither read by another': async () => {
        await refused(another('a-wrong-token').projects.locations.keyRings.get({ name: s.ring }), 401);
        await refused(readKey(another('a-wrong-token'), s.key), 401);
      },
      'nor listed by another': async () => {
        await refused(rings(another('a-wrong-token')), 401);
        await refused(keys(another('a-wrong-token'), s.ring), 401);
      },
      'nothing made by another': () => refused(ring(another('a-wrong-token'), 'intruder-ring'), 401),
      'nothing decrypted by another': () => refused(decrypt(another('a-wrong-token'), s.key, { ciphertext: s.cipher }), 401),
      'nothing destroyed by another': () =>
        refused(
          another('a-wrong-token').projects.locations.keyRings.cryptoKeys.cryptoKeyVersions.destroy({
            name: `${s.key}/cryptoKeyVersions/1`,
            requestBody: {},
          }),
          401,
        ),
      'all is as it was': async () => {
        const rows = await rings(k);
        once(rows, [s.ring], 'rings');
        without(rows, `${here}/keyRings/intruder-ring`);
        assert.equal((await readVersion(k, `${s.key}/cryptoKeyVersions/1`)).state, 'ENABLED');
      },
    }),

    'random bytes, wrong requests, and what is not there': (k, s) => ({
      'as many bytes as asked for': async () => {
        const { data } = await random(k, 64);
        assert.equal(Buffer.from(given(data, 'data'), 'base64').length, 64);
        assert.notEqual((await random(k, 64)).data, data);
      },
      'not fewer than 8, nor more than 1024': async () => {
        await refused(random(k, 7), 400);
        await refused(random(k, 1025), 400);
      },
      'a ring of forbidden letters': async () => {
        await refused(ring(k, 'no spaces here'), 400);
        without(await rings(k), `${here}/keyRings/no spaces here`);
      },
      'a key of no use, and one of the wrong algorithm': async () => {
        s.ring = await ring(k, 'wrong-ring');
        await refused(made(k, s.ring, 'wrong', {}), 400);
        await refused(made(k, s.ring, 'wrong', { ...symmetric, versionTemplate: { algorithm: 'EC_SIGN_P256_SHA256' } }), 400);
        without(names(await keys(k, s.ring)), `${s.ring}/cryptoKeys/wrong`);
      },
      'a key that is rotated every hour': () => {
        const nextRotationTime = new Date(Date.now() + 86_400_000).toISOString();
        return refused(made(k, s.ring, 'hourly', { ...symmetric, rotationPeriod: '3600s', nextRotationTime }), 400);
      },
      'no key in a ring that is not there': () => refused(made(k, `${here}/keyRings/no-such-ring`, 'lost'), 404),
      'what is not there is not read': async () => {
        await refused(readKey(k, `${s.ring}/cryptoKeys/no-such-key`), 404);
        const name = await key(k, s.ring, 'right');
        await refused(readVersion(k, `${name}/cryptoKeyVersions/99`), 404);
      },
      'nor changed, nor used': async () => {
        const name = `${s.ring}/cryptoKeys/no-such-key`;
        await refused(
          k.projects.locations.keyRings.cryptoKeys.patch({
            name,
            updateMask: 'labels',
            requestBody: { labels: { team: 'alpha' } },
          }),
          404,
        );
        await refused(encrypt(k, name, { plaintext: base64('lost') }), 404);
      },
      'a change that does not say of what': () =>
        refused(
          k.projects.locations.keyRings.cryptoKeys.patch({
            name: `${s.ring}/cryptoKeys/right`,
            requestBody: { labels: { team: 'alpha' } },
          }),
          400,
        ),
    }),
  },
};
