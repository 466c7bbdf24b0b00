import assert from 'node:assert/strict';
import FinSpaceData from 'aws-sdk/clients/finspacedata.js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/**
 * `@aws-sdk/client-finspace-data` is not in the npm registry any more: this is the same vendor's `aws-sdk`, with the same operations.
 * The token is an access key's id; the client signs with it (version 4). Of what is sent the client checks only types, and what has to be there.
 */
const connect = (place: Place, token: string): FinSpaceData =>
  new FinSpaceData({
    endpoint: place.base,
    region: 'us-east-2',
    credentials: {
      accessKeyId: /Credential=([^/,\s]+)/.exec(token)?.[1] ?? token,
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    maxRetries: 0,
  });
type Client = FinSpaceData;

/** ResourceNotFoundException, ValidationException and ConflictException are 404, 400 and 409 by the guide; the description has a number of its own for each operation. */
const absent = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 404, described);
const invalid = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 400, described);
const conflict = (call: Promise<unknown>, described: number): Promise<unknown> => refused(call, 409, described);
/** A key that is not known is a 403 by the guide's common errors; AccessDeniedException is also described. */
const stranger = (call: Promise<unknown>): Promise<unknown> => refused(call, 401, 403, 483);

const nowhere = 'deadbeefdeadbeefdeadbe';
const roleArn = 'arn:aws:iam::123456789012:role/finspace-api-caller';

const told = <K extends string>(rows: readonly { readonly [name in K]?: string }[], name: K): string[] =>
  rows.map((row) => given(row[name] as string | undefined, name));
const next = ({ nextToken }: { readonly nextToken?: string }): string | undefined => nextToken || undefined;
const on = (maxResults: number, nextToken?: string): { maxResults: number; nextToken?: string } => ({
  maxResults,
  ...(nextToken === undefined ? {} : { nextToken }),
});
const groups = async (f: Client, size = 100): Promise<string[]> =>
  told(
    await pages(
      (from) => f.listPermissionGroups(on(size, from)).promise(),
      (page) => page.permissionGroups ?? [],
      next,
    ),
    'permissionGroupId',
  );
const users = async (f: Client, size = 100): Promise<string[]> =>
  told(
    await pages(
      (from) => f.listUsers(on(size, from)).promise(),
      (page) => page.users ?? [],
      next,
    ),
    'userId',
  );
const datasets = async (f: Client, size = 100): Promise<FinSpaceData.Dataset[]> =>
  pages(
    (from) => f.listDatasets(on(size, from)).promise(),
    (page) => page.datasets ?? [],
    next,
  );
const changesets = async (f: Client, datasetId: string, size = 100): Promise<FinSpaceData.ChangesetSummary[]> =>
  pages(
    (from) => f.listChangesets({ datasetId, ...on(size, from) }).promise(),
    (page) => page.changesets ?? [],
    next,
  );
const views = async (f: Client, datasetId: string, size = 100): Promise<FinSpaceData.DataViewSummary[]> =>
  pages(
    (from) => f.listDataViews({ datasetId, ...on(size, from) }).promise(),
    (page) => page.dataViews ?? [],
    next,
  );
const members = async (f: Client, permissionGroupId: string): Promise<FinSpaceData.UserByPermissionGroup[]> =>
  pages(
    (from) => f.listUsersByPermissionGroup({ permissionGroupId, ...on(100, from) }).promise(),
    (page) => page.users ?? [],
    next,
  );
const memberships = async (f: Client, userId: string): Promise<FinSpaceData.PermissionGroupByUser[]> =>
  pages(
    (from) => f.listPermissionGroupsByUser({ userId, ...on(100, from) }).promise(),
    (page) => page.permissionGroups ?? [],
    next,
  );

/** What goes on behind an answer is asked for until it is done, for less than a step may last. */
const eventually = async (so: () => Promise<boolean>, what: string): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) {
    if (await so()) return;
    await new Promise((done) => setTimeout(done, 400));
  }
  throw new Error(what);
};

const group = async (f: Client, name: string): Promise<string> => {
  const what = { name, description: 'Who may look', applicationPermissions: ['CreateDataset', 'AccessNotebooks'] };
  return given((await f.createPermissionGroup(what).promise()).permissionGroupId, 'permissionGroupId');
};
const user = async (f: Client, name: string): Promise<string> => {
  const what = { emailAddress: `${name}@example.com`, type: 'APP_USER', firstName: name, lastName: 'Doe' };
  return given((await f.createUser(what).promise()).userId, 'userId');
};
const columns = [
  { dataType: 'DATE', columnName: 'Date', columnDescription: 'The day' },
  { dataType: 'STRING', columnName: 'Ticker' },
  { dataType: 'DOUBLE', columnName: 'Price' },
];
const dataset = async (
  f: Client,
  s: State,
  datasetTitle: string,
  more: Partial<FinSpaceData.CreateDatasetRequest> = {},
): Promise<string> => {
  const permissionGroupId = await group(f, `Of ${datasetTitle}`);
  s.group = permissionGroupId;
  const permissions = ['ViewDatasetDetails', 'AddDatasetData', 'EditDatasetMetadata', 'DeleteDataset', 'CreateDataView'];
  const what = {
    datasetTitle,
    kind: 'TABULAR',
    permissionGroupParams: { permissionGroupId, datasetPermissions: permissions.map((permission) => ({ permission })) },
    schemaDefinition: { tabularSchemaConfig: { columns, primaryKeyColumns: ['Ticker'] } },
    ...more,
  };
  return given((await f.createDataset(what).promise()).datasetId, 'datasetId');
};
const source = (file: string): FinSpaceData.SourceParams => ({
  s3SourcePath: `s3://finspace-landing-us-east-2-bk7gcfvitndqa6ebnvys4d/ingestion/${file}`,
  sourceType: 'S3',
});
const csv = { formatType: 'CSV', withHeader: 'true', separator: ',', compression: 'None' };
const changeset = async (f: Client, datasetId: string, file: string, changeType = 'APPEND'): Promise<string> => {
  const what = { datasetId, changeType, sourceParams: source(file), formatParams: csv };
  return given((await f.createChangeset(what).promise()).changesetId, 'changesetId');
};
const view = async (f: Client, datasetId: string, more: Partial<FinSpaceData.CreateDataViewRequest> = {}): Promise<string> => {
  const what = { datasetId, autoUpdate: true, destinationTypeParams: { destinationType: 'GLUE_TABLE' }, ...more };
  return given((await f.createDataView(what).promise()).dataViewId, 'dataViewId');
};

/** Guide: docs.aws.amazon.com/finspace/latest/data-api. */
export const vendor: Vendor<Client> = {
  document: 'finspace-data/finspace-data.json',
  header: 'Authorization',
  word: 'AWS4-HMAC-SHA256',
  made: 'AKIAIOSFODNN7EXAMPLE',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a group of permissions, from the first to the last day': (f, s) => ({
      made: async () => {
        s.id = await group(f, 'Analysts');
      },
      read: async () => {
        const { permissionGroup } = await f.getPermissionGroup({ permissionGroupId: s.id }).promise();
        assert.deepEqual([permissionGroup?.permissionGroupId, permissionGroup?.name], [s.id, 'Analysts']);
        assert.equal(permissionGroup?.description, 'Who may look');
        assert.deepEqual(permissionGroup?.applicationPermissions?.toSorted(), ['AccessNotebooks', 'CreateDataset']);
      },
      'when it was made': async () => {
        const { permissionGroup } = await f.getPermissionGroup({ permissionGroupId: s.id }).promise();
        const age = Date.now() - given(permissionGroup?.createTime, 'createTime');
        assert.ok(Math.abs(age) < 600_000, `${age} ms ago`);
      },
      'is in the list': async () => once(await groups(f), [s.id], 'groups'),
      'called something else, and may do more': async () => {
        const applicationPermissions = ['CreateDataset', 'AccessNotebooks', 'ManageClusters'];
        const made = await f.updatePermissionGroup({ permissionGroupId: s.id, name: 'Quants', applicationPermissions }).promise();
        assert.equal(made.permissionGroupId, s.id);
      },
      'so it is, and the rest stays': async () => {
        const { permissionGroup } = await f.getPermissionGroup({ permissionGroupId: s.id }).promise();
        assert.deepEqual([permissionGroup?.name, permissionGroup?.description], ['Quants', 'Who may look']);
        assert.ok(permissionGroup?.applicationPermissions?.includes('ManageClusters'), 'it may not');
      },
      deleted: async () =>
        assert.equal((await f.deletePermissionGroup({ permissionGroupId: s.id }).promise()).permissionGroupId, s.id),
      gone: () => absent(f.getPermissionGroup({ permissionGroupId: s.id }).promise(), 484),
      'no longer in the list': async () => assert.ok(!(await groups(f)).includes(s.id), 'it is'),
    }),

    'groups through all pages': (f, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const letter of ['c', 'a', 'e', 'b', 'd']) made.push(await group(f, `Page ${letter}`));
        s.made = made.join();
      },
      'no more on a page than asked for': async () => {
        const page = await f.listPermissionGroups({ maxResults: 2 }).promise();
        assert.equal(page.permissionGroups?.length, 2);
        given(page.nextToken || undefined, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await groups(f, 2);
        once(rows, [...new Set([...rows, ...s.made.split(',')])], 'groups');
      },
      'as many on large pages': async () => assert.equal((await groups(f, 100)).length, (await groups(f, 2)).length),
    }),

    'a user': (f, s) => ({
      made: async () => {
        const more = { apiAccess: 'ENABLED', apiAccessPrincipalArn: roleArn };
        const what = { emailAddress: 'jane@example.com', type: 'SUPER_USER', firstName: 'Jane', lastName: 'Doe', ...more };
        s.id = given((await f.createUser(what).promise()).userId, 'userId');
      },
      read: async () => {
        const found = await f.getUser({ userId: s.id }).promise();
        assert.deepEqual([found.userId, found.emailAddress, found.type], [s.id, 'jane@example.com', 'SUPER_USER']);
        assert.deepEqual([found.firstName, found.lastName], ['Jane', 'Doe']);
        assert.ok(['CREATING', 'ENABLED'].includes(String(found.status)), found.status);
      },
      'may use the API': async () => {
        const found = await f.getUser({ userId: s.id }).promise();
        assert.deepEqual([found.apiAccess, found.apiAccessPrincipalArn], ['ENABLED', roleArn]);
      },
      'is in the list': async () => once(await users(f), [s.id], 'users'),
      'has another name': async () =>
        assert.equal((await f.updateUser({ userId: s.id, lastName: 'Roe', type: 'APP_USER' }).promise()).userId, s.id),
      'the rest stays': async () => {
        const found = await f.getUser({ userId: s.id }).promise();
        assert.deepEqual([found.firstName, found.lastName, found.type], ['Jane', 'Roe', 'APP_USER']);
        assert.deepEqual([found.emailAddress, found.apiAccess], ['jane@example.com', 'ENABLED']);
      },
      'nobody else has that address': () =>
        conflict(f.createUser({ emailAddress: 'jane@example.com', type: 'APP_USER' }).promise(), 485),
    }),

    'a user is shut out and let in': (f, s) => ({
      'a user who may come in': async () => {
        s.id = await user(f, 'mallory');
        await eventually(async () => (await f.getUser({ userId: s.id }).promise()).status === 'ENABLED', 'not enabled');
      },
      'shut out': async () => assert.equal((await f.disableUser({ userId: s.id }).promise()).userId, s.id),
      'is so': async () => {
        const found = await f.getUser({ userId: s.id }).promise();
        assert.equal(found.status, 'DISABLED');
        given(found.lastDisabledTime, 'lastDisabledTime');
      },
      'in the list too': async () => {
        const rows = await pages(
          (from) => f.listUsers(on(100, from)).promise(),
          (page) => page.users ?? [],
          next,
        );
        assert.equal(rows.find(({ userId }) => userId === s.id)?.status, 'DISABLED');
      },
      'let in again': async () => assert.equal((await f.enableUser({ userId: s.id }).promise()).userId, s.id),
      'is in': async () => {
        const found = await f.getUser({ userId: s.id }).promise();
        assert.deepEqual([found.status, found.firstName], ['ENABLED', 'mallory']);
      },
    }),

    'users through all pages': (f, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const name of ['carol', 'alice', 'erin', 'bob', 'dave']) made.push(await user(f, name));
        s.made = made.join();
      },
      'no more on a page than asked for': async () => {
        const page = await f.listUsers({ maxResults: 2 }).promise();
        assert.equal(page.users?.length, 2);
        given(page.nextToken || undefined, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = await users(f, 2);
        once(rows, [...new Set([...rows, ...s.made.split(',')])], 'users');
      },
      'a page has at most a hundred': () => invalid(f.listUsers({ maxResults: 101 }).promise(), 481),
    }),

    'a user of a group': (f, s) => ({
      'both, and others': async () => {
        [s.group, s.other] = [await group(f, 'Traders'), await group(f, 'Nobody')];
        [s.user, s.alone] = [await user(f, 'trudy'), await user(f, 'walter')];
      },
      joined: async () => {
        await f.associateUserToPermissionGroup({ permissionGroupId: s.group, userId: s.user }).promise();
      },
      'the group has the user': async () => {
        const rows = await members(f, s.group);
        assert.deepEqual(told(rows, 'userId'), [s.user]);
        assert.equal(rows[0]?.emailAddress, 'trudy@example.com');
        assert.match(given(rows[0]?.membershipStatus, 'membershipStatus'), /^ADDITION_(IN_PROGRESS|SUCCESS)$/);
      },
      'the user has the group': async () => {
        const rows = await memberships(f, s.user);
        assert.deepEqual(
          rows.map(({ permissionGroupId, name }) => [permissionGroupId, name]),
          [[s.group, 'Traders']],
        );
      },
      'the others have nobody': async () => {
        assert.deepEqual(await members(f, s.other), []);
        assert.deepEqual(await memberships(f, s.alone), []);
      },
      parted: async () => {
        await f.disassociateUserFromPermissionGroup({ permissionGroupId: s.group, userId: s.user }).promise();
      },
      'and apart': () => eventually(async () => (await members(f, s.group)).length === 0, 'still a member'),
      'both stay': async () => {
        assert.equal((await f.getUser({ userId: s.user }).promise()).userId, s.user);
        assert.deepEqual(await memberships(f, s.user), []);
        once(await groups(f), [s.group, s.other], 'groups');
      },
      'nobody joins a group that is not': () =>
        absent(f.associateUserToPermissionGroup({ permissionGroupId: nowhere, userId: s.user }).promise(), 484),
    }),

    'a dataset, from the first to the last day': (f, s) => ({
      made: async () => {
        const ownerInfo = { name: 'Jane Doe', phoneNumber: '1-206-555-0100', email: 'jane@example.com' };
        s.id = await dataset(f, s, 'Prices', { datasetDescription: 'Of every day', alias: 'alias/prices', ownerInfo });
      },
      read: async () => {
        const found = await f.getDataset({ datasetId: s.id }).promise();
        assert.deepEqual([found.datasetId, found.datasetTitle, found.kind], [s.id, 'Prices', 'TABULAR']);
        assert.deepEqual([found.datasetDescription, found.alias], ['Of every day', 'alias/prices']);
        assert.match(String(found.status), /^(PENDING|SUCCESS|RUNNING)$/);
      },
      'is in the list, with its owner': async () => {
        const rows = await datasets(f);
        once(told(rows, 'datasetId'), [s.id], 'datasets');
        const { ownerInfo, datasetTitle } = given(
          rows.find(({ datasetId }) => datasetId === s.id),
          'row',
        );
        assert.deepEqual([datasetTitle, ownerInfo?.name, ownerInfo?.email], ['Prices', 'Jane Doe', 'jane@example.com']);
      },
      'called something else': async () => {
        const what = { datasetId: s.id, datasetTitle: 'Quotes', kind: 'TABULAR', datasetDescription: 'Of every hour' };
        assert.equal((await f.updateDataset(what).promise()).datasetId, s.id);
      },
      'so it is': async () => {
        const found = await f.getDataset({ datasetId: s.id }).promise();
        assert.deepEqual([found.datasetTitle, found.datasetDescription, found.kind], ['Quotes', 'Of every hour', 'TABULAR']);
      },
      deleted: async () => assert.equal((await f.deleteDataset({ datasetId: s.id }).promise()).datasetId, s.id),
      gone: () => absent(f.getDataset({ datasetId: s.id }).promise(), 484),
      'no longer in the list': async () => assert.ok(!told(await datasets(f), 'datasetId').includes(s.id), 'it is'),
    }),

    'datasets through all pages': (f, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (const letter of ['c', 'a', 'e', 'b', 'd']) made.push(await dataset(f, s, `Set ${letter}`));
        s.made = made.join();
      },
      'no more on a page than asked for': async () => {
        const page = await f.listDatasets({ maxResults: 2 }).promise();
        assert.equal(page.datasets?.length, 2);
        given(page.nextToken || undefined, 'nextToken');
      },
      'all of them, each once': async () => {
        const rows = told(await datasets(f, 2), 'datasetId');
        once(rows, [...new Set([...rows, ...s.made.split(',')])], 'datasets');
      },
      'one less when one is deleted': async () => {
        const before = await datasets(f, 2);
        await f.deleteDataset({ datasetId: given(s.made.split(',')[2], 'id') }).promise();
        assert.equal((await datasets(f, 2)).length, before.length - 1);
      },
    }),

    'what a dataset is made of': (f, s) => ({
      'columns and a key': async () => {
        s.id = await dataset(f, s, 'Columns');
        const { schemaDefinition } = await f.getDataset({ datasetId: s.id }).promise();
        assert.deepEqual(schemaDefinition?.tabularSchemaConfig?.primaryKeyColumns, ['Ticker']);
        const found = schemaDefinition?.tabularSchemaConfig?.columns?.map(({ columnName, dataType }) => [columnName, dataType]);
        assert.deepEqual(found, [
          ['Date', 'DATE'],
          ['Ticker', 'STRING'],
          ['Price', 'DOUBLE'],
        ]);
      },
      'what a column is for': async () => {
        const { schemaDefinition } = await f.getDataset({ datasetId: s.id }).promise();
        assert.equal(schemaDefinition?.tabularSchemaConfig?.columns?.[0]?.columnDescription, 'The day');
      },
      'one column more': async () => {
        const more = {
          columns: [...columns, { dataType: 'BIGINT', columnName: 'Volume' }],
          primaryKeyColumns: ['Ticker', 'Date'],
        };
        const schemaDefinition = { tabularSchemaConfig: more };
        await f.updateDataset({ datasetId: s.id, datasetTitle: 'Columns', kind: 'TABULAR', schemaDefinition }).promise();
        const found = (await f.getDataset({ datasetId: s.id }).promise()).schemaDefinition?.tabularSchemaConfig;
        assert.deepEqual(
          found?.columns?.map(({ columnName }) => columnName),
          ['Date', 'Ticker', 'Price', 'Volume'],
        );
        assert.deepEqual(found?.primaryKeyColumns, ['Ticker', 'Date']);
      },
      'or of no table at all': async () => {
        const id = await dataset(f, s, 'Papers', { kind: 'NON_TABULAR', schemaDefinition: undefined });
        assert.equal((await f.getDataset({ datasetId: id }).promise()).kind, 'NON_TABULAR');
      },
      'no column of a type that there is not': () =>
        invalid(
          dataset(f, s, 'Odd', {
            schemaDefinition: { tabularSchemaConfig: { columns: [{ columnName: 'X', dataType: 'COMPLEX' }] } },
          }),
          481,
        ),
    }),

    'changes of a dataset': (f, s) => ({
      'two are made': async () => {
        [s.set, s.other] = [await dataset(f, s, 'Changing'), await dataset(f, s, 'Still')];
        s.id = await changeset(f, s.set, 'equity.csv', 'REPLACE');
        s.more = await changeset(f, s.set, 'more.csv');
      },
      read: async () => {
        const found = await f.getChangeset({ datasetId: s.set, changesetId: s.id }).promise();
        assert.deepEqual([found.changesetId, found.datasetId, found.changeType], [s.id, s.set, 'REPLACE']);
        assert.deepEqual({ ...found.sourceParams }, source('equity.csv'));
        assert.partialDeepStrictEqual({ ...found.formatParams }, csv);
        assert.match(String(found.status), /^(PENDING|FAILED|SUCCESS|RUNNING)$/);
      },
      'both are in the list': async () => {
        const rows = await changesets(f, s.set);
        assert.deepEqual(told(rows, 'changesetId').toSorted(), [s.id, s.more].toSorted());
        for (const { datasetId } of rows) assert.equal(datasetId, s.set);
      },
      'one on each page': async () => {
        assert.equal((await f.listChangesets({ datasetId: s.set, maxResults: 1 }).promise()).changesets?.length, 1);
        once(told(await changesets(f, s.set, 1), 'changesetId'), [s.id, s.more], 'changesets');
      },
      'the other dataset has none': async () => assert.deepEqual(await changesets(f, s.other), []),
      corrected: async () => {
        const what = { datasetId: s.set, changesetId: s.more, sourceParams: source('right.csv'), formatParams: csv };
        const made = await f.updateChangeset(what).promise();
        assert.equal(made.datasetId, s.set);
        const changesetId = given(made.changesetId, 'changesetId');
        const found = await f.getChangeset({ datasetId: s.set, changesetId }).promise();
        assert.deepEqual({ ...found.sourceParams }, source('right.csv'));
      },
      'not in a dataset that is not': () => absent(changeset(f, nowhere, 'lost.csv'), 480),
      'not of a kind that there is not': () => invalid(changeset(f, s.set, 'odd.csv', 'SUBTRACT'), 482),
      'no such change': () => absent(f.getChangeset({ datasetId: s.set, changesetId: nowhere }).promise(), 480),
    }),

    'views of a dataset': (f, s) => ({
      'one that follows': async () => {
        s.set = await dataset(f, s, 'Viewed');
        await changeset(f, s.set, 'equity.csv');
        s.id = await view(f, s.set, { partitionColumns: ['Date'], sortColumns: ['Ticker'] });
      },
      read: async () => {
        const found = await f.getDataView({ datasetId: s.set, dataViewId: s.id }).promise();
        assert.deepEqual([found.dataViewId, found.datasetId, found.autoUpdate], [s.id, s.set, true]);
        assert.deepEqual([found.partitionColumns, found.sortColumns], [['Date'], ['Ticker']]);
        assert.equal(found.destinationTypeParams?.destinationType, 'GLUE_TABLE');
        given(found.status, 'status');
      },
      'and one as of a moment': async () => {
        const asOfTimestamp = Date.now();
        s.later = await view(f, s.set, { autoUpdate: false, asOfTimestamp });
        const found = await f.getDataView({ datasetId: s.set, dataViewId: s.later }).promise();
        assert.deepEqual([found.dataViewId, found.autoUpdate, found.asOfTimestamp], [s.later, false, asOfTimestamp]);
      },
      'both are in the list': async () => {
        const rows = await views(f, s.set);
        assert.deepEqual(told(rows, 'dataViewId').toSorted(), [s.id, s.later].toSorted());
        for (const { datasetId } of rows) assert.equal(datasetId, s.set);
      },
      'one on each page': async () => {
        assert.equal((await f.listDataViews({ datasetId: s.set, maxResults: 1 }).promise()).dataViews?.length, 1);
        once(told(await views(f, s.set, 1), 'dataViewId'), [s.id, s.later], 'views');
      },
      'no such view': () => absent(f.getDataView({ datasetId: s.set, dataViewId: nowhere }).promise(), 480),
      'none of a dataset that is not': () => absent(view(f, nowhere), 485),
    }),

    'a view outside': (f, s) => ({
      'in files of text': async () => {
        s.set = await dataset(f, s, 'Exported');
        await changeset(f, s.set, 'equity.csv');
        const s3DestinationExportFileFormatOptions = { header: 'true', delimiter: ',', compression: 'gzip' };
        const s3 = {
          destinationType: 'S3',
          s3DestinationExportFileFormat: 'DELIMITED_TEXT',
          s3DestinationExportFileFormatOptions,
        };
        s.id = await view(f, s.set, { destinationTypeParams: s3 });
      },
      read: async () => {
        const { destinationTypeParams: to } = await f.getDataView({ datasetId: s.set, dataViewId: s.id }).promise();
        assert.deepEqual([to?.destinationType, to?.s3DestinationExportFileFormat], ['S3', 'DELIMITED_TEXT']);
        assert.deepEqual(
          { ...to?.s3DestinationExportFileFormatOptions },
          { header: 'true', delimiter: ',', compression: 'gzip' },
        );
      },
      'where it is, and what opens it': async () => {
        const found = await f.getExternalDataViewAccessDetails({ datasetId: s.set, dataViewId: s.id }).promise();
        assert.deepEqual([typeof found.s3Location?.bucket, typeof found.s3Location?.key], ['string', 'string']);
        assert.deepEqual(
          [typeof found.credentials?.accessKeyId, typeof found.credentials?.secretAccessKey],
          ['string', 'string'],
        );
      },
      'nothing opens what is not there': () =>
        absent(f.getExternalDataViewAccessDetails({ datasetId: s.set, dataViewId: nowhere }).promise(), 480),
    }),

    'keys and a place to work': (f) => ({
      'keys for two hours': async () => {
        const found = await f
          .getProgrammaticAccessCredentials({ environmentId: 'mqhnzpwzqhlpbhzjvwzdsq', durationInMinutes: 120 })
          .promise();
        assert.equal(found.durationInMinutes, 120);
        const { accessKeyId, secretAccessKey, sessionToken } = given(found.credentials, 'credentials');
        assert.deepEqual([typeof accessKeyId, typeof secretAccessKey, typeof sessionToken], ['string', 'string', 'string']);
      },
      'not for half an hour': () =>
        invalid(
          f.getProgrammaticAccessCredentials({ environmentId: 'mqhnzpwzqhlpbhzjvwzdsq', durationInMinutes: 30 }).promise(),
          481,
        ),
      'where files may be left': async () => {
        const found = await f.getWorkingLocation({ locationType: 'INGESTION' }).promise();
        assert.match(given(found.s3Uri, 's3Uri'), /\S/);
        assert.ok(given(found.s3Bucket, 's3Bucket').length <= 63, found.s3Bucket);
        assert.match(given(found.s3Path, 's3Path'), /\S/);
      },
      'nowhere else': () => invalid(f.getWorkingLocation({ locationType: 'ATTIC' }).promise(), 483),
    }),

    'a password and a word that is said twice': (f, s) => ({
      'a user': async () => {
        s.id = await user(f, 'peggy');
        await eventually(async () => (await f.getUser({ userId: s.id }).promise()).status === 'ENABLED', 'not enabled');
      },
      'has a new password': async () => {
        const found = await f.resetUserPassword({ userId: s.id }).promise();
        assert.equal(found.userId, s.id);
        const { length } = given(found.temporaryPassword, 'temporaryPassword');
        assert.ok(length >= 8 && length <= 20, `${length} letters`);
      },
      'nobody has one who is not': () => absent(f.resetUserPassword({ userId: nowhere }).promise(), 484),
      'what is said twice with one token is done once': async () => {
        const what = { name: 'Twice', applicationPermissions: ['CreateDataset'], clientToken: 'a-token-of-its-own' };
        const first = await f.createPermissionGroup(what).promise();
        const second = await f.createPermissionGroup(what).promise();
        assert.equal(second.permissionGroupId, first.permissionGroupId);
        once(await groups(f), [given(first.permissionGroupId, 'permissionGroupId')], 'groups');
      },
    }),

    'a key that is refused': (f, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await f.listUsers({ maxResults: 10 }).promise()).users)),
      'a wrong one is not, for a list': () => stranger(another('AKIAWRONGWRONGWRONGX').listUsers({ maxResults: 10 }).promise()),
      'nor for a write': () => stranger(group(another('AKIAWRONGWRONGWRONGX'), 'Stolen')),
      'nor for keys': () =>
        stranger(
          another('AKIAWRONGWRONGWRONGX').getProgrammaticAccessCredentials({ environmentId: 'mqhnzpwzqhlpbhzjvwzdsq' }).promise(),
        ),
    }),

    'what is not there, and what is not right': (f) => ({
      'no such group': () => absent(f.getPermissionGroup({ permissionGroupId: nowhere }).promise(), 484),
      'no such user': () => absent(f.getUser({ userId: nowhere }).promise(), 484),
      'nor is one that is not shut out': () => absent(f.disableUser({ userId: nowhere }).promise(), 484),
      'no such dataset, to change or to delete': async () => {
        await absent(f.updateDataset({ datasetId: nowhere, datasetTitle: 'Lost', kind: 'TABULAR' }).promise(), 485);
        await absent(f.deleteDataset({ datasetId: nowhere }).promise(), 484);
      },
      'an address has an @': () => invalid(f.createUser({ emailAddress: 'nobody at example', type: 'APP_USER' }).promise(), 481),
      'a user is of a type that there is': () =>
        invalid(f.createUser({ emailAddress: 'king@example.com', type: 'KING' }).promise(), 481),
      'a group has a name': () =>
        invalid(f.createPermissionGroup({ name: '', applicationPermissions: ['CreateDataset'] }).promise(), 481),
      'and may do what there is to do': () =>
        invalid(f.createPermissionGroup({ name: 'Odd', applicationPermissions: ['RuleTheWorld'] }).promise(), 481),
      'a page has a size': () => invalid(f.listPermissionGroups({ maxResults: 0 }).promise(), 481),
    }),
  },
};
