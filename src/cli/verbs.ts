import { exportFormats } from './export-formats.ts';
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
      host: {
        value: 'HOST',
        help: 'listen on this address (127.0.0.1); on others than loopback ones only where the document states its schemes',
      },
      store: { value: 'FILE', help: 'keep the data in this SQLite file (:memory:, which forgets it at the end)' },
      handlers: { value: 'FILE', help: "a TypeScript or JavaScript module with the document's handlers" },
      rows: { value: 'FILE', help: 'rows to start with: a YAML or JSON map from resource to list' },
      production: { help: 'make no credentials, and refuse a document or an environment that leaves open who may call' },
      as: { value: 'USER', help: 'take every caller for this user (the first one stated), where no scheme is stated' },
      webhook: {
        value: 'URL',
        many: true,
        help: 'send every event to this address, for development; its secret is told at the start',
      },
      'allow-private-webhooks': { help: 'send webhooks to addresses of this machine and its network too' },
      open: { value: 'accept', help: 'let requests in doubt pass, naming the open facts in Ninefold-Open' },
      sample: {
        help: "be a stand-in for somebody else's service: make up what only open facts leave undetermined, named in Ninefold-Sampled",
      },
      'seed-value': { value: 'TEXT', help: '--sample: what is made up follows from this' },
      strict: { help: '--sample: refuse what the document refuses, also where its own clients are known to break it' },
      relax: { value: 'auth', help: 'take any credential of the declared form' },
      coverage: { value: 'FILE', help: 'note down here what clients touch (a stand-in does so beside its --store)' },
      'no-cache': { help: 'take a document in another language over anew' },
      'accept-misfits': { help: 'serve although stored rows do not fit the document' },
      watch: { help: 'serve the new document whenever a file of it, or the handlers, changes; rows stay' },
      log: { value: 'FORM', help: 'pretty or json (pretty in a terminal; elsewhere only failures)' },
    },
    load: async () => (await import('./serve.ts')).runServe,
  },
  {
    name: 'keys',
    summary: 'give out keys and passwords, list them, replace them and take them back',
    about: [
      'Works on the data in --store FILE, through the service that runs over it or, where none does, in the file itself.',
      'add writes a new key to the standard output, once; what is kept is its hash. list shows all that there are, never the',
      'keys themselves. rotate writes a new key and lets the old one hold for a while. revoke ends a key for every request',
      'from then on. Exits with 1 if that cannot be done as asked, and with 2 if the command is misspelt.',
    ].join('\n'),
    actions: ['add', 'list', 'revoke', 'rotate'],
    options: {
      store: { value: 'FILE', help: 'the SQLite file that the service keeps its data in' },
      user: { value: 'USER', help: "add: the caller's user; list, revoke: the keys of this user" },
      id: { value: 'ID', help: "add: the caller's identifier; list, revoke: the keys of this caller" },
      scopes: { value: 'SCOPES', many: true, help: 'add: what the key may be used for, as in --scopes parcels,quotes' },
      scheme: { value: 'SCHEME', help: 'add: the scheme of the document (the first that keys are given out for)' },
      expires: { value: 'DURATION', help: 'add: how long the key holds, as in 90d (for ever)' },
      'secret-stdin': { help: 'add, rotate: take the password, or a key that there is already, from the standard input' },
      key: { value: 'KEY', help: 'revoke, rotate: the name of the key, as list shows it' },
      keep: { value: 'DURATION', help: 'rotate: how long the old key still holds (24h)' },
      json: { help: 'write what is told as JSON' },
    },
    load: async () => (await import('./keys.ts')).runKeys,
  },
  {
    name: 'deliveries',
    summary: 'list what was sent by webhook, with every attempt, and send it again',
    about: [
      'Works on the data in --store FILE, through the service that runs over it or, where none does, in the file itself.',
      'list shows deliveries, newest first; show one with every attempt; resend begins anew with one, or with all that were',
      'given up. What is done with is kept for a week. Exits with 1 if that cannot be done as asked, and with 2 if the command',
      'is misspelt.',
    ].join('\n'),
    actions: ['list', 'show', 'resend'],
    options: {
      store: { value: 'FILE', help: 'the SQLite file that the service keeps its data in' },
      id: { value: 'ID', help: "show, resend: the delivery's number, or the id of an event for all of its deliveries" },
      failed: { help: 'list, resend: those that were given up' },
      json: { help: 'write what is told as JSON' },
    },
    load: async () => (await import('./deliveries.ts')).runDeliveries,
  },
  {
    name: 'coverage',
    summary: 'say what clients touched of a document while it was served',
    about: [
      'Reads what `ninefold serve DOC --coverage FILE` noted down, or a stand-in beside its --store: which endpoints were',
      'called, with which answers, which open facts the requests met, what was made up and what was let pass. Exits with 0, with 1',
      'if --least asks for more, and with 2 if the command is misspelt or there is no record.',
    ].join('\n'),
    takes: 'RECORD',
    options: {
      store: { value: 'FILE', help: 'the data of the stand-in, in place of the record' },
      least: { value: 'SHARE', help: 'exit with 1 if fewer of a hundred endpoints were called, as in --least 80%' },
      all: { help: 'list the endpoints that were not called too' },
      json: { help: 'write the record as JSON' },
    },
    load: async () => (await import('./coverage.ts')).runCoverage,
  },
  {
    name: 'import',
    summary: 'take over a document of OpenAPI or AsyncAPI',
    about: [
      'Reads a document of Swagger 2.0, OpenAPI or AsyncAPI, in YAML, JSON or either in gzip, with the files that it refers',
      'to, and writes it in nine parts to the standard output, or into a file. What it states is stated, what can be read',
      'off with good reason has a row under evidence, everything else is open. Exits with 1 if a file that is referred to',
      'cannot be read, and with 2 if the command is misspelt or the file itself cannot. Every other verb takes such a file too.',
    ].join('\n'),
    options: {
      to: { value: 'FORMAT', help: 'md or yaml (what the name of the output ends in, else md)' },
      output: { value: 'FILE', short: 'o', help: 'write into this file' },
      report: { help: 'say what was taken, inferred, left open and not carried, in place of the document' },
      json: { help: 'write the report as JSON' },
    },
    load: async () => (await import('./import.ts')).runImport,
  },
  {
    name: 'export',
    summary: 'write a document in another format',
    about: [
      'Writes the document in the format that --to names to the standard output, or into a file. Exits with 1 if the',
      'document is not sound, and with 2 if the command is misspelt or the document cannot be read.',
    ].join('\n'),
    options: {
      to: { value: 'FORMAT', help: exportFormats.map(({ name, help }) => `${name}: ${help}`).join('; ') },
      output: { value: 'FILE', short: 'o', help: 'write into this file; JSON becomes YAML where its name ends in .yaml or .yml' },
    },
    load: async () => (await import('./export.ts')).runExport,
  },
];
