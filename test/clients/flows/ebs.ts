import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EBS, paginateListChangedBlocks, paginateListSnapshotBlocks } from '@aws-sdk/client-ebs';
import { gather, given, once, type Place, refused, type State, statusOf, type Vendor } from '../kit.ts';

/**
 * The token is an access key's id; the client signs with it (version 4). What the client throws keeps its status below
 * `$metadata`: it is put beside the message too.
 */
const connect = (place: Place, token: string): EBS => {
  const accessKeyId = /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token;
  const client = new EBS({
    endpoint: place.base,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    maxAttempts: 1,
  });
  client.middlewareStack.add(
    (next) => async (sent) => {
      try {
        return await next(sent);
      } catch (thrown) {
        const status = (thrown as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status !== undefined) Object.defineProperty(thrown as object, 'status', { value: status, enumerable: true });
        throw thrown;
      }
    },
    { step: 'initialize', name: 'status beside the message' },
  );
  return client;
};

/** ValidationException is a 400 by the guide, and a 481 by the description. */
const invalid = (call: Promise<unknown>): Promise<unknown> => refused(call, 400, 481);
/** ResourceNotFoundException is a 404 by the guide; by the description a 482, and a 483 where a snapshot is started. */
const absent = (call: Promise<unknown>, described = 482): Promise<unknown> => refused(call, 404, described);
/** AccessDeniedException is a 403 by the guide, as is a key that is not known, and a 480 by the description. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403, 480);

const missing = 'snap-0dead0beef0dead00';
const keyArn = 'arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab';
/** All blocks have this length, by the guide. */
const BlockSize = 524_288;
/** What is in a block: a text, again and again. */
const data = (text: string): Uint8Array => Uint8Array.from(Buffer.alloc(BlockSize, text));
const digest = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const sha256 = (bytes: Uint8Array): string => digest(bytes).toString('base64');

const start = async (e: EBS, VolumeSize = 1, ParentSnapshotId?: string): Promise<string> => {
  const made = await e.startSnapshot({ VolumeSize, ...(ParentSnapshotId && { ParentSnapshotId }) });
  return given(made.SnapshotId, 'SnapshotId');
};
const putting = (SnapshotId: string, BlockIndex: number, text: string) => {
  const BlockData = data(text);
  return {
    SnapshotId,
    BlockIndex,
    BlockData,
    DataLength: BlockSize,
    Checksum: sha256(BlockData),
    ChecksumAlgorithm: 'SHA256' as const,
  };
};
const put = async (e: EBS, snapshot: string, index: number, text: string): Promise<unknown> =>
  e.putSnapshotBlock(putting(snapshot, index, text));
/** A snapshot that is sealed is completed after a while: until then its blocks cannot be listed. */
const complete = async (e: EBS, SnapshotId: string, ChangedBlocksCount: number): Promise<void> => {
  const { Status } = await e.completeSnapshot({ SnapshotId, ChangedBlocksCount });
  assert.ok(Status === 'pending' || Status === 'completed', `it is ${Status}`);
  for (let turn = 0; turn < 30; turn += 1) {
    try {
      await e.listSnapshotBlocks({ SnapshotId });
      return;
    } catch (thrown) {
      const status = statusOf(thrown) ?? 500;
      if (status >= 500) throw thrown;
    }
    await new Promise((done) => setTimeout(done, 400));
  }
  throw new Error('it is not completed after twelve seconds');
};
/** A snapshot with these blocks, completed. */
const snapshot = async (e: EBS, blocks: Readonly<Record<number, string>>, parent?: string): Promise<string> => {
  const id = await start(e, 1, parent);
  for (const [index, text] of Object.entries(blocks)) await put(e, id, Number(index), text);
  await complete(e, id, Object.keys(blocks).length);
  return id;
};
type From = { StartingBlockIndex?: number; MaxResults?: number };
const blocks = async (e: EBS, SnapshotId: string, from: From = {}) => {
  const walk = paginateListSnapshotBlocks({ client: e }, { SnapshotId, ...from });
  const rows = await gather(walk, ({ Blocks }) => Blocks ?? []);
  return rows.map(({ BlockIndex, BlockToken }) => ({
    index: given(BlockIndex, 'BlockIndex'),
    token: given(BlockToken, 'BlockToken'),
  }));
};
const indexes = async (e: EBS, id: string, from: From = {}): Promise<number[]> =>
  (await blocks(e, id, from)).map(({ index }) => index);
const changed = async (e: EBS, FirstSnapshotId: string, SecondSnapshotId: string, from: From = {}) =>
  gather(
    paginateListChangedBlocks({ client: e }, { FirstSnapshotId, SecondSnapshotId, ...from }),
    ({ ChangedBlocks }) => ChangedBlocks ?? [],
  );
const tokenOf = async (e: EBS, id: string, index: number): Promise<string> =>
  given((await blocks(e, id)).find((one) => one.index === index)?.token, `token of block ${index}`);
const read = async (e: EBS, SnapshotId: string, BlockIndex: number, BlockToken: string): Promise<Uint8Array> => {
  const { BlockData } = await e.getSnapshotBlock({ SnapshotId, BlockIndex, BlockToken });
  return given(BlockData, 'BlockData').transformToByteArray();
};
const holds = async (e: EBS, id: string, index: number, text: string, token?: string): Promise<void> => {
  const found = await read(e, id, index, token ?? (await tokenOf(e, id, index)));
  assert.equal(found.length, BlockSize);
  assert.ok(Buffer.compare(found, data(text)) === 0, `block ${index} is not "${text}", but "${Buffer.from(found.slice(0, 20))}"`);
};
/** Thirty blocks at a time, ten of them at once: a step has twenty seconds. */
const thirty = async (e: EBS, s: State, first: number): Promise<void> => {
  for (let at = first; at < first + 30; at += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, more) => put(e, s.id, at + more, `block ${at + more}`)));
  }
};

/** Guide: docs.aws.amazon.com/ebs/latest/userguide (EBS direct APIs: reading and writing snapshots, idempotency, checksums, questions) and …/APIReference. */
export const vendor: Vendor<EBS> = {
  document: 'ebs/ebs.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a snapshot, from the first to the last block': (e, s) => ({
      started: async () => {
        const Tags = [{ Key: 'Name', Value: 'on-premises' }];
        const made = await e.startSnapshot({ VolumeSize: 8, Description: 'of the old server', Tags, Timeout: 60 });
        assert.match(given(made.SnapshotId, 'SnapshotId'), /^snap-[0-9a-f]+$/);
        assert.deepEqual(
          [made.Status, made.VolumeSize, made.BlockSize, made.Description, made.Tags],
          ['pending', 8, BlockSize, 'of the old server', Tags],
        );
        given(made.OwnerId, 'OwnerId');
        assert.ok(made.StartTime instanceof Date, 'it was started at no time');
        s.id = given(made.SnapshotId, 'SnapshotId');
      },
      'a block is written': async () => {
        const made = await e.putSnapshotBlock({ ...putting(s.id, 1000, 'hello'), Progress: 100 });
        assert.deepEqual([made.Checksum, made.ChecksumAlgorithm], [sha256(data('hello')), 'SHA256']);
      },
      completed: () => complete(e, s.id, 1),
      'its one block is listed': async () => {
        const page = await e.listSnapshotBlocks({ SnapshotId: s.id });
        assert.deepEqual([page.VolumeSize, page.BlockSize], [8, BlockSize]);
        assert.deepEqual(
          page.Blocks?.map(({ BlockIndex }) => BlockIndex),
          [1000],
        );
        assert.ok(given(page.ExpiryTime, 'ExpiryTime').getTime() > Date.now(), 'its token has expired');
        s.token = given(page.Blocks?.[0]?.BlockToken, 'BlockToken');
      },
      'and read': async () => {
        const got = await e.getSnapshotBlock({ SnapshotId: s.id, BlockIndex: 1000, BlockToken: s.token });
        assert.deepEqual([got.DataLength, got.Checksum, got.ChecksumAlgorithm], [BlockSize, sha256(data('hello')), 'SHA256']);
        const bytes = await given(got.BlockData, 'BlockData').transformToByteArray();
        assert.ok(Buffer.compare(bytes, data('hello')) === 0, 'it is another');
      },
      'no more is written': () => invalid(put(e, s.id, 1001, 'too late')),
      'it is as it was': async () => assert.deepEqual(await indexes(e, s.id), [1000]),
    }),

    'blocks in their order': (e, s) => ({
      'five are written in none': async () => {
        s.id = await start(e);
        for (const index of [700, 3, 2000, 0, 41]) await put(e, s.id, index, `block ${index}`);
        await complete(e, s.id, 5);
      },
      'they are listed in it': async () => assert.deepEqual(await indexes(e, s.id), [0, 3, 41, 700, 2000]),
      'from one of them': async () => assert.deepEqual(await indexes(e, s.id, { StartingBlockIndex: 41 }), [41, 700, 2000]),
      'from the next to one that is not there': async () =>
        assert.deepEqual(await indexes(e, s.id, { StartingBlockIndex: 42 }), [700, 2000]),
      'after the last': async () => assert.deepEqual(await indexes(e, s.id, { StartingBlockIndex: 2001 }), []),
      'each has its own data': async () => {
        for (const { index, token } of await blocks(e, s.id)) await holds(e, s.id, index, `block ${index}`, token);
      },
    }),

    'blocks through all pages': (e, s) => ({
      'thirty are written': async () => {
        s.id = await start(e);
        await thirty(e, s, 0);
      },
      'and thirty': () => thirty(e, s, 30),
      'and thirty more': () => thirty(e, s, 60),
      'and the last, and it is completed': async () => {
        await thirty(e, s, 90);
        await complete(e, s.id, 120);
      },
      'no more on a page than asked for': async () => {
        const page = await e.listSnapshotBlocks({ SnapshotId: s.id, MaxResults: 100 });
        assert.ok((page.Blocks ?? []).length <= 100, 'more than a hundred');
        s.next = given(page.NextToken || undefined, 'NextToken');
        s.count = String((page.Blocks ?? []).length);
      },
      'the next page goes on, wherever it is told to start': async () => {
        const page = await e.listSnapshotBlocks({ SnapshotId: s.id, MaxResults: 100, NextToken: s.next, StartingBlockIndex: 0 });
        for (const { BlockIndex } of page.Blocks ?? [])
          assert.ok((BlockIndex ?? 0) >= Number(s.count), `${BlockIndex} once more`);
      },
      'all of them, each once and in order': async () =>
        assert.deepEqual(
          await indexes(e, s.id, { MaxResults: 100 }),
          Array.from({ length: 120 }, (_, index) => index),
        ),
      'one of the second page': () => holds(e, s.id, 111, 'block 111'),
    }),

    'a block is written again': (e, s) => ({
      'a snapshot with two': async () => {
        s.id = await start(e);
        await put(e, s.id, 7, 'first');
        await put(e, s.id, 8, 'other');
      },
      'one is overwritten': () => put(e, s.id, 7, 'second'),
      completed: () => complete(e, s.id, 2),
      'it is listed once': async () => assert.deepEqual(await indexes(e, s.id), [7, 8]),
      'with what was written last': () => holds(e, s.id, 7, 'second'),
      'the other is as it was': () => holds(e, s.id, 8, 'other'),
    }),

    'a snapshot that is pending': (e, s) => ({
      'is written to': async () => {
        s.id = await start(e);
        await put(e, s.id, 0, 'not yet');
      },
      'its blocks are not listed': () => refused(e.listSnapshotBlocks({ SnapshotId: s.id }), 400, 403, 404, 480, 481, 482),
      'nor compared': async () => {
        const other = await snapshot(e, { 0: 'done' });
        await refused(e.listChangedBlocks({ FirstSnapshotId: other, SecondSnapshotId: s.id }), 400, 403, 404, 480, 481, 482);
      },
      completed: () => complete(e, s.id, 1),
      'now they are': async () => assert.deepEqual(await indexes(e, s.id), [0]),
      'and read': () => holds(e, s.id, 0, 'not yet'),
    }),

    'data that is not what it is said to be': (e, s) => ({
      'a snapshot': async () => {
        s.id = await start(e);
      },
      'the checksum of other data': () =>
        invalid(e.putSnapshotBlock({ ...putting(s.id, 0, 'data'), Checksum: sha256(data('other data')) })),
      'less than a block': async () => {
        const BlockData = data('short').slice(0, 1024);
        await invalid(
          e.putSnapshotBlock({ ...putting(s.id, 0, 'short'), BlockData, DataLength: 1024, Checksum: sha256(BlockData) }),
        );
      },
      'a checksum of no known kind': () =>
        invalid(e.putSnapshotBlock({ ...putting(s.id, 0, 'data'), ChecksumAlgorithm: 'MD5' as 'SHA256' })),
      'more than all of it': () => invalid(e.putSnapshotBlock({ ...putting(s.id, 0, 'data'), Progress: 101 })),
      'what is right is written': () => put(e, s.id, 1, 'right'),
      'and nothing else': async () => {
        await complete(e, s.id, 1);
        assert.deepEqual(await indexes(e, s.id), [1]);
      },
    }),

    'tokens are for their own blocks': (e, s) => ({
      'two snapshots': async () => {
        s.one = await snapshot(e, { 0: 'one zero', 5: 'one five' });
        s.two = await snapshot(e, { 5: 'two five' });
      },
      'each has its own blocks': async () => {
        assert.deepEqual([await indexes(e, s.one), await indexes(e, s.two)], [[0, 5], [5]]);
        await holds(e, s.one, 5, 'one five');
        await holds(e, s.two, 5, 'two five');
      },
      'not read with the token of another block': async () => {
        const token = await tokenOf(e, s.one, 0);
        await invalid(e.getSnapshotBlock({ SnapshotId: s.one, BlockIndex: 5, BlockToken: token }));
      },
      'nor with that of another snapshot': async () => {
        const token = await tokenOf(e, s.two, 5);
        await invalid(e.getSnapshotBlock({ SnapshotId: s.one, BlockIndex: 5, BlockToken: token }));
      },
      'nor with what is no token': () =>
        invalid(e.getSnapshotBlock({ SnapshotId: s.one, BlockIndex: 5, BlockToken: 'AAABARnotAToken' })),
      'no page with what is none': () => invalid(e.listSnapshotBlocks({ SnapshotId: s.one, NextToken: 'AAABARnotAToken' })),
    }),

    'a snapshot upon another': (e, s) => ({
      'a first one': async () => {
        s.first = await snapshot(e, { 1: 'first 1', 2: 'first 2', 3: 'first 3' });
      },
      'another is started from it': async () => {
        const made = await e.startSnapshot({ VolumeSize: 1, ParentSnapshotId: s.first, Description: 'the day after' });
        assert.deepEqual([made.ParentSnapshotId, made.Status, made.Description], [s.first, 'pending', 'the day after']);
        s.second = given(made.SnapshotId, 'SnapshotId');
      },
      'one block is changed, one is new': async () => {
        await put(e, s.second, 2, 'second 2');
        await put(e, s.second, 9, 'second 9');
        await complete(e, s.second, 2);
      },
      'it has all of them': async () => assert.deepEqual(await indexes(e, s.second), [1, 2, 3, 9]),
      'some as they were, some not': async () => {
        await holds(e, s.second, 1, 'first 1');
        await holds(e, s.second, 2, 'second 2');
        await holds(e, s.second, 9, 'second 9');
      },
      'the first is as it was': async () => {
        assert.deepEqual(await indexes(e, s.first), [1, 2, 3]);
        await holds(e, s.first, 2, 'first 2');
      },
      'none upon what is not there': () => absent(start(e, 1, missing), 483),
    }),

    'what has changed between two snapshots': (e, s) => ({
      'one, and one upon it': async () => {
        s.first = await snapshot(e, { 1: 'first 1', 2: 'first 2', 3: 'first 3', 4: 'first 4' });
        s.second = await snapshot(e, { 2: 'second 2', 4: 'second 4', 8: 'second 8' }, s.first);
      },
      'three blocks': async () => {
        const rows = await changed(e, s.first, s.second);
        assert.deepEqual(
          rows.map(({ BlockIndex }) => BlockIndex),
          [2, 4, 8],
        );
        const page = await e.listChangedBlocks({ FirstSnapshotId: s.first, SecondSnapshotId: s.second });
        assert.deepEqual([page.VolumeSize, page.BlockSize], [1, BlockSize]);
      },
      'what they were, and are': async () => {
        const row = (await changed(e, s.first, s.second)).find(({ BlockIndex }) => BlockIndex === 2);
        await holds(e, s.first, 2, 'first 2', given(row?.FirstBlockToken, 'FirstBlockToken'));
        await holds(e, s.second, 2, 'second 2', given(row?.SecondBlockToken, 'SecondBlockToken'));
      },
      'one was not there before': async () => {
        const row = (await changed(e, s.first, s.second)).find(({ BlockIndex }) => BlockIndex === 8);
        assert.equal(row?.FirstBlockToken, undefined);
        await holds(e, s.second, 8, 'second 8', given(row?.SecondBlockToken, 'SecondBlockToken'));
      },
      'from the third block': async () => {
        const rows = await changed(e, s.first, s.second, { StartingBlockIndex: 3, MaxResults: 100 });
        assert.deepEqual(
          rows.map(({ BlockIndex }) => BlockIndex),
          [4, 8],
        );
      },
      'not from one that is not there': async () => {
        await absent(e.listChangedBlocks({ FirstSnapshotId: missing, SecondSnapshotId: s.second }));
        await absent(e.listChangedBlocks({ FirstSnapshotId: s.first, SecondSnapshotId: missing }));
      },
      'nor between those that have nothing in common': async () => {
        const stray = await snapshot(e, { 1: 'stray' });
        await invalid(e.listChangedBlocks({ FirstSnapshotId: s.first, SecondSnapshotId: stray }));
      },
    }),

    'a request that is sent again': (e, s) => ({
      'a snapshot is started': async () => {
        const made = await e.startSnapshot({ VolumeSize: 8, Timeout: 60, ClientToken: '550e8400-e29b-41d4-a716-446655440000' });
        s.id = given(made.SnapshotId, 'SnapshotId');
      },
      'and again: it is the same': async () => {
        const made = await e.startSnapshot({ VolumeSize: 8, Timeout: 60, ClientToken: '550e8400-e29b-41d4-a716-446655440000' });
        assert.deepEqual([made.SnapshotId, made.VolumeSize], [s.id, 8]);
      },
      'with the same token, but for another volume': () =>
        refused(
          e.startSnapshot({ VolumeSize: 16, Timeout: 60, ClientToken: '550e8400-e29b-41d4-a716-446655440000' }),
          409,
          487,
          503,
        ),
      'with another token it is another': async () => {
        const made = await e.startSnapshot({ VolumeSize: 8, Timeout: 60, ClientToken: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' });
        assert.notEqual(given(made.SnapshotId, 'SnapshotId'), s.id);
      },
      'without any, each is another': async () => {
        const ids = [await start(e), await start(e), await start(e)];
        once(ids, ids, 'snapshots');
      },
    }),

    'an encrypted snapshot': (e, s) => ({
      started: async () => {
        const made = await e.startSnapshot({ VolumeSize: 1, Encrypted: true, KmsKeyArn: keyArn });
        assert.deepEqual([made.KmsKeyArn, made.Status], [keyArn, 'pending']);
        s.id = given(made.SnapshotId, 'SnapshotId');
      },
      'written and completed': async () => {
        await put(e, s.id, 0, 'secret');
        await complete(e, s.id, 1);
      },
      'read in clear': () => holds(e, s.id, 0, 'secret'),
      'what is upon another is as that is, and is not told': () =>
        invalid(e.startSnapshot({ VolumeSize: 1, ParentSnapshotId: s.id, Encrypted: true })),
      'a key that is none': () => invalid(e.startSnapshot({ VolumeSize: 1, Encrypted: true, KmsKeyArn: 'my-key' })),
    }),

    'the checksum of all blocks': (e, s) => ({
      'two are written, in no order': async () => {
        s.id = await start(e);
        await put(e, s.id, 6, 'six');
        await put(e, s.id, 5, 'five');
      },
      'a wrong one seals nothing': () =>
        invalid(
          e.completeSnapshot({
            SnapshotId: s.id,
            ChangedBlocksCount: 2,
            Checksum: sha256(data('something else')),
            ChecksumAlgorithm: 'SHA256',
            ChecksumAggregationMethod: 'LINEAR',
          }),
        ),
      'one of no known kind neither': () =>
        invalid(
          e.completeSnapshot({ SnapshotId: s.id, ChangedBlocksCount: 2, ChecksumAlgorithm: 'MD5' as 'SHA256', Checksum: 'AAAA' }),
        ),
      // The guide has them put together as one string; it does not say whether before or after they are put into base 64.
      'the right one does': async () => {
        const all = [data('five'), data('six')];
        const how = {
          SnapshotId: s.id,
          ChangedBlocksCount: 2,
          ChecksumAlgorithm: 'SHA256',
          ChecksumAggregationMethod: 'LINEAR',
        } as const;
        const bytes = sha256(Buffer.concat(all.map(digest)));
        const text = sha256(Buffer.from(all.map(sha256).join('')));
        const made = await e.completeSnapshot({ ...how, Checksum: bytes }).catch((thrown: unknown) => {
          if (statusOf(thrown) !== 400 && statusOf(thrown) !== 481) throw thrown;
          return e.completeSnapshot({ ...how, Checksum: text });
        });
        assert.ok(made.Status === 'pending' || made.Status === 'completed', `it is ${made.Status}`);
      },
      'nothing is written any more': () => invalid(put(e, s.id, 7, 'seven')),
    }),

    'a credential that is refused': (e, s, another) => ({
      'two snapshots, one of them pending': async () => {
        s.id = await snapshot(e, { 0: 'guarded' });
        s.token = await tokenOf(e, s.id, 0);
        s.pending = await start(e);
      },
      'not listed by another': () => stranger(another('AKIANOBODYATALL00000').listSnapshotBlocks({ SnapshotId: s.id })),
      'not read by another': () =>
        stranger(another('AKIANOBODYATALL00000').getSnapshotBlock({ SnapshotId: s.id, BlockIndex: 0, BlockToken: s.token })),
      'not written by another': () => stranger(put(another('AKIANOBODYATALL00000'), s.pending, 0, 'intruder')),
      'none started by another': () => stranger(start(another('AKIANOBODYATALL00000'))),
      'none sealed by another': () =>
        stranger(another('AKIANOBODYATALL00000').completeSnapshot({ SnapshotId: s.pending, ChangedBlocksCount: 0 })),
      'it can still be written, and has that alone': async () => {
        await put(e, s.pending, 3, 'mine');
        await complete(e, s.pending, 1);
        assert.deepEqual(await indexes(e, s.pending), [3]);
      },
    }),

    'wrong requests, and what is not there': (e, s) => ({
      'a volume of no size, and of too much': async () => {
        await invalid(e.startSnapshot({ VolumeSize: 0 }));
        await invalid(e.startSnapshot({ VolumeSize: 65_537 }));
        await invalid(e.startSnapshot({ VolumeSize: undefined }));
      },
      'a wait too short, and too long': async () => {
        await invalid(e.startSnapshot({ VolumeSize: 1, Timeout: 9 }));
        await invalid(e.startSnapshot({ VolumeSize: 1, Timeout: 4321 }));
      },
      'a description too long': () => invalid(e.startSnapshot({ VolumeSize: 1, Description: 'long '.repeat(52) })),
      'pages too small, and too large': async () => {
        s.id = await snapshot(e, { 0: 'here' });
        await invalid(e.listSnapshotBlocks({ SnapshotId: s.id, MaxResults: 99 }));
        await invalid(e.listSnapshotBlocks({ SnapshotId: s.id, MaxResults: 10_001 }));
      },
      'blocks before the first, and of what is no snapshot': async () => {
        await invalid(e.listSnapshotBlocks({ SnapshotId: s.id, StartingBlockIndex: -1 }));
        await invalid(e.listSnapshotBlocks({ SnapshotId: 'vol-1234567890abcdef0' }));
      },
      'what is not there is not listed, and not read': async () => {
        await absent(e.listSnapshotBlocks({ SnapshotId: missing }));
        await absent(e.getSnapshotBlock({ SnapshotId: missing, BlockIndex: 0, BlockToken: await tokenOf(e, s.id, 0) }));
      },
      'nor written, nor completed': async () => {
        await absent(put(e, missing, 0, 'lost'));
        await absent(e.completeSnapshot({ SnapshotId: missing, ChangedBlocksCount: 0 }));
      },
    }),
  },
};
