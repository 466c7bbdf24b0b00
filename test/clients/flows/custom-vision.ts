import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { TrainingAPIClient } from '@azure/cognitiveservices-customvision-training';
import { ApiKeyCredentials } from '@azure/ms-rest-js';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

type Made = new (credentials: ApiKeyCredentials, endpoint: string) => TrainingAPIClient;
const { TrainingAPIClient: Training } = createRequire(import.meta.url)('@azure/cognitiveservices-customvision-training') as {
  TrainingAPIClient: Made;
};

/** Its address is a field, in which it has the path of a later version. */
const connect = (place: Place, token: string): TrainingAPIClient => {
  return new Training(new ApiKeyCredentials({ inHeader: { 'Training-Key': token } }), place.url);
};

const ids = (rows: readonly { readonly id?: string }[]): string[] => rows.map(({ id }) => given(id, 'id'));
const project = async (client: TrainingAPIClient, name: string): Promise<string> =>
  given((await client.createProject(name, { description: `About ${name}` })).id, 'id');
const tag = async (client: TrainingAPIClient, of: string, name: string): Promise<string> =>
  given((await client.createTag(of, name, { description: `About ${name}` })).id, 'id');
const picture = (name: string): string => `https://pictures.example.com/${name}.jpg`;
/** Adds pictures by their addresses, and gives the ids of the images made of them. */
const images = async (client: TrainingAPIClient, of: string, names: readonly string[], tagIds?: string[]): Promise<string[]> => {
  const entries = names.map((name) => (tagIds === undefined ? { url: picture(name) } : { url: picture(name), tagIds }));
  const made = await client.createImagesFromUrls(of, { images: entries });
  return given(made.images, 'images').map(({ image }) => given(image?.id, 'image'));
};
/** A project with two tags and five images of each, of which an iteration is trained. */
const trained = async (client: TrainingAPIClient, of: string): Promise<string> => {
  for (const name of ['oak', 'elm']) {
    const numbers = [1, 2, 3, 4, 5].map((number) => `${name}-${number}`);
    await images(client, of, numbers, [await tag(client, of, name)]);
  }
  return given((await client.trainProject(of)).id, 'id');
};
const nobody = '00000000-0000-4000-8000-000000000000';

/** Guide: learn.microsoft.com/azure/ai-services/custom-vision-service, "Quickstart: image classification" and "object detection" with the client library; the client's README. */
export const vendor: Vendor<TrainingAPIClient> = {
  document: 'custom-vision/Training.json',
  header: 'Training-Key',
  made: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a project from its making to its end': (client, s) => ({
      create: async () => {
        const { id, name, description } = await client.createProject('Trees', { description: 'Leaves of trees' });
        s.id = given(id, 'id');
        assert.deepEqual([name, description], ['Trees', 'Leaves of trees']);
      },
      read: async () => {
        const { id, name, description, settings, created } = await client.getProject(s.id);
        assert.deepEqual([id, name, description], [s.id, 'Trees', 'Leaves of trees']);
        assert.equal(typeof settings, 'object');
        assert.ok(created instanceof Date);
      },
      'it is listed': async () => once(ids(await client.getProjects()), [s.id], 'projects'),
      change: async () => {
        const changed = await client.updateProject(s.id, { ...(await client.getProject(s.id)), name: 'Old trees' });
        assert.deepEqual([changed.id, changed.name], [s.id, 'Old trees']);
      },
      'it is changed': async () => {
        const { name, description } = await client.getProject(s.id);
        assert.deepEqual([name, description], ['Old trees', 'Leaves of trees']);
      },
      delete: async () => client.deleteProject(s.id),
      'it is gone': async () => refused(client.getProject(s.id), 404),
      'it is not listed': async () => assert.ok(!ids(await client.getProjects()).includes(s.id)),
    }),
    'several projects': (client, s) => ({
      'make three': async () => {
        for (const name of ['cherry', 'apple', 'banana']) s[name] = await project(client, name);
      },
      'each is listed once': async () => once(ids(await client.getProjects()), [s.cherry, s.apple, s.banana], 'projects'),
      'delete one': async () => client.deleteProject(s.apple),
      'the others stay': async () => {
        const all = ids(await client.getProjects());
        once(all, [s.cherry, s.banana], 'projects');
        assert.ok(!all.includes(s.apple));
      },
      'one of them': async () => assert.equal((await client.getProject(s.banana)).description, 'About banana'),
    }),
    'a project of a kind': (client, s) => ({
      'a domain': async () => {
        const domains = await client.getDomains();
        s.domain = given(domains.find(({ type }) => type === 'Classification')?.id, 'domain for whole images');
      },
      create: async () => {
        const asked = { description: 'Many at once', domainId: s.domain, classificationType: 'Multilabel' as const };
        s.id = given((await client.createProject('Kinds', asked)).id, 'id');
      },
      'it has them': async () => {
        const { settings } = await client.getProject(s.id);
        assert.deepEqual([settings.domainId, settings.classificationType], [s.domain, 'Multilabel']);
      },
      'not of a kind that is none': async () =>
        refused(client.createProject('Odd', { classificationType: 'Sometimes' as never }), 400),
      'it is not listed': async () =>
        assert.ok(!(await client.getProjects()).some(({ name }: { readonly name: string }) => name === 'Odd')),
    }),
    domains: (client, s) => ({
      list: async () => {
        const all = await client.getDomains();
        assert.ok(all.length > 0);
        s.id = given(all[0]?.id, 'id');
        s.name = given(all[0]?.name, 'name');
      },
      'one of them': async () => {
        const { id, name, type } = await client.getDomain(s.id);
        assert.deepEqual([id, name], [s.id, s.name]);
        assert.ok(['Classification', 'ObjectDetection'].includes(given(type, 'type')), type);
      },
      'none that is not there': async () => refused(client.getDomain(nobody), 404),
    }),
    'a tag from its making to its end': (client, s) => ({
      'make a project': async () => {
        s.project = await project(client, 'Forest');
      },
      create: async () => {
        const { id, name, description, type } = await client.createTag(s.project, 'oak', { description: 'Oaks' });
        s.id = given(id, 'id');
        assert.deepEqual([name, description, typeof type], ['oak', 'Oaks', 'string']);
      },
      read: async () => {
        const { id, name, description } = await client.getTag(s.project, s.id);
        assert.deepEqual([id, name, description], [s.id, 'oak', 'Oaks']);
      },
      'it is listed': async () => once(ids(await client.getTags(s.project)), [s.id], 'tags'),
      change: async () => {
        const changed = await client.updateTag(s.project, s.id, { ...(await client.getTag(s.project, s.id)), name: 'red oak' });
        assert.equal(changed.name, 'red oak');
      },
      'it is changed': async () => {
        const { name, description } = await client.getTag(s.project, s.id);
        assert.deepEqual([name, description], ['red oak', 'Oaks']);
      },
      delete: async () => client.deleteTag(s.project, s.id),
      'it is gone': async () => refused(client.getTag(s.project, s.id), 404),
    }),
    'tags of two projects': (client, s) => ({
      'make two projects': async () => {
        s.left = await project(client, 'Left');
        s.right = await project(client, 'Right');
      },
      'two here, one there': async () => {
        s.oak = await tag(client, s.left, 'oak');
        s.elm = await tag(client, s.left, 'elm');
        s.ash = await tag(client, s.right, 'ash');
      },
      'each is in its own': async () => {
        assert.deepEqual(ids(await client.getTags(s.left)).sort(), [s.oak, s.elm].sort());
        assert.deepEqual(ids(await client.getTags(s.right)), [s.ash]);
      },
      'not by way of the other': async () => refused(client.getTag(s.right, s.oak), 404),
      'delete one': async () => client.deleteTag(s.left, s.oak),
      'the others stay': async () => {
        assert.deepEqual(ids(await client.getTags(s.left)), [s.elm]);
        assert.deepEqual(ids(await client.getTags(s.right)), [s.ash]);
      },
      'one project goes': async () => client.deleteProject(s.left),
      'and its tags with it': async () => refused(client.getTags(s.left), 404),
    }),
    'a tag for what is none of them': (client, s) => ({
      'make a project': async () => {
        s.project = await project(client, 'Negatives');
      },
      create: async () => {
        const { id, type } = await client.createTag(s.project, 'none', { type: 'Negative' });
        s.id = given(id, 'id');
        assert.equal(type, 'Negative');
      },
      read: async () => assert.equal((await client.getTag(s.project, s.id)).type, 'Negative'),
      'not of a type that is none': async () => refused(client.createTag(s.project, 'odd', { type: 'Perhaps' as never }), 400),
      'there is but one': async () => assert.deepEqual(ids(await client.getTags(s.project)), [s.id]),
    }),
    'images by their addresses': (client, s) => ({
      'make a project': async () => {
        s.project = await project(client, 'Album');
      },
      add: async () => {
        const made = await client.createImagesFromUrls(s.project, { images: [{ url: picture('oak') }, { url: picture('elm') }] });
        const results = given(made.images, 'images');
        assert.deepEqual(results.map(({ sourceUrl }) => sourceUrl).sort(), [picture('elm'), picture('oak')]);
        s.one = given(results[0]?.image?.id, 'image');
        s.two = given(results[1]?.image?.id, 'image');
      },
      'they are read by their ids': async () => {
        const found = await client.getImagesByIds(s.project, { imageIds: [s.one, s.two] });
        assert.deepEqual(ids(found).sort(), [s.one, s.two].sort());
      },
      'they have no tag': async () => once(ids(await client.getUntaggedImages(s.project)), [s.one, s.two], 'images'),
      'they are counted': async () => assert.equal((await client.getUntaggedImageCount(s.project)).body, 2),
      'delete one': async () => client.deleteImages(s.project, { imageIds: [s.one] }),
      'the other stays': async () => assert.deepEqual(ids(await client.getUntaggedImages(s.project)), [s.two]),
    }),
    'tags of images': (client, s) => ({
      'make a project with a tag': async () => {
        s.project = await project(client, 'Tagged');
        s.tag = await tag(client, s.project, 'oak');
      },
      'add two images': async () => {
        [s.one, s.two] = await images(client, s.project, ['one', 'two']);
      },
      'tag one': async () => {
        const { created } = await client.createImageTags(s.project, { tags: [{ imageId: s.one, tagId: s.tag }] });
        assert.deepEqual(
          given(created, 'created').map(({ imageId, tagId }) => [imageId, tagId]),
          [[s.one, s.tag]],
        );
      },
      'it is among those with a tag': async () => {
        assert.deepEqual(ids(await client.getTaggedImages(s.project, { tagIds: [s.tag] })), [s.one]);
        assert.equal((await client.getTaggedImageCount(s.project)).body, 1);
      },
      'the other is among those without': async () => assert.deepEqual(ids(await client.getUntaggedImages(s.project)), [s.two]),
      'the tag counts it': async () => assert.equal((await client.getTag(s.project, s.tag)).imageCount, 1),
      'take the tag off': async () => client.deleteImageTags(s.project, [s.one], [s.tag]),
      'none has it': async () => assert.deepEqual(ids(await client.getTaggedImages(s.project, { tagIds: [s.tag] })), []),
    }),
    'images through all pages': (client, s) => ({
      'make a project with a tag': async () => {
        s.project = await project(client, 'Pages');
        s.tag = await tag(client, s.project, 'oak');
      },
      'add five images': async () => {
        const made = await images(client, s.project, ['a', 'b', 'c', 'd', 'e'], [s.tag]);
        s.all = made.sort().join();
        assert.equal(new Set(made).size, 5);
      },
      'two at a time': async () => {
        const all = await numbered(async (page) => {
          const rows = await client.getTaggedImages(s.project, { take: 2, skip: 2 * page });
          assert.ok(rows.length <= 2, `a page of ${rows.length}`);
          return rows;
        }, 0);
        once(ids(all), s.all.split(','), 'images');
      },
      'they are counted': async () => assert.equal((await client.getTaggedImageCount(s.project, { tagIds: [s.tag] })).body, 5),
      'the last page is short': async () =>
        assert.equal((await client.getTaggedImages(s.project, { take: 2, skip: 4 })).length, 1),
    }),
    'regions of an image': (client, s) => ({
      'make a project for objects': async () => {
        const domains = await client.getDomains();
        s.domain = given(domains.find(({ type }) => type === 'ObjectDetection')?.id, 'domain for objects');
        s.project = given((await client.createProject('Forks', { domainId: s.domain })).id, 'id');
        s.tag = await tag(client, s.project, 'fork');
      },
      'add an image': async () => {
        [s.image] = await images(client, s.project, ['fork-1']);
      },
      'mark a region': async () => {
        const region = { imageId: s.image, tagId: s.tag, left: 0.1, top: 0.2, width: 0.3, height: 0.4 };
        const { created } = await client.createImageRegions(s.project, { regions: [region] });
        const [made] = given(created, 'created');
        s.id = given(made?.regionId, 'region');
        assert.deepEqual([made?.imageId, made?.tagId, made?.left, made?.height], [s.image, s.tag, 0.1, 0.4]);
      },
      'the image has it': async () => {
        const [found] = await client.getImagesByIds(s.project, { imageIds: [s.image] });
        assert.deepEqual(
          given(found?.regions, 'regions').map(({ regionId }) => regionId),
          [s.id],
        );
      },
      'delete it': async () => client.deleteImageRegions(s.project, [s.id]),
      'the image has it no more': async () => {
        const [found] = await client.getImagesByIds(s.project, { imageIds: [s.image] });
        assert.deepEqual(found?.regions ?? [], []);
      },
    }),
    'an iteration from its training to its end': (client, s) => ({
      'make a project': async () => {
        s.project = await project(client, 'Models');
      },
      train: async () => {
        s.id = await trained(client, s.project);
      },
      read: async () => {
        const { id, projectId, status } = await client.getIteration(s.project, s.id);
        assert.deepEqual([id, projectId, typeof status], [s.id, s.project, 'string']);
      },
      'it is listed': async () => once(ids(await client.getIterations(s.project)), [s.id], 'iterations'),
      rename: async () => assert.equal((await client.updateIteration(s.project, s.id, { name: 'First' })).name, 'First'),
      'it is renamed': async () => assert.equal((await client.getIteration(s.project, s.id)).name, 'First'),
      delete: async () => client.deleteIteration(s.project, s.id),
      'it is gone': async () => refused(client.getIteration(s.project, s.id), 404),
    }),
    'an iteration that is published': (client, s) => ({
      'make a project': async () => {
        s.project = await project(client, 'Published');
      },
      train: async () => {
        s.id = await trained(client, s.project);
      },
      publish: async () => {
        const resource = '/subscriptions/0/resourceGroups/made-up/providers/Microsoft.CognitiveServices/accounts/made-up';
        assert.equal((await client.publishIteration(s.project, s.id, 'trees-1', resource)).body, true);
      },
      'it has its name': async () => assert.equal((await client.getIteration(s.project, s.id)).publishName, 'trees-1'),
      unpublish: async () => client.unpublishIteration(s.project, s.id),
      'it has it no more': async () => assert.ok(!(await client.getIteration(s.project, s.id)).publishName),
    }),
    'what is not there': (client, s) => ({
      'a project': async () => refused(client.getProject(nobody), 404),
      'it is not deleted': async () => refused(client.deleteProject(nobody), 404),
      'nor has it tags': async () => refused(client.createTag(nobody, 'oak'), 404),
      'a tag': async () => {
        s.project = await project(client, 'Empty');
        await refused(client.getTag(s.project, nobody), 404);
      },
      'an iteration': async () => refused(client.getIteration(s.project, nobody), 404),
      'an empty project has nothing': async () => {
        assert.deepEqual([...(await client.getTags(s.project))], []);
        assert.deepEqual([...(await client.getIterations(s.project))], []);
      },
    }),
    'a key that is refused': (client, s, another) => ({
      'the right one': async () => {
        s.id = await project(client, 'Guarded');
      },
      'a wrong one lists nothing': async () => refused(another('wrong').getProjects(), 401, 403),
      'nor reads anything': async () => refused(another('wrong').getProject(s.id), 401, 403),
      'nor deletes anything': async () => refused(another('wrong').deleteProject(s.id), 401, 403),
      'all is as it was': async () => assert.equal((await client.getProject(s.id)).name, 'Guarded'),
    }),
  },
};
