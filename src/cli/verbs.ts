import type { Verb } from './verb.ts';

/** The verbs of the command line, in the order of the help. */
export const verbs: readonly Verb[] = [
  {
    name: 'check',
    summary: 'say what a document states, what it leaves open and what is wrong with it',
    about: [
      'Draws up the ledger of the document, nine rows with how many facts are stated, none, any, inferred and open, and',
      'shows each finding at its place. Exits with 0 if no finding is an error, with 1 if one is, and with 2 if the command',
      'is misspelt or the document cannot be read.',
    ].join('\n'),
    options: {
      open: { help: 'list each open fact with its place, its question and its prose' },
      json: { help: 'write the report as JSON' },
      require: {
        value: 'PARTS',
        many: true,
        help: 'fail on open facts of these parts, as in --require endpoints,errors',
      },
      watch: { help: 'check again whenever the document or a file that it includes changes' },
    },
    load: async () => (await import('./check.ts')).runCheck,
  },
  {
    name: 'serve',
    summary: 'be the service that a document describes',
    about: [
      'Serves the document until SIGINT or SIGTERM; then takes no new connections, finishes what is under way and exits with',
      '0. Exits with 1 if the document is not sound or stored rows do not fit it, and with 2 if the command is misspelt, a',
      'file cannot be read or the port is taken.',
    ].join('\n'),
    options: {
      port: { value: 'PORT', help: 'listen on this port (4009; 0 takes a free one)' },
      host: { value: 'HOST', help: 'listen on this loopback address (127.0.0.1)' },
      store: { value: 'FILE', help: 'keep the data in this SQLite file (:memory:, which forgets it at the end)' },
      handlers: { value: 'FILE', help: "a TypeScript or JavaScript module with the document's handlers" },
      rows: { value: 'FILE', help: 'rows to start with: a YAML or JSON map from resource to list' },
      as: { value: 'USER', help: 'take every caller for this user (the first one stated)' },
      open: { value: 'accept', help: 'let requests in doubt pass, naming the open facts in Ninefold-Open' },
      'accept-misfits': { help: 'serve although stored rows do not fit the document' },
      watch: { help: 'serve the new document whenever a file of it, or the handlers, changes; rows stay' },
      log: { value: 'FORM', help: 'pretty or json (pretty in a terminal; elsewhere only failures)' },
    },
    load: async () => (await import('./serve.ts')).runServe,
  },
  {
    name: 'export',
    summary: 'write a document in another format',
    about: [
      'Writes the document in the format that --to names to the standard output. Exits with 1 if the document is not sound,',
      'and with 2 if the command is misspelt or the document cannot be read.',
    ].join('\n'),
    options: {
      to: { value: 'FORMAT', help: 'typescript: the types that handlers are written with' },
    },
    load: async () => (await import('./export.ts')).runExport,
  },
];
