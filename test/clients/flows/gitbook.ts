import assert from 'node:assert/strict';
import { ChangeRequestStatus, GitBookAPI, OpenAPISpecVisibility, SiteType, SiteVisibility, SpaceEditMode } from '@gitbook/api';
import { once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): GitBookAPI => new GitBookAPI({ endpoint: place.url, authToken: token });

/** A new organization, and a space in it. */
const begin = async (gitbook: GitBookAPI, s: State): Promise<void> => {
  s.org = (await gitbook.orgs.createOrganization({ title: 'Acme Docs' })).data.id;
  s.space = await space(gitbook, s, 'Handbook');
};

const space = async (gitbook: GitBookAPI, s: State, title: string): Promise<string> =>
  (await gitbook.orgs.createSpace(s.org, { title, empty: true })).data.id;

const site = async (gitbook: GitBookAPI, s: State): Promise<void> => {
  await begin(gitbook, s);
  s.site = (await gitbook.orgs.createSite(s.org, { type: SiteType.Basic, title: 'Public docs', spaces: [s.space] })).data.id;
};

/** The words of GitBook's error, which the client keeps. */
const words = (thrown: unknown): unknown => (thrown as { errorMessage?: unknown }).errorMessage;

/** Guide: gitbook.com/docs/developers, "Quickstart", "Pagination", "Errors". */
export const vendor: Vendor<GitBookAPI> = {
  document: 'gitbook/openapi.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'gb_api_1234567890',
  client: connect,
  flows: {
    'an organization': (gitbook, s) => ({
      create: async () => {
        const asked = { title: 'Acme Docs', emailDomains: ['acme.example'] };
        const { data } = await gitbook.orgs.createOrganization(asked);
        s.id = data.id;
        assert.partialDeepStrictEqual(data, asked);
      },
      read: async () => assert.equal((await gitbook.orgs.getOrganizationById(s.id)).data.title, 'Acme Docs'),
      change: async () =>
        assert.equal((await gitbook.orgs.updateOrganizationById(s.id, { title: 'Acme Manuals' })).data.title, 'Acme Manuals'),
      'read the change': async () => assert.equal((await gitbook.orgs.getOrganizationById(s.id)).data.title, 'Acme Manuals'),
      list: async () =>
        once(
          (await gitbook.orgs.listOrganizationsForAuthenticatedUser()).data.items.map(({ id }) => id),
          [s.id],
        ),
    }),
    'a space is made, changed, deleted and restored': (gitbook, s) => ({
      'create the organization': async () => begin(gitbook, s),
      create: async () => {
        const { data } = await gitbook.orgs.createSpace(s.org, { title: 'Guides', editMode: SpaceEditMode.Live, empty: true });
        s.id = data.id;
        assert.deepEqual([data.object, data.title, data.organization], ['space', 'Guides', s.org]);
      },
      read: async () => assert.equal((await gitbook.spaces.getSpaceById(s.id)).data.title, 'Guides'),
      change: async () => {
        const { data } = await gitbook.spaces.updateSpaceById(s.id, { title: 'Better guides', editMode: SpaceEditMode.Locked });
        assert.deepEqual([data.title, data.editMode], ['Better guides', 'locked']);
      },
      'list both': async () =>
        once(
          (await gitbook.orgs.listSpacesInOrganizationById(s.org)).data.items.map(({ id }) => id),
          [s.id, s.space],
        ),
      delete: async () => gitbook.spaces.deleteSpaceById(s.id),
      'gone from the list': async () =>
        assert.deepEqual(
          (await gitbook.orgs.listSpacesInOrganizationById(s.org)).data.items.map(({ id }) => id),
          [s.space],
        ),
      restore: async () => assert.equal((await gitbook.spaces.restoreSpace(s.id)).data.id, s.id),
      'it is there again': async () => assert.equal((await gitbook.spaces.getSpaceById(s.id)).data.title, 'Better guides'),
    }),
    'spaces through all pages': (gitbook, s) => ({
      'create five': async () => {
        await begin(gitbook, s);
        for (const n of [1, 2, 3, 4]) s[`id${n}`] = await space(gitbook, s, `Space ${n}`);
      },
      'walk pages of two': async () => {
        const rows = await pages(
          async (page) => {
            const asked = { limit: 2, ...(page === undefined ? {} : { page }) };
            return (await gitbook.orgs.listSpacesInOrganizationById(s.org, asked)).data;
          },
          ({ items }) => items,
          ({ next }) => next?.page,
        );
        assert.equal(rows.length, 5);
        once(
          rows.map(({ id }) => id),
          [s.space, s.id1, s.id2, s.id3, s.id4],
        );
      },
      'a page holds what was asked for': async () =>
        assert.equal((await gitbook.orgs.listSpacesInOrganizationById(s.org, { limit: 2 })).data.items.length, 2),
    }),
    'a collection and its space': (gitbook, s) => ({
      'create the organization': async () => begin(gitbook, s),
      create: async () => {
        const { data } = await gitbook.orgs.createCollection(s.org, { title: 'Products' });
        s.id = data.id;
        assert.deepEqual([data.title, data.organization], ['Products', s.org]);
      },
      'create a space in it': async () => {
        const { data } = await gitbook.orgs.createSpace(s.org, { title: 'Rockets', parent: s.id, empty: true });
        s.inside = data.id;
        assert.equal(data.parent, s.id);
      },
      'it holds that space alone': async () =>
        assert.deepEqual(
          (await gitbook.collections.listSpacesInCollectionById(s.id)).data.items.map(({ id }) => id),
          [s.inside],
        ),
      'move the other one into it': async () =>
        assert.equal((await gitbook.spaces.moveSpace(s.space, { parent: s.id })).data.parent, s.id),
      'it holds both': async () =>
        once(
          (await gitbook.collections.listSpacesInCollectionById(s.id)).data.items.map(({ id }) => id),
          [s.inside, s.space],
        ),
      change: async () => {
        const { data } = await gitbook.collections.updateCollectionById(s.id, { description: 'What we sell' });
        assert.deepEqual([data.title, data.description], ['Products', 'What we sell']);
      },
      delete: async () => gitbook.collections.deleteCollectionById(s.id),
      gone: async () => refused(gitbook.collections.getCollectionById(s.id), 404),
    }),
    'a team': (gitbook, s) => ({
      'create the organization': async () => begin(gitbook, s),
      create: async () => {
        s.id = (await gitbook.orgs.createOrganizationTeam(s.org, { title: 'Writers' })).data.id;
      },
      read: async () => assert.equal((await gitbook.orgs.getTeamInOrganizationById(s.org, s.id)).data.title, 'Writers'),
      rename: async () =>
        assert.equal((await gitbook.orgs.updateTeamInOrganizationById(s.org, s.id, { title: 'Editors' })).data.title, 'Editors'),
      list: async () =>
        assert.deepEqual(
          (await gitbook.orgs.listTeamsInOrganizationById(s.org)).data.items.map(({ id, title }) => [id, title]),
          [[s.id, 'Editors']],
        ),
      delete: async () => gitbook.orgs.removeTeamFromOrganizationById(s.org, s.id),
      gone: async () => refused(gitbook.orgs.getTeamInOrganizationById(s.org, s.id), 404),
    }),
    'a change request, opened and merged': (gitbook, s) => ({
      'create the space': async () => begin(gitbook, s),
      create: async () => {
        const { data } = await gitbook.spaces.createChangeRequest(s.space, { subject: 'Fix typos' });
        s.id = data.id;
        assert.deepEqual([data.subject, data.space], ['Fix typos', s.space]);
      },
      open: async () => {
        const asked = { status: 'open', subject: 'Fix all typos' } as const;
        const { data } = await gitbook.spaces.updateChangeRequestById(s.space, s.id, asked);
        assert.ok(data);
        assert.deepEqual([data.status, data.subject], ['open', 'Fix all typos']);
      },
      'list the open ones': async () =>
        assert.deepEqual(
          (await gitbook.spaces.listChangeRequestsForSpace(s.space, { status: ChangeRequestStatus.Open })).data.items.map(
            ({ id }) => id,
          ),
          [s.id],
        ),
      'it is not among the archived ones': async () =>
        assert.deepEqual(
          (await gitbook.spaces.listChangeRequestsForSpace(s.space, { status: ChangeRequestStatus.Archived })).data.items,
          [],
        ),
      merge: async () => {
        const { data } = await gitbook.spaces.mergeChangeRequest(s.space, s.id);
        assert.deepEqual([data.result, typeof data.revision], ['merge', 'string']);
      },
      'it is merged': async () => assert.equal((await gitbook.spaces.getChangeRequestById(s.space, s.id)).data.status, 'merged'),
    }),
    'comments on a space': (gitbook, s) => ({
      'create the space': async () => begin(gitbook, s),
      comment: async () => {
        const { data } = await gitbook.spaces.postCommentInSpace(s.space, { body: { markdown: 'Well said.' } });
        s.id = data.id;
        assert.deepEqual([data.object, data.target.space], ['comment', s.space]);
      },
      read: async () => {
        const { data } = await gitbook.spaces.getCommentInSpace(s.space, s.id, { format: 'markdown' });
        assert.deepEqual(data.body, { markdown: 'Well said.' });
      },
      change: async () => {
        await gitbook.spaces.updateCommentInSpace(s.space, s.id, { body: { markdown: 'Badly said.' } });
        const { data } = await gitbook.spaces.getCommentInSpace(s.space, s.id, { format: 'markdown' });
        assert.deepEqual(data.body, { markdown: 'Badly said.' });
      },
      list: async () =>
        assert.deepEqual(
          (await gitbook.spaces.listCommentsInSpace(s.space)).data.items.map(({ id }) => id),
          [s.id],
        ),
      delete: async () => gitbook.spaces.deleteCommentInSpace(s.space, s.id),
      gone: async () => refused(gitbook.spaces.getCommentInSpace(s.space, s.id), 404),
    }),
    'a site is published and taken offline': (gitbook, s) => ({
      'create the space': async () => begin(gitbook, s),
      create: async () => {
        const asked = { type: SiteType.Basic, title: 'Public docs', visibility: SiteVisibility.Public, spaces: [s.space] };
        const { data } = await gitbook.orgs.createSite(s.org, asked);
        s.id = data.id;
        assert.deepEqual([data.object, data.type, data.title, data.visibility], ['site', 'basic', 'Public docs', 'public']);
      },
      publish: async () => {
        const { data } = await gitbook.orgs.publishSite(s.org, s.id);
        assert.equal('published' in data && data.published, true);
      },
      'take it offline': async () => assert.equal((await gitbook.orgs.unpublishSite(s.org, s.id)).data.published, false),
      change: async () =>
        assert.equal(
          (await gitbook.orgs.updateSiteById(s.org, s.id, { visibility: SiteVisibility.Unlisted })).data.visibility,
          'unlisted',
        ),
      'read the change': async () => {
        const { data } = await gitbook.orgs.getSiteById(s.org, s.id);
        assert.deepEqual([data.title, data.visibility, data.published], ['Public docs', 'unlisted', false]);
      },
      delete: async () => gitbook.orgs.deleteSiteById(s.org, s.id),
      gone: async () => refused(gitbook.orgs.getSiteById(s.org, s.id), 404),
    }),
    'redirects of a site': (gitbook, s) => ({
      'create the site': async () => site(gitbook, s),
      create: async () => {
        const destination = { kind: 'external', url: 'https://example.com/new' } as const;
        const { data } = await gitbook.orgs.createSiteRedirect(s.org, s.site, { source: '/old', destination, permanent: true });
        s.id = data.id;
        assert.deepEqual([data.source, data.permanent, data.destination], ['/old', true, destination]);
      },
      list: async () =>
        assert.deepEqual(
          (await gitbook.orgs.listSiteRedirects(s.org, s.site)).data.items.map(({ id }) => id),
          [s.id],
        ),
      change: async () => {
        const { data } = await gitbook.orgs.updateSiteRedirectById(s.org, s.site, s.id, { draft: true });
        assert.deepEqual([data.draft, data.source], [true, '/old']);
      },
      delete: async () => gitbook.orgs.deleteSiteRedirectById(s.org, s.site, s.id),
      'none is left': async () => assert.deepEqual((await gitbook.orgs.listSiteRedirects(s.org, s.site)).data.items, []),
    }),
    'share links of a site': (gitbook, s) => ({
      'create the site': async () => site(gitbook, s),
      create: async () => {
        s.id = (await gitbook.orgs.createSiteShareLink(s.org, s.site, { name: 'For partners' })).data.id;
      },
      'switch it off': async () => {
        const { data } = await gitbook.orgs.updateSiteShareLinkById(s.org, s.site, s.id, { active: false });
        assert.deepEqual([data.active, data.name], [false, 'For partners']);
      },
      'list it': async () =>
        assert.deepEqual(
          (await gitbook.orgs.listSiteShareLinks(s.org, s.site)).data.items.map(({ id, active }) => [id, active]),
          [[s.id, false]],
        ),
      delete: async () => gitbook.orgs.deleteSiteShareLinkById(s.org, s.site, s.id),
      'none is left': async () => assert.deepEqual((await gitbook.orgs.listSiteShareLinks(s.org, s.site)).data.items, []),
    }),
    'an OpenAPI specification by its slug': (gitbook, s) => ({
      'create the organization': async () => begin(gitbook, s),
      create: async () => {
        const source = { url: 'https://example.com/petstore.yaml' };
        assert.equal((await gitbook.orgs.createOpenApiSpec(s.org, { slug: 'petstore', source })).data.slug, 'petstore');
      },
      'read it by its slug': async () =>
        assert.equal((await gitbook.orgs.getOpenApiSpecBySlug(s.org, 'petstore')).data.slug, 'petstore'),
      change: async () => {
        const { data } = await gitbook.orgs.updateOpenApiSpecBySlug(s.org, 'petstore', {
          visibility: OpenAPISpecVisibility.Private,
        });
        assert.deepEqual([data.slug, data.visibility], ['petstore', 'private']);
      },
      delete: async () => gitbook.orgs.deleteOpenApiSpecBySlug(s.org, 'petstore'),
      gone: async () => refused(gitbook.orgs.getOpenApiSpecBySlug(s.org, 'petstore'), 404),
    }),
    'a credential that is refused': (gitbook, _s, another) => ({
      'the right one is taken': async () =>
        assert.ok(Array.isArray((await gitbook.orgs.listOrganizationsForAuthenticatedUser()).data.items)),
      'none is refused': async () => refused(another('').orgs.listOrganizationsForAuthenticatedUser(), 401),
    }),
    'requests that are wrong': (gitbook, s) => ({
      'an organization that nobody made': async () =>
        assert.equal(typeof words(await refused(gitbook.orgs.getOrganizationById('nobodys'), 404)), 'string'),
      'a specification without its slug': async () => {
        await begin(gitbook, s);
        const source = { url: 'https://example.com/petstore.yaml' };
        const body = { source } as unknown as { slug: string; source: { url: string } };
        assert.equal(typeof words(await refused(gitbook.orgs.createOpenApiSpec(s.org, body), 400, 422)), 'string');
      },
      'a redirect from no path': async () => {
        await site(gitbook, s);
        const destination = { kind: 'external', url: 'https://example.com/new' } as const;
        await refused(gitbook.orgs.createSiteRedirect(s.org, s.site, { source: 'not a path', destination }), 400, 422);
      },
    }),
  },
};
