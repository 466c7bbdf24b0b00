import assert from 'node:assert/strict';
import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions, type V1ConfigMap } from '@kubernetes/client-node';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): CoreV1Api => {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: place.url, skipTLSVerify: true }],
    users: [{ name: 'u', token }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
    currentContext: 'x',
  });
  return config.makeApiClient(CoreV1Api);
};

const namespace = 'default';

const map = (
  name: string,
  data: Record<string, string> = { key: 'value' },
  labels: Record<string, string> = {},
): V1ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});

const make = async (core: CoreV1Api, ...names: readonly string[]): Promise<void> => {
  for (const name of names) await core.createNamespacedConfigMap({ namespace, body: map(name) });
};

const names = (list: { items: readonly { metadata?: { name?: string } }[] }): string[] =>
  list.items.map(({ metadata }) => metadata?.name ?? '');

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'nginx', image: 'nginx:1.14.2', ports: [{ containerPort: 80 }] }] },
});

/** Guide: kubernetes.io, "Kubernetes API Concepts" and the API reference; the client's README and examples. */
export const vendor: Vendor<CoreV1Api> = {
  document: 'kubernetes/api__v1_openapi.json.gz',
  header: 'Authorization',
  word: 'Bearer',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a config map from its making to its end': (core) => ({
      create: async () => {
        const made = await core.createNamespacedConfigMap({ namespace, body: map('settings', { colour: 'blue' }) });
        assert.deepEqual([made.metadata?.name, made.metadata?.namespace, made.data], ['settings', namespace, { colour: 'blue' }]);
      },
      read: async () => {
        const read = await core.readNamespacedConfigMap({ name: 'settings', namespace });
        assert.deepEqual([read.kind, read.data], ['ConfigMap', { colour: 'blue' }]);
        assert.equal(typeof read.metadata?.uid, 'string');
      },
      replace: async () => {
        const body = map('settings', { colour: 'red', size: 'large' });
        assert.deepEqual((await core.replaceNamespacedConfigMap({ name: 'settings', namespace, body })).data, {
          colour: 'red',
          size: 'large',
        });
      },
      list: async () => once(names(await core.listNamespacedConfigMap({ namespace })), ['settings']),
      delete: async () => {
        await core.deleteNamespacedConfigMap({ name: 'settings', namespace });
      },
      gone: async () => refused(core.readNamespacedConfigMap({ name: 'settings', namespace }), 404),
    }),
    'config maps through all pages': (core) => ({
      create: async () => make(core, 'a', 'b', 'c', 'd', 'e'),
      'walk pages of two': async () => {
        const rows = await pages(
          async (from) =>
            core.listNamespacedConfigMap({ namespace, limit: 2, ...(from === undefined ? {} : { _continue: from }) }),
          (page) => names(page),
          (page) => page.metadata?._continue || undefined,
        );
        once(rows, ['a', 'b', 'c', 'd', 'e']);
      },
      'a page holds what was asked for': async () =>
        assert.equal((await core.listNamespacedConfigMap({ namespace, limit: 2 })).items.length, 2),
    }),
    'a config map is patched': (core) => {
      const at = { name: 'patched', namespace };
      return {
        create: async () => {
          await core.createNamespacedConfigMap({ namespace, body: map('patched', { a: '1', b: '2' }) });
        },
        merge: async () => {
          const type = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
          const made = await core.patchNamespacedConfigMap({ ...at, body: { data: { b: null, c: '3' } } }, type);
          assert.deepEqual(made.data, { a: '1', c: '3' });
        },
        'patch by operations': async () => {
          const type = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
          const body = [{ op: 'replace', path: '/data/a', value: '9' }];
          assert.deepEqual((await core.patchNamespacedConfigMap({ ...at, body }, type)).data, { a: '9', c: '3' });
        },
        read: async () => assert.deepEqual((await core.readNamespacedConfigMap(at)).data, { a: '9', c: '3' }),
      };
    },
    'the same name in two namespaces': (core) => {
      const data = async (within: string) => (await core.readNamespacedConfigMap({ name: 'twin', namespace: within })).data;
      return {
        'create both namespaces': async () => {
          for (const name of ['left', 'right']) await core.createNamespace({ body: { metadata: { name } } });
        },
        'create one in each': async () => {
          await core.createNamespacedConfigMap({ namespace: 'left', body: map('twin', { side: 'left' }) });
          await core.createNamespacedConfigMap({ namespace: 'right', body: map('twin', { side: 'right' }) });
        },
        'each has its own': async () =>
          assert.deepEqual([await data('left'), await data('right')], [{ side: 'left' }, { side: 'right' }]),
        'a list has only those of its namespace': async () =>
          assert.deepEqual(names(await core.listNamespacedConfigMap({ namespace: 'left' })), ['twin']),
        'delete one': async () => {
          await core.deleteNamespacedConfigMap({ name: 'twin', namespace: 'left' });
        },
        'the other is there': async () => assert.deepEqual(await data('right'), { side: 'right' }),
      };
    },
    'a namespace': (core) => ({
      create: async () => {
        const made = await core.createNamespace({ body: { metadata: { name: 'test', labels: { team: 'a' } } } });
        assert.equal(made.metadata?.name, 'test');
      },
      read: async () => assert.deepEqual((await core.readNamespace({ name: 'test' })).metadata?.labels, { team: 'a' }),
      list: async () => once(names(await core.listNamespace()), ['test']),
      delete: async () => {
        await core.deleteNamespace({ name: 'test' });
      },
      gone: async () => refused(core.readNamespace({ name: 'test' }), 404),
    }),
    'a secret': (core) => ({
      create: async () => {
        const body = { metadata: { name: 'login' }, type: 'Opaque', data: { password: 'aHVudGVyMg==' } };
        const made = await core.createNamespacedSecret({ namespace, body });
        assert.deepEqual([made.type, made.data], ['Opaque', { password: 'aHVudGVyMg==' }]);
      },
      read: async () =>
        assert.deepEqual((await core.readNamespacedSecret({ name: 'login', namespace })).data, { password: 'aHVudGVyMg==' }),
      list: async () => once(names(await core.listNamespacedSecret({ namespace })), ['login']),
      delete: async () => {
        await core.deleteNamespacedSecret({ name: 'login', namespace });
      },
      gone: async () => refused(core.readNamespacedSecret({ name: 'login', namespace }), 404),
    }),
    'a service': (core) => {
      const spec = { selector: { app: 'web' }, ports: [{ protocol: 'TCP', port: 80, targetPort: 9376 }] };
      return {
        create: async () => {
          const made = await core.createNamespacedService({ namespace, body: { metadata: { name: 'web' }, spec } });
          assert.deepEqual(made.spec?.selector, { app: 'web' });
        },
        read: async () => assert.equal((await core.readNamespacedService({ name: 'web', namespace })).spec?.ports?.[0]?.port, 80),
        delete: async () => {
          await core.deleteNamespacedService({ name: 'web', namespace });
        },
        gone: async () => refused(core.readNamespacedService({ name: 'web', namespace }), 404),
      };
    },
    'a pod is run and evicted': (core) => ({
      create: async () => {
        const made = await core.createNamespacedPod({ namespace, body: pod('nginx') });
        assert.equal(made.spec?.containers[0]?.image, 'nginx:1.14.2');
      },
      read: async () => assert.equal((await core.readNamespacedPod({ name: 'nginx', namespace })).metadata?.name, 'nginx'),
      'read its status': async () =>
        assert.equal((await core.readNamespacedPodStatus({ name: 'nginx', namespace })).metadata?.name, 'nginx'),
      'read its log': async () => assert.equal(typeof (await core.readNamespacedPodLog({ name: 'nginx', namespace })), 'string'),
      'list all pods': async () => once(names(await core.listPodForAllNamespaces()), ['nginx']),
      evict: async () => {
        await core.createNamespacedPodEviction({ name: 'nginx', namespace, body: { metadata: { name: 'nginx', namespace } } });
      },
    }),
    'objects are chosen by their labels': (core) => ({
      create: async () => {
        await core.createNamespacedConfigMap({ namespace, body: map('one', {}, { tier: 'front' }) });
        await core.createNamespacedConfigMap({ namespace, body: map('two', {}, { tier: 'back' }) });
      },
      'list by a label': async () =>
        assert.deepEqual(names(await core.listNamespacedConfigMap({ namespace, labelSelector: 'tier=front' })), ['one']),
      'list by a name': async () =>
        assert.deepEqual(names(await core.listNamespacedConfigMap({ namespace, fieldSelector: 'metadata.name=two' })), ['two']),
      'delete by a label': async () => {
        await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'tier=front' });
      },
      'the other is left': async () => assert.deepEqual(names(await core.listNamespacedConfigMap({ namespace })), ['two']),
    }),
    'a name is made by the service': (core, s) => ({
      create: async () => {
        const made = await core.createNamespacedConfigMap({
          namespace,
          body: { metadata: { generateName: 'job-' }, data: { k: 'v' } },
        });
        s.name = given(made.metadata?.name, 'name');
        assert.match(s.name, /^job-./);
      },
      read: async () => assert.deepEqual((await core.readNamespacedConfigMap({ name: s.name, namespace })).data, { k: 'v' }),
    }),
    'two changes at once': (core, s) => ({
      create: async () => make(core, 'shared'),
      'read its version': async () => {
        s.version = given(
          (await core.readNamespacedConfigMap({ name: 'shared', namespace })).metadata?.resourceVersion,
          'resourceVersion',
        );
      },
      'change it': async () => {
        const body = { ...map('shared', { by: 'one' }), metadata: { name: 'shared', resourceVersion: s.version } };
        await core.replaceNamespacedConfigMap({ name: 'shared', namespace, body });
      },
      'the other change is refused': async () => {
        const body = { ...map('shared', { by: 'other' }), metadata: { name: 'shared', resourceVersion: s.version } };
        await refused(core.replaceNamespacedConfigMap({ name: 'shared', namespace, body }), 409);
      },
    }),
    'requests that are wrong': (core) => ({
      'a config map that nobody made': async () => {
        await refused(core.readNamespacedConfigMap({ name: 'nobody', namespace }), 404);
      },
      'a name that is taken': async () => {
        await make(core, 'taken');
        await refused(make(core, 'taken'), 409);
      },
      'a pod without containers': async () => {
        const body = { metadata: { name: 'empty' }, spec: {} } as unknown as ReturnType<typeof pod>;
        await refused(core.createNamespacedPod({ namespace, body }), 400, 422);
      },
      'a map whose data are no strings': async () => {
        const body = { metadata: { name: 'odd' }, data: { n: { deep: true } } } as unknown as V1ConfigMap;
        await refused(core.createNamespacedConfigMap({ namespace, body }), 400, 422);
      },
    }),
  },
};
