import assert from 'node:assert/strict';
import {
  AppsV1Api,
  AutoscalingV2Api,
  CoordinationV1Api,
  CoreV1Api,
  KubeConfig,
  NetworkingV1Api,
  NodeV1Api,
  PatchStrategy,
  PolicyV1Api,
  RbacAuthorizationV1Api,
  SchedulingV1Api,
  StorageV1Api,
  setHeaderOptions,
  type V1Deployment,
  V1MicroTime,
} from '@kubernetes/client-node';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** The groups of the API that are used here, each with a client of its own. */
const connect = (place: Place, token: string) => {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'cluster', server: place.url, skipTLSVerify: true }],
    users: [{ name: 'user', token }],
    contexts: [{ name: 'context', cluster: 'cluster', user: 'user' }],
    currentContext: 'context',
  });
  return {
    core: config.makeApiClient(CoreV1Api),
    apps: config.makeApiClient(AppsV1Api),
    rbac: config.makeApiClient(RbacAuthorizationV1Api),
    net: config.makeApiClient(NetworkingV1Api),
    storage: config.makeApiClient(StorageV1Api),
    scaling: config.makeApiClient(AutoscalingV2Api),
    policy: config.makeApiClient(PolicyV1Api),
    scheduling: config.makeApiClient(SchedulingV1Api),
    lease: config.makeApiClient(CoordinationV1Api),
    node: config.makeApiClient(NodeV1Api),
  };
};
type Cluster = ReturnType<typeof connect>;

const namespace = 'default';
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
const json = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);

interface Named {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}
const nameOf = ({ metadata }: Named): string => given(metadata?.name, 'name');
const uidOf = ({ metadata }: Named): string => given(metadata?.uid, 'uid');
const versionOf = ({ metadata }: Named): string => given(metadata?.resourceVersion, 'resourceVersion');
const names = ({ items }: { readonly items: readonly Named[] }): string[] => items.map(nameOf);

const pod = (app: string, image = 'nginx:1.25') => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
});
const deployment = (name: string, labels: Record<string, string> = {}, replicas = 2): V1Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name, ...labels } },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: pod(name) },
});
const deploy = async (k: Cluster, s: State, name: string, labels: Record<string, string> = {}): Promise<void> => {
  const made = await k.apps.createNamespacedDeployment({ namespace, body: deployment(name, labels) });
  assert.equal(nameOf(made), name);
  s[name] = uidOf(made);
};

/** Pages of kubernetes.io/docs: "Deployments", "Using RBAC Authorization", "Ingress", "Network Policies",
 * "Storage Classes", "Horizontal Pod Autoscaling", "Disruptions", "Pod Priority and Preemption", "Leases", "API Concepts". */
export const vendor: Vendor<Cluster> = {
  document: 'kubernetes-io/kubernetes.io.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJSUzI1NiJ9.service-account.signature',
  client: connect,
  strict: ['whom the cluster does not know'],
  flows: {
    'a deployment': (k, s) => ({
      create: async () => {
        const made = await k.apps.createNamespacedDeployment({ namespace, body: deployment('shop') });
        assert.deepEqual([nameOf(made), made.metadata?.namespace, made.spec?.replicas], ['shop', namespace, 2]);
        s.uid = uidOf(made);
        s.version = versionOf(made);
      },
      read: async () => {
        const read = await k.apps.readNamespacedDeployment({ namespace, name: 'shop' });
        assert.deepEqual([nameOf(read), uidOf(read), read.metadata?.labels?.app], ['shop', s.uid, 'shop']);
        assert.deepEqual(read.spec?.selector.matchLabels, { app: 'shop' });
        assert.equal(read.spec?.template.spec?.containers[0]?.image, 'nginx:1.25');
      },
      'it is listed': async () => once(names(await k.apps.listNamespacedDeployment({ namespace })), ['shop'], 'deployments'),
      'a new image': async () => {
        const read = await k.apps.readNamespacedDeployment({ namespace, name: 'shop' });
        const spec = given(read.spec, 'spec');
        spec.template = pod('shop', 'nginx:1.27');
        const put = await k.apps.replaceNamespacedDeployment({ namespace, name: 'shop', body: read });
        assert.deepEqual([uidOf(put), put.spec?.template.spec?.containers[0]?.image], [s.uid, 'nginx:1.27']);
      },
      'the new image is read, in a new version': async () => {
        const read = await k.apps.readNamespacedDeployment({ namespace, name: 'shop' });
        assert.deepEqual([read.spec?.template.spec?.containers[0]?.image, read.spec?.replicas], ['nginx:1.27', 2]);
        assert.notEqual(versionOf(read), s.version);
      },
      delete: async () => {
        await k.apps.deleteNamespacedDeployment({ namespace, name: 'shop' });
      },
      'it is gone': async () => refused(k.apps.readNamespacedDeployment({ namespace, name: 'shop' }), 404),
    }),

    'a deployment is scaled': (k, s) => ({
      create: async () => deploy(k, s, 'scaled'),
      'how it is scaled': async () => {
        const scale = await k.apps.readNamespacedDeploymentScale({ namespace, name: 'scaled' });
        assert.deepEqual([nameOf(scale), scale.spec?.replicas], ['scaled', 2]);
      },
      'to five': async () => {
        const scale = await k.apps.readNamespacedDeploymentScale({ namespace, name: 'scaled' });
        scale.spec = { replicas: 5 };
        const put = await k.apps.replaceNamespacedDeploymentScale({ namespace, name: 'scaled', body: scale });
        assert.equal(put.spec?.replicas, 5);
      },
      'the deployment has five': async () => {
        const read = await k.apps.readNamespacedDeployment({ namespace, name: 'scaled' });
        assert.deepEqual([uidOf(read), read.spec?.replicas], [s.scaled, 5]);
      },
      'to three, by a patch': async () => {
        const body = { spec: { replicas: 3 } };
        await k.apps.patchNamespacedDeploymentScale({ namespace, name: 'scaled', body }, merge);
        assert.equal((await k.apps.readNamespacedDeployment({ namespace, name: 'scaled' })).spec?.replicas, 3);
      },
      'one that is not there': async () => refused(k.apps.readNamespacedDeploymentScale({ namespace, name: 'nowhere' }), 404),
    }),

    'three ways to patch': (k, s) => ({
      create: async () => deploy(k, s, 'patched', { tier: 'front' }),
      merge: async () => {
        const body = { metadata: { labels: { stage: 'test' } }, spec: { paused: true } };
        const read = await k.apps.patchNamespacedDeployment({ namespace, name: 'patched', body }, merge);
        assert.deepEqual(read.metadata?.labels, { app: 'patched', tier: 'front', stage: 'test' });
        assert.deepEqual([read.spec?.paused, read.spec?.replicas], [true, 2]);
      },
      'a null takes away': async () => {
        const body = { metadata: { labels: { tier: null } } };
        await k.apps.patchNamespacedDeployment({ namespace, name: 'patched', body }, merge);
        const read = await k.apps.readNamespacedDeployment({ namespace, name: 'patched' });
        assert.deepEqual(read.metadata?.labels, { app: 'patched', stage: 'test' });
      },
      operations: async () => {
        const body = [
          { op: 'replace', path: '/spec/replicas', value: 7 },
          { op: 'add', path: '/metadata/labels/owner', value: 'me' },
        ];
        const read = await k.apps.patchNamespacedDeployment({ namespace, name: 'patched', body }, json);
        assert.deepEqual([read.spec?.replicas, read.metadata?.labels?.owner], [7, 'me']);
      },
      'containers by their name': async () => {
        const body = { spec: { template: { spec: { containers: [{ name: 'log', image: 'fluentd:1' }] } } } };
        await k.apps.patchNamespacedDeployment({ namespace, name: 'patched', body }, strategic);
        const read = await k.apps.readNamespacedDeployment({ namespace, name: 'patched' });
        const containers = given(read.spec?.template.spec?.containers, 'containers');
        assert.deepEqual(containers.map(({ name, image }) => `${name} ${image}`).sort(), ['log fluentd:1', 'web nginx:1.25']);
        assert.equal(uidOf(read), s.patched);
      },
    }),

    'deployments by what they are labelled': (k, s) => ({
      'three of them': async () => {
        await deploy(k, s, 'web-a', { set: 'labelled', tier: 'front' });
        await deploy(k, s, 'web-b', { set: 'labelled', tier: 'back' });
        await deploy(k, s, 'web-c', { set: 'labelled' });
      },
      'with a label': async () => {
        const list = await k.apps.listNamespacedDeployment({ namespace, labelSelector: 'set=labelled' });
        assert.deepEqual(names(list).sort(), ['web-a', 'web-b', 'web-c']);
      },
      'with two': async () => {
        const list = await k.apps.listNamespacedDeployment({ namespace, labelSelector: 'set=labelled,tier=back' });
        assert.deepEqual(names(list), ['web-b']);
      },
      'one of several values': async () => {
        const list = await k.apps.listNamespacedDeployment({ namespace, labelSelector: 'set=labelled,tier in (front,back)' });
        assert.deepEqual(names(list).sort(), ['web-a', 'web-b']);
      },
      'without a label': async () => {
        const list = await k.apps.listNamespacedDeployment({ namespace, labelSelector: 'set=labelled,!tier' });
        assert.deepEqual(names(list), ['web-c']);
      },
      'by the name': async () => {
        const list = await k.apps.listNamespacedDeployment({ namespace, fieldSelector: 'metadata.name=web-a' });
        assert.deepEqual(names(list), ['web-a']);
      },
      'of all namespaces': async () => {
        const list = await k.apps.listDeploymentForAllNamespaces({ labelSelector: 'set=labelled' });
        assert.deepEqual(list.items.map(uidOf).sort(), [s['web-a'], s['web-b'], s['web-c']].sort());
      },
    }),

    'a long list in pieces': (k) => ({
      'five roles': async () => {
        for (const name of ['p1', 'p2', 'p3', 'p4', 'p5'])
          await k.rbac.createNamespacedRole({ namespace, body: { metadata: { name, labels: { set: 'pieces' } }, rules: [] } });
      },
      'the first two': async () => {
        const list = await k.rbac.listNamespacedRole({ namespace, labelSelector: 'set=pieces', limit: 2 });
        assert.equal(list.items.length, 2);
        assert.ok(given(list.metadata?._continue, 'continue').length > 0, 'there is no more to come');
      },
      'all, two by two': async () => {
        const all = await pages(
          (from) => k.rbac.listNamespacedRole({ namespace, labelSelector: 'set=pieces', limit: 2, _continue: from }),
          ({ items }) => items.map(nameOf),
          ({ metadata }) => metadata?._continue || undefined,
        );
        assert.deepEqual(all.sort(), ['p1', 'p2', 'p3', 'p4', 'p5']);
      },
      'all of them deleted at once': async () => {
        await k.rbac.deleteCollectionNamespacedRole({ namespace, labelSelector: 'set=pieces' });
      },
      'none is left': async () => {
        assert.deepEqual(names(await k.rbac.listNamespacedRole({ namespace, labelSelector: 'set=pieces' })), []);
      },
    }),

    'who may do what in a namespace': (k, s) => ({
      'a role': async () => {
        const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
        const made = await k.rbac.createNamespacedRole({ namespace, body: { metadata: { name: 'reader' }, rules } });
        assert.deepEqual([nameOf(made), made.rules?.[0]?.verbs], ['reader', ['get', 'list']]);
        s.role = uidOf(made);
      },
      'for a user': async () => {
        const made = await k.rbac.createNamespacedRoleBinding({
          namespace,
          body: {
            metadata: { name: 'jane-reads' },
            subjects: [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }],
            roleRef: { kind: 'Role', name: 'reader', apiGroup: 'rbac.authorization.k8s.io' },
          },
        });
        assert.deepEqual([nameOf(made), made.roleRef.name], ['jane-reads', 'reader']);
      },
      'it is for her': async () => {
        const read = await k.rbac.readNamespacedRoleBinding({ namespace, name: 'jane-reads' });
        assert.deepEqual([read.subjects?.[0]?.name, read.roleRef.kind, read.roleRef.name], ['jane', 'Role', 'reader']);
      },
      'the role allows more': async () => {
        const rules = [{ apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list', 'watch'] }];
        await k.rbac.patchNamespacedRole({ namespace, name: 'reader', body: { rules } }, merge);
        const read = await k.rbac.readNamespacedRole({ namespace, name: 'reader' });
        assert.equal(uidOf(read), s.role);
        assert.deepEqual([read.rules?.[0]?.resources, read.rules?.[0]?.verbs], [rules[0]?.resources, rules[0]?.verbs]);
      },
      'both are listed': async () => {
        once(names(await k.rbac.listNamespacedRole({ namespace })), ['reader'], 'roles');
        once(names(await k.rbac.listNamespacedRoleBinding({ namespace })), ['jane-reads'], 'bindings');
      },
      'no longer for her': async () => {
        await k.rbac.deleteNamespacedRoleBinding({ namespace, name: 'jane-reads' });
        await refused(k.rbac.readNamespacedRoleBinding({ namespace, name: 'jane-reads' }), 404);
      },
      'the role stays': async () => {
        assert.equal(uidOf(await k.rbac.readNamespacedRole({ namespace, name: 'reader' })), s.role);
      },
    }),

    'a way in from outside': (k, s) => ({
      'a class': async () => {
        const made = await k.net.createIngressClass({
          body: { metadata: { name: 'outer' }, spec: { controller: 'example.com/ingress-controller' } },
        });
        assert.deepEqual([nameOf(made), made.spec?.controller], ['outer', 'example.com/ingress-controller']);
      },
      'an ingress of it': async () => {
        const backend = { service: { name: 'web', port: { number: 80 } } };
        const made = await k.net.createNamespacedIngress({
          namespace,
          body: {
            metadata: { name: 'site' },
            spec: {
              ingressClassName: 'outer',
              rules: [{ host: 'shop.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
            },
          },
        });
        s.uid = uidOf(made);
      },
      read: async () => {
        const { metadata, spec } = await k.net.readNamespacedIngress({ namespace, name: 'site' });
        assert.deepEqual([metadata?.uid, spec?.ingressClassName, spec?.rules?.[0]?.host], [s.uid, 'outer', 'shop.example.com']);
        const path = spec?.rules?.[0]?.http?.paths[0];
        assert.deepEqual([path?.path, path?.backend.service?.name, path?.backend.service?.port?.number], ['/', 'web', 80]);
      },
      'another host': async () => {
        const read = await k.net.readNamespacedIngress({ namespace, name: 'site' });
        given(read.spec?.rules?.[0], 'rule').host = 'www.example.com';
        await k.net.replaceNamespacedIngress({ namespace, name: 'site', body: read });
        const again = await k.net.readNamespacedIngress({ namespace, name: 'site' });
        assert.deepEqual([again.spec?.rules?.[0]?.host, again.spec?.ingressClassName], ['www.example.com', 'outer']);
      },
      'it is listed': async () => once(names(await k.net.listNamespacedIngress({ namespace })), ['site'], 'ingresses'),
      delete: async () => {
        await k.net.deleteNamespacedIngress({ namespace, name: 'site' });
        await refused(k.net.readNamespacedIngress({ namespace, name: 'site' }), 404);
      },
      'the class stays': async () => once(names(await k.net.listIngressClass()), ['outer'], 'classes'),
    }),

    'where data is kept, and who goes first': (k, s) => ({
      'a storage class': async () => {
        const made = await k.storage.createStorageClass({
          body: {
            metadata: { name: 'fast' },
            provisioner: 'csi.example.com',
            parameters: { type: 'ssd' },
            reclaimPolicy: 'Retain',
            allowVolumeExpansion: false,
          },
        });
        s.uid = uidOf(made);
      },
      read: async () => {
        const read = await k.storage.readStorageClass({ name: 'fast' });
        assert.deepEqual(
          [read.metadata?.uid, read.provisioner, read.parameters?.type, read.reclaimPolicy, read.allowVolumeExpansion],
          [s.uid, 'csi.example.com', 'ssd', 'Retain', false],
        );
      },
      'it may grow': async () => {
        await k.storage.patchStorageClass({ name: 'fast', body: { allowVolumeExpansion: true } }, merge);
        assert.equal((await k.storage.readStorageClass({ name: 'fast' })).allowVolumeExpansion, true);
      },
      'a priority': async () => {
        const body = { metadata: { name: 'urgent' }, value: 1000, globalDefault: false, description: 'What cannot wait' };
        await k.scheduling.createPriorityClass({ body });
        const read = await k.scheduling.readPriorityClass({ name: 'urgent' });
        assert.deepEqual([read.value, read.description], [1000, 'What cannot wait']);
      },
      'a runtime': async () => {
        await k.node.createRuntimeClass({ body: { metadata: { name: 'boxed' }, handler: 'gvisor' } });
        assert.equal((await k.node.readRuntimeClass({ name: 'boxed' })).handler, 'gvisor');
        once(names(await k.node.listRuntimeClass()), ['boxed'], 'runtimes');
      },
      'each list holds its own': async () => {
        once(names(await k.storage.listStorageClass()), ['fast'], 'storage classes');
        once(names(await k.scheduling.listPriorityClass()), ['urgent'], 'priorities');
      },
      'no longer': async () => {
        await k.storage.deleteStorageClass({ name: 'fast' });
        await refused(k.storage.readStorageClass({ name: 'fast' }), 404);
      },
    }),

    'as many as are needed': (k, s) => ({
      'a deployment': async () => deploy(k, s, 'busy'),
      'between two and ten': async () => {
        const made = await k.scaling.createNamespacedHorizontalPodAutoscaler({
          namespace,
          body: {
            metadata: { name: 'busy' },
            spec: {
              scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
              minReplicas: 2,
              maxReplicas: 10,
              metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }],
            },
          },
        });
        s.scaler = uidOf(made);
        assert.notEqual(s.scaler, s.busy);
      },
      read: async () => {
        const { metadata, spec } = await k.scaling.readNamespacedHorizontalPodAutoscaler({ namespace, name: 'busy' });
        assert.deepEqual([metadata?.uid, spec?.scaleTargetRef.name, spec?.minReplicas], [s.scaler, 'busy', 2]);
        assert.equal(spec?.maxReplicas, 10);
        assert.equal(spec?.metrics?.[0]?.resource?.target.averageUtilization, 50);
      },
      'at least one is up': async () => {
        const body = { metadata: { name: 'busy' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'busy' } } } };
        await k.policy.createNamespacedPodDisruptionBudget({ namespace, body });
        const read = await k.policy.readNamespacedPodDisruptionBudget({ namespace, name: 'busy' });
        assert.deepEqual([read.spec?.minAvailable, read.spec?.selector?.matchLabels], [1, { app: 'busy' }]);
      },
      'up to twenty': async () => {
        const body = { spec: { maxReplicas: 20 } };
        await k.scaling.patchNamespacedHorizontalPodAutoscaler({ namespace, name: 'busy', body }, merge);
        const { spec } = await k.scaling.readNamespacedHorizontalPodAutoscaler({ namespace, name: 'busy' });
        assert.deepEqual([spec?.minReplicas, spec?.maxReplicas, spec?.scaleTargetRef.kind], [2, 20, 'Deployment']);
      },
      'without it the deployment stays': async () => {
        await k.scaling.deleteNamespacedHorizontalPodAutoscaler({ namespace, name: 'busy' });
        await refused(k.scaling.readNamespacedHorizontalPodAutoscaler({ namespace, name: 'busy' }), 404);
        assert.equal(uidOf(await k.apps.readNamespacedDeployment({ namespace, name: 'busy' })), s.busy);
      },
    }),

    'who leads': (k, s) => ({
      'a lease': async () => {
        const made = await k.lease.createNamespacedLease({
          namespace,
          body: {
            metadata: { name: 'leader' },
            spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime: new V1MicroTime('2024-05-01T10:00:00.000Z') },
          },
        });
        s.version = versionOf(made);
        assert.deepEqual([made.spec?.holderIdentity, made.spec?.leaseDurationSeconds], ['one', 15]);
      },
      'another leads': async () => {
        const read = await k.lease.readNamespacedLease({ namespace, name: 'leader' });
        assert.equal(versionOf(read), s.version);
        given(read.spec, 'spec').holderIdentity = 'two';
        const put = await k.lease.replaceNamespacedLease({ namespace, name: 'leader', body: read });
        assert.notEqual(versionOf(put), s.version);
      },
      'the first one has seen an old version': async () => {
        const body = {
          metadata: { name: 'leader', resourceVersion: s.version },
          spec: { holderIdentity: 'one', leaseDurationSeconds: 15 },
        };
        await refused(k.lease.replaceNamespacedLease({ namespace, name: 'leader', body }), 409);
      },
      'the second one leads still': async () => {
        const { spec } = await k.lease.readNamespacedLease({ namespace, name: 'leader' });
        assert.deepEqual([spec?.holderIdentity, spec?.leaseDurationSeconds], ['two', 15]);
      },
      'nobody leads': async () => {
        await k.lease.deleteNamespacedLease({ namespace, name: 'leader' });
        await refused(k.lease.readNamespacedLease({ namespace, name: 'leader' }), 404);
      },
    }),

    'what is refused': (k, s) => ({
      'the same name twice': async () => {
        await deploy(k, s, 'single');
        await refused(k.apps.createNamespacedDeployment({ namespace, body: deployment('single') }), 409);
      },
      'the same name in another namespace is another': async () => {
        await k.core.createNamespace({ body: { metadata: { name: 'elsewhere' } } });
        const made = await k.apps.createNamespacedDeployment({ namespace: 'elsewhere', body: deployment('single') });
        assert.equal(made.metadata?.namespace, 'elsewhere');
        assert.notEqual(uidOf(made), s.single);
      },
      'neither selector nor template': async () => {
        const body = { metadata: { name: 'empty' }, spec: { replicas: 1 } } as unknown as V1Deployment;
        await refused(k.apps.createNamespacedDeployment({ namespace, body }), 400, 422);
      },
      'and nothing was made': async () => {
        await refused(k.apps.readNamespacedDeployment({ namespace, name: 'empty' }), 404);
      },
      'in no namespace': async () => {
        await refused(k.apps.createNamespacedDeployment({ namespace: 'nowhere', body: deployment('lost') }), 404);
      },
      'what is not there': async () => {
        await refused(k.apps.deleteNamespacedDeployment({ namespace, name: 'nowhere' }), 404);
        await refused(k.apps.patchNamespacedDeployment({ namespace, name: 'nowhere', body: {} }, merge), 404);
        await refused(k.rbac.readClusterRole({ name: 'nowhere' }), 404);
      },
    }),

    'whom the cluster does not know': (k, s, another) => ({
      'who is known makes a cluster role': async () => {
        const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }];
        s.uid = uidOf(await k.rbac.createClusterRole({ body: { metadata: { name: 'looks' }, rules } }));
      },
      'another does not read it': async () => {
        await refused(another('nobody').rbac.readClusterRole({ name: 'looks' }), 401);
      },
      'nor makes one': async () => {
        await refused(another('nobody').rbac.createClusterRole({ body: { metadata: { name: 'stolen' }, rules: [] } }), 401);
        await refused(k.rbac.readClusterRole({ name: 'stolen' }), 404);
      },
      'nor deletes it': async () => {
        await refused(another('nobody').rbac.deleteClusterRole({ name: 'looks' }), 401);
        assert.equal(uidOf(await k.rbac.readClusterRole({ name: 'looks' })), s.uid);
      },
    }),
  },
};
