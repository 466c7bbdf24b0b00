import { want } from './kit.js';

export const purpose = [
  [
    'pu-base',
    'base address',
    'service',
    'A gateway rewrites the prefix: all is served under /v1 instead of /api.',
    async (w) => want((await w.nobody.get('/remedies')).status, 200),
  ],
  [
    'pu-no-create-yard',
    'functions',
    'service',
    'The route to make a yard is not registered, so nobody can keep yards.',
    async (w) => void (await w.yard()),
  ],
  [
    'pu-no-survey',
    'functions',
    'service',
    'Looking over all hives was left for later: its route is not there.',
    async (w) => want((await w.ines.get('/hives')).status, 200),
  ],
  [
    'pu-no-delete-inspection',
    'functions',
    'service',
    'An inspection cannot be taken back: the route is missing.',
    async (w) => {
      const { id } = await w.inspection(await w.active());
      want((await w.ines.del(`/inspections/${id}`)).status, 204);
    },
  ],
  [
    'pu-users',
    'users',
    'service',
    'Grocers were dropped from the users that are known: their keys and tokens are refused.',
    async (w) => want((await w.greg.get('/harvests')).status, 200),
  ],
];
