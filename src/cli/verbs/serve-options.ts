import type { Verb } from '../verb.ts';

/** What `ninefold serve` takes. Each may come from the environment or a file too (`serve/layers.ts`). */
export const serveOptions: Verb['options'] = {
  port: { value: 'PORT', help: 'listen on this port (4009; 0 takes a free one)' },
  host: {
    value: 'HOST',
    help: 'listen on this address (127.0.0.1); on others than loopback ones only where the document states its schemes',
  },
  store: {
    value: 'FILE',
    help: 'keep the data in this SQLite file, or in postgres://… (:memory:, which forgets it at the end; or NINEFOLD_STORE)',
  },
  limits: {
    value: 'WHERE',
    help: 'count rates in redis://…, for all processes together, or here, each for itself (in postgres://… where the data is there)',
  },
  workers: {
    value: 'N',
    help: 'serve by so many processes that share the port, over postgres://…; each is begun anew where it ends',
  },
  handlers: { value: 'FILE', help: "a TypeScript or JavaScript module with the document's handlers" },
  rows: { value: 'FILE', help: 'rows to start with: a YAML or JSON map from resource to list' },
  production: { help: 'make no credentials, and refuse a document or an environment that leaves open who may call' },
  as: { value: 'USER', help: 'take every caller for this user (the first one stated), where no scheme is stated' },
  webhook: {
    value: 'URL',
    many: true,
    help: 'send every event to this address, for development; its secret is told at the start',
  },
  broker: { value: 'URL', help: 'publish every event to the broker at this address, of the kind that the document states' },
  'allow-private-webhooks': { help: 'send webhooks to addresses of this machine and its network too' },
  'webhook-hosts': {
    value: 'HOSTS',
    many: true,
    help: 'send webhooks of subscribers to these hosts alone, as in --webhook-hosts hooks.example.com,*.partner.example',
  },
  'https-webhooks': { help: 'send webhooks of subscribers by https alone' },
  open: { value: 'accept', help: 'let requests in doubt pass, naming the open facts in Ninefold-Open' },
  sample: {
    help: "be a stand-in for somebody else's service: make up what only open facts leave undetermined, named in Ninefold-Sampled",
  },
  'seed-value': { value: 'TEXT', help: '--sample: what is made up follows from this' },
  strict: { help: '--sample: refuse what the document refuses, also where its own clients are known to break it' },
  relax: { value: 'auth', help: 'take any credential, where one is declared or in a header called so' },
  'accept-credential': {
    value: 'TEXT',
    many: true,
    help: 'for trials: take this credential of your own client too, wherever it is shown; never in production',
  },
  coverage: { value: 'FILE', help: 'note down here what clients touch (a stand-in does so beside its --store)' },
  overlay: { value: 'FILE', many: true, help: 'change a description as this OpenAPI Overlay says, before it is taken over' },
  'no-cache': { help: 'take a document in another language over anew' },
  'accept-misfits': { help: 'serve although stored rows do not fit the document' },
  watch: { help: 'serve the new document whenever a file of it, or the handlers, changes; rows stay' },
  clock: {
    value: 'PORT',
    help: 'for trials: open a door on this port of 127.0.0.1 by which the clock is set forward (0 takes a free one); never in production',
  },
  scenarios: {
    value: 'FILE',
    help: 'for trials: play these, a YAML or JSON list of answers, delays and faults; never in production',
  },
  workbench: {
    value: 'PORT',
    help: 'for trials: open the workbench on this port of 127.0.0.1: scenarios, rows, reset, events, clock (0 takes a free one)',
  },
  operations: {
    value: '[HOST:]PORT',
    help: 'answer those who run it on this port, of 127.0.0.1 unless a host is given (0 takes a free one): /livez, /readyz, /metrics, keys …',
  },
  'operations-token-file': {
    value: 'FILE',
    help: '--operations: what an operator has to show for keys, deliveries, the ledger, the log',
  },
  'operations-hosts': {
    value: 'HOSTS',
    many: true,
    help: '--operations: the names by which it may be asked too, besides addresses and names without a point',
  },
  'drain-delay': {
    value: 'SECONDS',
    help: 'once it is to stop, say so in /readyz for so long before connections are closed',
  },
  drain: {
    value: 'SECONDS',
    help: 'then give what is under way so long to be finished (10); what is not is cut off, and told',
  },
  settings: {
    value: 'FILE',
    help: 'take options that are neither given here nor in the environment from this YAML or JSON map',
  },
  log: { value: 'FORM', help: 'pretty or json (pretty in a terminal; elsewhere only failures)' },
  traces: { help: 'make spans of OpenTelemetry of requests, commits and deliveries, where @opentelemetry/api is installed' },
  'log-level': { value: 'LEVEL', help: 'note down exchanges, only refusals (400 and above), or only failures' },
};
