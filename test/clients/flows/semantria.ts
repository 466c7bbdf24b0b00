import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** What the client gives back for an answer that it did not expect; it throws nothing by itself. */
interface Unexpected {
  readonly status: number;
  readonly reason?: unknown;
  readonly data?: string;
}
/** Each method waits for its answer: rows or an object for 200, the number for 202, and otherwise the answer as it was. */
type Answer = unknown;
interface Session {
  override(names: Record<string, unknown>): Session;
  runRequest(method: string, path: string, config?: { getParams?: object; postParams?: unknown }): Answer;
  getStatus(): Answer;
  getSupportedFeatures(language?: string): Answer;
  getSubscription(): Answer;
  getStatistics(): Answer;
  getConfigurations(): Answer;
  addConfigurations(rows: object[]): Answer;
  removeConfigurations(ids: string[]): Answer;
  getBlacklist(config?: string): Answer;
  addBlacklist(rows: object[], config?: string): Answer;
  removeBlacklist(ids: string[], config?: string): Answer;
  getCategories(config?: string): Answer;
  addCategories(rows: object[], config?: string): Answer;
  removeCategories(ids: string[], config?: string): Answer;
  getQueries(config?: string): Answer;
  addQueries(rows: object[], config?: string): Answer;
  removeQueries(ids: string[], config?: string): Answer;
  getEntities(config?: string): Answer;
  addEntities(rows: object[], config?: string): Answer;
  removeEntities(ids: string[], config?: string): Answer;
  getPhrases(config?: string): Answer;
  addPhrases(rows: object[], config?: string): Answer;
  removePhrases(ids: string[], config?: string): Answer;
  queueDocument(document: object, config?: string): Answer;
  queueBatchOfDocuments(batch: object[], config?: string): Answer;
  queueCollection(collection: object, config?: string): Answer;
  getDocument(id: string, config?: string): Answer;
  getCollection(id: string, config?: string): Answer;
  cancelDocument(id: string, config?: string): Answer;
  cancelCollection(id: string, config?: string): Answer;
  getProcessedDocuments(config?: string): Answer;
  getProcessedCollections(config?: string): Answer;
}
const semantria = createRequire(import.meta.url)('semantria-node') as {
  readonly Session: new (key: string, secret: string, application?: string, format?: string) => Session;
};

/** The address is a field of the session, which its own `override` sets, as it does with what is called when something is wrong. */
const connect = (place: Place, token: string): Session =>
  new semantria.Session(token, 'f4b7c0de-3ab1-4a8f-9f0e-2d6c1b5a9e77', 'Flows', 'json').override({
    API_HOST: place.url,
    onError: ({ status, message }: { status: number; message: string }) => {
      if (status >= 200 && status < 300) return;
      throw Object.assign(new Error(`${status}: ${message}`), { status });
    },
  });

interface Row {
  readonly id: string;
  readonly name: string;
}
interface Configuration {
  readonly config_id: string;
  readonly name: string;
  readonly is_primary: boolean;
  readonly language: string;
  readonly chars_threshold: number;
}
interface Analysed {
  readonly id: string;
  readonly status: string;
  readonly config_id?: string;
}

/** Rows: an empty list is told by 202 alone. */
const rows = <One = Row>(answer: Answer): One[] => {
  if (answer === 202 || (answer as Unexpected).status === 202) return [];
  assert.ok(Array.isArray(answer), `no list: ${JSON.stringify(answer).slice(0, 80)}`);
  return answer as One[];
};
/** Whether the service took it: with what it made of it, or "accepted and queued". */
const taken = (answer: Answer): void => {
  const status = typeof answer === 'number' ? answer : ((answer as Unexpected | null)?.status ?? 200);
  assert.ok(typeof status !== 'number' || (status >= 200 && status < 300), `answered ${status}`);
};
/** The one of that name, which is there exactly once. */
const named = <One extends { readonly name: string }>(all: readonly One[], name: string): One => {
  once(
    all.map((one) => one.name),
    [name],
  );
  return given(
    all.find((one) => one.name === name),
    name,
  );
};
const names = (all: readonly { readonly name: string }[]): string[] => all.map(({ name }) => name);
const document = (id: string) => ({
  id,
  text: 'Lisa - there is 2 Skinny cow coupons available $5 skinny cow ice cream coupons on special k boxes.',
  tag: 'coupons',
  job_id: 'flows',
});
const collection = (id: string) => ({
  id,
  tag: 'coupons',
  job_id: 'flows',
  documents: ['Thanks for the coupons.', 'On this day in 1786 mobs tried to free the prisoners.'],
});
/** A configuration with all that one has to have. */
const configuration = (name: string) => ({
  name,
  is_primary: false,
  language: 'English',
  auto_response: false,
  one_sentence: false,
  process_html: false,
  callback: '',
  chars_threshold: 80,
  categories_threshold: 0.5,
  entities_threshold: 55,
  document: {
    auto_categories_limit: 5,
    concept_topics_limit: 5,
    detect_language: true,
    entity_themes_limit: 5,
    intentions: false,
    model_sentiment: false,
    named_entities_limit: 5,
    named_mentions_limit: 0,
    named_opinions_limit: 0,
    named_relations_limit: 0,
    phrases_limit: 0,
    pos_types: 'All',
    possible_phrases_limit: 0,
    query_topics_limit: 5,
    summary_limit: 3,
    theme_mentions_limit: 0,
    themes_limit: 5,
    user_entities_limit: 5,
    user_mentions_limit: 0,
    user_opinions_limit: 0,
    user_relations_limit: 0,
  },
  collection: {
    attribute_mentions_limit: 0,
    concept_topics_limit: 5,
    facet_atts_limit: 5,
    facet_mentions_limit: 0,
    facets_limit: 5,
    named_entities_limit: 5,
    named_mentions_limit: 0,
    query_topics_limit: 5,
    theme_mentions_limit: 0,
    themes_limit: 5,
    user_entities_limit: 5,
    user_mentions_limit: 0,
  },
});
const configurations = (api: Session): Configuration[] => rows<Configuration>(api.getConfigurations());
const configured = async (api: Session, s: State, name: string): Promise<void> => {
  taken(api.addConfigurations([configuration(name)]));
  s.config = given(named(configurations(api), name).config_id, 'config_id');
};

/** Guide: semantria.readme.io and github.com/Semantria/semantria-sdk (README, DetailedModeTestApp, DiscoveryModeTestApp, Tests of the client): "Configurations", "Blacklist", "Categories", "Queries", "Entities", "Phrases", "Documents", "Collections", "Status", "Subscription", "Statistics". */
export const vendor: Vendor<Session> = {
  document: 'semantria/semantria.com.json',
  header: 'authorization',
  word: 'OAuth',
  made: 'e2b3f8a4-6c1d-4f57-9a3b-0c8d7e6f5a41',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'what is left out of the results': (api, s) => ({
      add: async () => taken(api.addBlacklist([{ name: 'http://www.semantria.com' }])),
      'it is listed': async () => {
        s.id = given(named(rows(api.getBlacklist()), 'http://www.semantria.com').id, 'id');
      },
      remove: async () => taken(api.removeBlacklist([s.id])),
      'it is listed no more': async () => assert.ok(!names(rows(api.getBlacklist())).includes('http://www.semantria.com')),
    }),
    'a category': (api, s) => ({
      add: async () => taken(api.addCategories([{ name: 'TEST_CATEGORY_1', weight: 0.75, samples: ['entity 1', 'entity 2'] }])),
      'it is listed as it was sent': async () => {
        const one = named(rows<Row & { weight: number; samples: string[] }>(api.getCategories()), 'TEST_CATEGORY_1');
        assert.deepEqual([one.weight, one.samples], [0.75, ['entity 1', 'entity 2']]);
        s.id = given(one.id, 'id');
      },
      'another weight': async () =>
        taken(
          api.runRequest('PUT', '/categories', {
            postParams: [{ id: s.id, name: 'TEST_CATEGORY_1', weight: 0.5, samples: ['entity 1'] }],
          }),
        ),
      'it has it': async () => {
        const one = named(rows<Row & { weight: number; samples: string[] }>(api.getCategories()), 'TEST_CATEGORY_1');
        assert.deepEqual([one.id, one.weight, one.samples], [s.id, 0.5, ['entity 1']]);
      },
      remove: async () => taken(api.removeCategories([s.id])),
      'it is listed no more': async () => assert.ok(!names(rows(api.getCategories())).includes('TEST_CATEGORY_1')),
    }),
    'a query': (api, s) => ({
      add: async () => taken(api.addQueries([{ name: 'TEST_QUERY', query: 'amazon AND kindle' }])),
      'it is listed as it was sent': async () => {
        const one = named(rows<Row & { query: string }>(api.getQueries()), 'TEST_QUERY');
        assert.equal(one.query, 'amazon AND kindle');
        s.id = given(one.id, 'id');
      },
      'another query': async () =>
        taken(api.runRequest('PUT', '/queries', { postParams: [{ id: s.id, name: 'TEST_QUERY', query: 'google' }] })),
      'it is that one': async () => {
        const one = named(rows<Row & { query: string }>(api.getQueries()), 'TEST_QUERY');
        assert.deepEqual([one.id, one.query], [s.id, 'google']);
      },
      remove: async () => taken(api.removeQueries([s.id])),
      'it is listed no more': async () => assert.ok(!names(rows(api.getQueries())).includes('TEST_QUERY')),
    }),
    'an entity': (api, s) => ({
      add: async () => taken(api.addEntities([{ name: 'chair', type: 'furniture', label: 'Chair', normalized: 'chair' }])),
      'it is listed as it was sent': async () => {
        const one = named(rows<Row & { type: string; label: string }>(api.getEntities()), 'chair');
        assert.deepEqual([one.type, one.label], ['furniture', 'Chair']);
        s.id = given(one.id, 'id');
      },
      remove: async () => taken(api.removeEntities([s.id])),
      'it is listed no more': async () => assert.ok(!names(rows(api.getEntities())).includes('chair')),
    }),
    'phrases that bear sentiment': (api, s) => ({
      'add two': async () =>
        taken(
          api.addPhrases([
            { name: 'chocolate', weight: 0.75 },
            { name: 'queue', weight: -0.5 },
          ]),
        ),
      'both are listed as they were sent': async () => {
        const all = rows<Row & { weight: number }>(api.getPhrases());
        assert.deepEqual([named(all, 'chocolate').weight, named(all, 'queue').weight], [0.75, -0.5]);
        s.id = given(named(all, 'queue').id, 'id');
      },
      'remove one': async () => taken(api.removePhrases([s.id])),
      'the other is left': async () => {
        const all = names(rows(api.getPhrases()));
        assert.deepEqual([all.includes('chocolate'), all.includes('queue')], [true, false]);
      },
    }),
    'a configuration': (api, s) => ({
      create: async () => configured(api, s, 'TEST_CONFIG'),
      'it is listed as it was sent': async () => {
        const one = named(configurations(api), 'TEST_CONFIG');
        assert.deepEqual([one.is_primary, one.language, one.chars_threshold], [false, 'English', 80]);
      },
      'another threshold': async () =>
        taken(
          api.runRequest('PUT', '/configurations', {
            postParams: [{ ...configuration('TEST_CONFIG'), config_id: s.config, chars_threshold: 50 }],
          }),
        ),
      'it has it': async () => {
        const one = named(configurations(api), 'TEST_CONFIG');
        assert.deepEqual([one.config_id, one.chars_threshold], [s.config, 50]);
      },
      remove: async () => taken(api.removeConfigurations([s.config])),
      'it is listed no more': async () => assert.ok(!names(configurations(api)).includes('TEST_CONFIG')),
    }),
    'what belongs to a configuration': (api, s) => ({
      'two configurations': async () => {
        await configured(api, s, 'ONE');
        s.one = s.config;
        await configured(api, s, 'TWO');
        assert.notEqual(s.config, s.one);
      },
      'a query in the first': async () => taken(api.addQueries([{ name: 'ONLY_HERE', query: 'kindle' }], s.one)),
      'the first has it': async () => once(names(rows(api.getQueries(s.one))), ['ONLY_HERE']),
      'the second does not': async () => assert.ok(!names(rows(api.getQueries(s.config))).includes('ONLY_HERE')),
    }),
    'a document': (api, s) => ({
      queue: async () => {
        s.id = 'flows-document-1';
        const answer = api.queueDocument(document(s.id));
        taken(answer);
        if (typeof answer === 'object') assert.equal((answer as { id?: string }).id, s.id);
      },
      'what is known of it': async () => {
        const one = api.getDocument(s.id) as Analysed;
        assert.equal(one.id, s.id);
        assert.ok(['queued', 'processed', 'failed'].includes(String(one.status).toLowerCase()), one.status);
      },
      cancel: async () => taken(api.cancelDocument(s.id)),
      'it is gone': async () => {
        await refused((async () => api.getDocument(s.id))(), 404);
      },
    }),
    'a batch of documents': (api, s) => ({
      queue: async () => {
        s.ids = 'flows-batch-1,flows-batch-2';
        taken(api.queueBatchOfDocuments(s.ids.split(',').map(document)));
      },
      'each is known': async () => {
        for (const id of s.ids.split(',')) assert.equal((api.getDocument(id) as Analysed).id, id);
      },
      'those that are done': async () => {
        const answer = api.getProcessedDocuments();
        taken(answer);
      },
    }),
    'a collection': (api, s) => ({
      queue: async () => {
        s.id = 'flows-collection-1';
        taken(api.queueCollection(collection(s.id)));
      },
      'what is known of it': async () => {
        const one = api.getCollection(s.id) as Analysed;
        assert.equal(one.id, s.id);
        assert.ok(['queued', 'processed', 'failed'].includes(String(one.status).toLowerCase()), one.status);
      },
      'those that are done': async () => taken(api.getProcessedCollections()),
      cancel: async () => taken(api.cancelCollection(s.id)),
      'it is gone': async () => {
        await refused((async () => api.getCollection(s.id))(), 404);
      },
    }),
    'the service and what it allows': (api) => ({
      status: async () => {
        const status = api.getStatus() as Record<string, unknown>;
        assert.deepEqual(
          [typeof status.api_version, typeof status.service_status, Array.isArray(status.supported_languages)],
          ['string', 'string', true],
        );
      },
      subscription: async () => {
        const subscription = api.getSubscription() as { name: string; basic_settings: Record<string, unknown> };
        assert.deepEqual([typeof subscription.name, typeof subscription.basic_settings.batch_limit], ['string', 'number']);
      },
      statistics: async () => {
        const statistics = api.getStatistics() as { overall_docs: unknown; configurations: unknown };
        assert.deepEqual([typeof statistics.overall_docs, Array.isArray(statistics.configurations)], ['number', true]);
      },
      'what English can have': async () => {
        const features = rows<{ language: string }>(api.getSupportedFeatures('English'));
        assert.ok(features.every(({ language }) => typeof language === 'string'));
      },
    }),
    'a key that is refused': (_api, _s, another) => ({
      refused: async () => {
        await refused((async () => another('nobody').getConfigurations())(), 401);
      },
      'nor may it queue anything': async () => {
        await refused((async () => another('nobody').queueDocument(document('flows-nobody')))(), 401);
      },
    }),
    'what there is not': (api) => ({
      'a document': async () => {
        await refused((async () => api.getDocument('flows-nothing'))(), 404);
      },
      'a collection': async () => {
        await refused((async () => api.getCollection('flows-nothing'))(), 404);
      },
      'a document to cancel': async () => {
        await refused((async () => api.cancelDocument('flows-nothing'))(), 404);
      },
      'the primary configuration cannot be removed': async () => {
        const primary = configurations(api).filter((one) => one.is_primary);
        for (const { config_id } of primary) {
          await refused((async () => api.removeConfigurations([config_id]))(), 403);
        }
      },
    }),
  },
};
