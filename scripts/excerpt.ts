import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { load } from 'js-yaml';

/**
 * Cuts the excerpts of test/fixtures/corpus out of the vendors' own documents: `node scripts/excerpt.ts --corpus DIR`. An excerpt
 * has the chosen paths with all that they reach, and everything that stands around the paths, each value as it was.
 */
interface Excerpt {
  readonly vendor: string;
  readonly from: string;
  readonly to: string;
  /** The paths that are kept, each with what stands below it; a `$` at the end keeps that path alone. */
  readonly paths: readonly string[];
}

const excerpts: readonly Excerpt[] = [
  {
    vendor: 'stripe',
    from: 'spec3.yaml.gz',
    to: 'spec3.json.gz',
    paths: ['/v1/customers', '/v1/products', '/v1/prices', '/v1/subscriptions', '/v1/payment_intents', '/v1/invoices'],
  },
  {
    vendor: 'box',
    from: 'openapi.json',
    to: 'openapi.json.gz',
    paths: [
      '/files/content$',
      '/files/{file_id}$',
      '/files/{file_id}/comments',
      '/folders',
      '/users',
      '/comments',
      '/webhooks',
      '/groups',
    ],
  },
  {
    vendor: 'lob',
    from: 'lob-api-bundled.yml',
    to: 'lob-api.json.gz',
    paths: ['/addresses', '/postcards', '/templates', '/bank_accounts', '/us_verifications'],
  },
  {
    vendor: 'svix',
    from: 'codegen/lib-openapi.json',
    to: 'lib-openapi.json.gz',
    paths: [
      '/api/v1/app$',
      '/api/v1/app/{app_id}$',
      '/api/v1/app/{app_id}/endpoint$',
      '/api/v1/app/{app_id}/endpoint/{endpoint_id}$',
      '/api/v1/app/{app_id}/endpoint/{endpoint_id}/secret',
      '/api/v1/app/{app_id}/msg$',
      '/api/v1/app/{app_id}/msg/{msg_id}$',
      '/api/v1/event-type$',
      '/api/v1/event-type/{event_type_name}$',
    ],
  },
  {
    vendor: 'svix',
    from: 'server/openapi.json',
    to: 'server.json.gz',
    paths: ['/api/v1/app', '/api/v1/event-type', '/api/v1/health'],
  },
  {
    vendor: 'resend',
    from: 'resend.yaml',
    to: 'resend.json.gz',
    paths: ['/domains', '/audiences', '/contacts', '/api-keys', '/emails', '/webhooks'],
  },
  {
    vendor: 'slack',
    from: 'slack_web_openapi_v2_without_examples.json',
    to: 'slack_web.json.gz',
    paths: ['/chat.', '/conversations.', '/users.', '/auth.test$', '/reminders.', '/usergroups.'],
  },
  {
    vendor: 'netlify',
    from: 'swagger.yml',
    to: 'netlify.json.gz',
    paths: ['/sites$', '/sites/{site_id}$', '/sites/{site_id}/dns', '/oauth/tickets'],
  },
  { vendor: 'notion', from: 'notion-openapi.json', to: 'notion.json.gz', paths: ['/v1/pages', '/v1/users', '/v1/blocks'] },
  {
    vendor: 'intercom',
    from: 'api.intercom.io-2.14.yaml',
    to: 'intercom.json.gz',
    paths: ['/tags', '/contacts/{contact_id}$', '/companies/list', '/messages'],
  },
  {
    vendor: 'clerk',
    from: 'bapi-2026-05-12.yml',
    to: 'clerk.json.gz',
    paths: ['/domains', '/redirect_urls', '/users/{user_id}/ban$'],
  },
  {
    vendor: 'paypal',
    from: 'payments_payment_v2.json',
    to: 'paypal.json.gz',
    paths: ['/v2/payments/authorizations/{authorization_id}$', '/v2/payments/captures/{capture_id}'],
  },
  { vendor: 'klaviyo', from: 'stable.json.gz', to: 'klaviyo.json.gz', paths: ['/api/tag-groups', '/api/web-feeds'] },
  {
    vendor: 'qdrant',
    from: 'openapi-v1.18.json',
    to: 'qdrant.json.gz',
    paths: [
      '/collections/aliases',
      '/collections/{collection_name}/points/{id}$',
      '/collections/{collection_name}/points/query$',
    ],
  },
  { vendor: 'supabase-auth', from: 'openapi.yaml', to: 'supabase-auth.json.gz', paths: ['/token$', '/signup$', '/admin/users'] },
  { vendor: 'mollie', from: 'out.openapi.yaml.gz', to: 'mollie.json.gz', paths: ['/v2/clients', '/v2/terminals'] },
  {
    vendor: 'kubernetes',
    from: 'apis__batch__v1_openapi.json',
    to: 'kubernetes.json.gz',
    paths: ['/apis/batch/v1/namespaces/{namespace}/jobs$', '/apis/batch/v1/namespaces/{namespace}/jobs/{name}$'],
  },
  { vendor: 'mistral', from: 'openapi.yaml', to: 'mistral.json.gz', paths: ['/v1/models', '/v1/chat/completions'] },
  {
    vendor: 'bluesky',
    from: 'api.json.gz',
    to: 'bluesky.json.gz',
    paths: ['/xrpc/com.atproto.repo.', '/xrpc/com.atproto.server.createSession$', '/xrpc/app.bsky.graph.muteActor$'],
  },
  {
    vendor: 'basecamp',
    from: 'openapi.json.gz',
    to: 'basecamp.json.gz',
    paths: [
      '/{accountId}/projects.json$',
      '/{accountId}/projects/{projectId}$',
      '/{accountId}/todolists/{id}$',
      '/{accountId}/recordings/{messageId}/pin.json$',
    ],
  },
];

/** Small documents, taken whole. */
const whole: readonly (readonly [vendor: string, path: string])[] = [
  ['museum', 'openapi.yaml'],
  ['petstore3', 'openapi.yaml'],
  ['box', 'openapi-v2026.0.json'],
  ['azure-tables', 'table.json'],
  ...['v2.0/json/uber.json', 'v2.0/json/petstore-expanded.json', 'v2.0/json/api-with-examples.json'].map(oai),
  ...['common/Error.json', 'spec/NewPet.json', 'spec/Pet.json', 'spec/parameters.json', 'spec/swagger.json'].map((path) =>
    oai(`v2.0/json/petstore-separate/${path}`),
  ),
  ...['v3.0/link-example.yaml', 'v3.0/callback-example.yaml', 'v3.0/uspto.yaml', 'v3.0/api-with-examples.yaml'].map(oai),
  ...['v3.1/tictactoe.yaml', 'v3.1/webhook-example.yaml', 'v3.1/non-oauth-scopes.yaml', 'v3.2/3.2-tags-example.yaml'].map(oai),
];

function oai(path: string): readonly [string, string] {
  return ['oai-examples', path];
}

interface Tree {
  [key: string]: unknown;
}

const { values } = parseArgs({ options: { corpus: { type: 'string' } } });
const corpus = values.corpus;
if (corpus === undefined) throw new Error('Say where the documents are: --corpus DIR.');
const target = join(import.meta.dirname, '../test/fixtures/corpus');

for (const { vendor, from, to, paths } of excerpts) {
  const source = readTree(join(corpus, vendor, from));
  const text = `${JSON.stringify(cut(source, paths), undefined, 1)}\n`;
  write(join(target, vendor, to), gzipSync(text, { level: 9 }));
}
for (const [vendor, path] of whole) write(join(target, vendor, path), readFileSync(join(corpus, vendor, path)));
for (const vendor of new Set([...excerpts.map((one) => one.vendor), ...whole.map(([vendor]) => vendor)])) {
  write(join(target, vendor, 'LICENSE'), readFileSync(join(corpus, vendor, 'LICENSE')));
}

function readTree(path: string): Tree {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return (text.trimStart().startsWith('{') ? JSON.parse(text) : load(text)) as Tree;
}

function write(path: string, content: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The document with the chosen paths alone, and of its components and definitions those that are still spoken of. */
function cut(source: Tree, chosen: readonly string[]): Tree {
  const isChosen = (path: string) =>
    chosen.some((start) => (start.endsWith('$') ? path === start.slice(0, -1) : path.startsWith(start)));
  const paths = Object.fromEntries(Object.entries(source.paths as Tree).filter(([path]) => isChosen(path)));
  const { components, definitions, ...rest } = source;
  const kept = { ...rest, paths };
  const schemes = (components as Tree | undefined)?.securitySchemes;
  const reached = new Set<string>();
  const todo: unknown[] = [kept, schemes];
  for (let value = todo.pop(); todo.length > 0 || value !== undefined; value = todo.pop()) {
    for (const ref of refsIn(value)) {
      if (reached.has(ref)) continue;
      reached.add(ref);
      todo.push(at(source, ref));
    }
  }
  return {
    ...kept,
    ...(definitions !== undefined && { definitions: only(definitions as Tree, '#/definitions', reached) }),
    ...(components !== undefined && {
      components: Object.fromEntries(
        Object.entries(components as Tree).map(([kind, map]) => [
          kind,
          kind === 'securitySchemes' ? map : only(map as Tree, `#/components/${kind}`, reached),
        ]),
      ),
    }),
  };
}

function only(map: Tree, prefix: string, reached: ReadonlySet<string>): Tree {
  const isReached = (name: string) =>
    [...reached].some((ref) => ref === `${prefix}/${name}` || ref.startsWith(`${prefix}/${name}/`));
  return Object.fromEntries(Object.entries(map).filter(([name]) => isReached(name)));
}

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    // A discriminator's mapping speaks of schemas too.
    (key === '$ref' || key === 'mapping') && typeof inner === 'string'
      ? [inner]
      : key === 'mapping' && typeof inner === 'object' && inner !== null
        ? Object.values(inner).filter((ref): ref is string => typeof ref === 'string' && ref.startsWith('#/'))
        : refsIn(inner),
  );
}

function at(source: Tree, ref: string): unknown {
  return ref
    .slice(2)
    .split('/')
    .map((word) => decodeURIComponent(word).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, word) => (value as Tree | undefined)?.[word], source);
}
