/** Parse Server over a database, with the class Boat as its document states it: `node serve.mjs PORT POSTGRES-ADDRESS`. */
import { createServer } from 'node:http';
import express from 'express';
import { ParseServer } from 'parse-server';

const [port, databaseURI] = process.argv.slice(2);
const server = new ParseServer({
  databaseURI,
  appId: 'harbour',
  masterKey: 'master-key-of-the-trials',
  // What `Location` begins with: the document's base address, wherever it listens.
  serverURL: 'http://127.0.0.1:1337/parse',
  verifyServerUrl: false,
  maxLimit: 200,
  allowClientClassCreation: false,
  silent: true,
  logsFolder: null,
  verbose: false,
  // Of one class: what it has, and who may do what with it.
  schema: {
    strict: false,
    lockSchemas: false,
    definitions: [
      {
        className: 'Boat',
        fields: {
          name: { type: 'String', required: true },
          seats: { type: 'Number', required: true, defaultValue: 2 },
          out: { type: 'Boolean', required: true, defaultValue: false },
          note: { type: 'String' },
          tags: { type: 'Array' },
        },
        classLevelPermissions: {
          find: { '*': true },
          get: { '*': true },
          count: { '*': true },
          create: { requiresAuthentication: true },
          update: { requiresAuthentication: true },
          delete: { requiresAuthentication: true },
          addField: {},
        },
      },
    ],
  },
});
await server.start();
const app = express();
app.use('/parse', server.app);
createServer(app).listen(Number(port), '127.0.0.1');
