import assert from 'node:assert/strict';
import { AzureNamedKeyCredential, odata, TableClient, TableServiceClient } from '@azure/data-tables';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

interface Tables {
  readonly service: TableServiceClient;
  readonly table: (name: string) => TableClient;
}

const connect = (place: Place, token: string): Tables => {
  const key = new AzureNamedKeyCredential('acct', token);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  return {
    service: new TableServiceClient(place.base, key, options),
    table: (name) => new TableClient(place.base, name, key, options),
  };
};

const entity = (rowKey: string, age = 40) => ({ partitionKey: 'p1', rowKey, name: `name of ${rowKey}`, age });

const filled = async ({ table }: Tables): Promise<TableClient> => {
  const client = table('people');
  await client.createTable();
  for (const n of [1, 2, 3, 4, 5]) await client.createEntity(entity(`r${n}`, 20 + n));
  return client;
};

const keys = (rows: readonly { rowKey?: string }[]): string[] => rows.map(({ rowKey }) => rowKey ?? '');

/** Guide: learn.microsoft.com, "Azure Tables client library for JavaScript" and the Table service REST API. */
export const vendor: Vendor<Tables> = {
  document: 'azure-tables/table.json',
  header: 'Authorization',
  word: 'SharedKeyLite',
  made: 'a2V5',
  hides: true,
  client: connect,
  flows: {
    'a table from its making to its end': ({ service }) => {
      const names = async () => gather(service.listTables(), ({ name }) => [given(name, 'name')]);
      return {
        create: async () => service.createTable('people'),
        list: async () => once(await names(), ['people']),
        delete: async () => service.deleteTable('people'),
        'gone from the list': async () => assert.ok(!(await names()).includes('people')),
      };
    },
    'an entity from its making to its end': ({ table }) => {
      const people = table('people');
      return {
        'create the table': async () => people.createTable(),
        create: async () => {
          await people.createEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'Marie', age: 66 });
        },
        read: async () => {
          const read = await people.getEntity<{ name: string; age: number }>('p1', 'r1');
          assert.deepEqual([read.partitionKey, read.rowKey, read.name, read.age], ['p1', 'r1', 'Marie', 66]);
        },
        merge: async () => {
          await people.updateEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'Marie Curie' }, 'Merge');
        },
        'the name is new and the age is old': async () => {
          const read = await people.getEntity<{ name: string; age: number }>('p1', 'r1');
          assert.deepEqual([read.name, read.age], ['Marie Curie', 66]);
        },
        replace: async () => {
          await people.updateEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'Pierre' }, 'Replace');
        },
        'the age is not there': async () => {
          const read = await people.getEntity<{ name: string; age?: number }>('p1', 'r1');
          assert.deepEqual([read.name, read.age], ['Pierre', undefined]);
        },
        delete: async () => {
          await people.deleteEntity('p1', 'r1');
        },
        gone: async () => refused(people.getEntity('p1', 'r1'), 404),
      };
    },
    'entities through all pages': (tables) => {
      const people = tables.table('people');
      return {
        fill: async () => {
          await filled(tables);
        },
        'walk pages of two': async () => {
          const rows = await gather(people.listEntities().byPage({ maxPageSize: 2 }), (page) => page);
          once(keys(rows as { rowKey?: string }[]), ['r1', 'r2', 'r3', 'r4', 'r5']);
        },
        'a page holds what was asked for': async () => {
          const first = await people.listEntities().byPage({ maxPageSize: 2 }).next();
          assert.equal((first.value as unknown[]).length, 2);
        },
      };
    },
    'entities are found by a filter': (tables) => {
      const people = tables.table('people');
      return {
        fill: async () => {
          await filled(tables);
        },
        'by a key': async () => {
          const filter = odata`PartitionKey eq ${'p1'} and RowKey eq ${'r3'}`;
          assert.deepEqual(keys(await gather(people.listEntities({ queryOptions: { filter } }), (row) => [row])), ['r3']);
        },
        'by a number': async () => {
          const filter = odata`age ge ${24}`;
          const rows = await gather(people.listEntities({ queryOptions: { filter } }), (row) => [row]);
          assert.deepEqual(keys(rows).sort(), ['r4', 'r5']);
        },
        'only some members': async () => {
          const [row] = await gather(
            people.listEntities<{ name?: string; age?: number }>({ queryOptions: { select: ['name'] } }),
            (one) => [one],
          );
          assert.equal(typeof row?.name, 'string');
          assert.equal(row?.age, undefined);
        },
      };
    },
    'an entity is put, there or not': ({ table }) => {
      const people = table('people');
      const name = async () => (await people.getEntity<{ name: string }>('p1', 'r1')).name;
      return {
        'create the table': async () => people.createTable(),
        'put what is not there': async () => {
          await people.upsertEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'first' }, 'Replace');
        },
        read: async () => assert.equal(await name(), 'first'),
        'put it again': async () => {
          await people.upsertEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'second' }, 'Replace');
        },
        'read again': async () => assert.equal(await name(), 'second'),
        'there is one': async () => assert.deepEqual(keys(await gather(people.listEntities(), (row) => [row])), ['r1']),
      };
    },
    'two tables are apart': ({ table }) => {
      const [cats, dogs] = [table('cats'), table('dogs')];
      return {
        'create both': async () => {
          await cats.createTable();
          await dogs.createTable();
        },
        'one entity in each': async () => {
          await cats.createEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'Tom' });
          await dogs.createEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'Rex' });
        },
        'each has its own': async () => {
          assert.equal((await cats.getEntity<{ name: string }>('p1', 'r1')).name, 'Tom');
          assert.equal((await dogs.getEntity<{ name: string }>('p1', 'r1')).name, 'Rex');
        },
        'one is deleted': async () => {
          await cats.deleteEntity('p1', 'r1');
          await refused(cats.getEntity('p1', 'r1'), 404);
        },
        'the other is there': async () => assert.equal((await dogs.getEntity<{ name: string }>('p1', 'r1')).name, 'Rex'),
      };
    },
    'an entity is changed only as it was read': ({ table }, s) => {
      const people = table('people');
      return {
        create: async () => {
          await people.createTable();
          await people.createEntity(entity('r1'));
        },
        'read its tag': async () => {
          s.etag = given((await people.getEntity('p1', 'r1')).etag, 'etag');
        },
        'change it with the tag': async () => {
          await people.updateEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'new' }, 'Merge', { etag: s.etag });
        },
        'the old tag is refused': async () =>
          refused(people.updateEntity({ partitionKey: 'p1', rowKey: 'r1', name: 'newer' }, 'Merge', { etag: s.etag }), 412),
      };
    },
    'several entities are written at once': ({ table }) => {
      const people = table('people');
      return {
        'create the table': async () => people.createTable(),
        write: async () => {
          const answer = await people.submitTransaction([
            ['create', entity('r1')],
            ['create', entity('r2')],
          ]);
          assert.equal(answer.status, 202);
        },
        'both are there': async () => once(keys(await gather(people.listEntities(), (row) => [row])), ['r1', 'r2']),
      };
    },
    'keys with quotes and blanks': ({ table }) => {
      const people = table('people');
      return {
        create: async () => {
          await people.createTable();
          await people.createEntity({ partitionKey: "o'brien", rowKey: 'a b', name: 'odd' });
        },
        read: async () => assert.equal((await people.getEntity<{ name: string }>("o'brien", 'a b')).name, 'odd'),
        delete: async () => {
          await people.deleteEntity("o'brien", 'a b');
        },
        gone: async () => refused(people.getEntity("o'brien", 'a b'), 404),
      };
    },
    'requests that are wrong': ({ table }) => {
      const people = table('people');
      return {
        'an entity that nobody made': async () => {
          await people.createTable();
          await refused(people.getEntity('p1', 'nobody'), 404);
        },
        'an entity that is there already': async () => {
          await people.createEntity(entity('r1'));
          await refused(people.createEntity(entity('r1')), 409);
        },
        'a change of what is not there': async () => refused(people.updateEntity(entity('nobody'), 'Replace'), 404),
      };
    },
  },
};
