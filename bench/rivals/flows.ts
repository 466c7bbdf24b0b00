/** Uses of the pet store that any client of it makes, by plain HTTP: what a stand-in has to keep for them to work. */

/** Sends a request below the path that the stand-in serves at; gives the status and the body, where it is JSON. */
type Ask = (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: unknown }>;

const pet = (name: string) => ({ name, photoUrls: ['https://pets.example/1.png'], status: 'pending' });
const nameOf = (body: unknown): unknown => (body as { name?: unknown } | undefined)?.name;

async function made(ask: Ask, name: string): Promise<string> {
  const { status, body } = await ask('POST', '/pet', pet(name));
  const id = (body as { id?: unknown } | undefined)?.id;
  if (status >= 300 || typeof id !== 'number') throw new Error(`made: ${status}, id ${String(id)}`);
  return String(id);
}

/** By what is asked of it, whether a stand-in does it. */
export const flows: Readonly<Record<string, (ask: Ask) => Promise<boolean>>> = {
  'what is made is read': async (ask) => nameOf((await ask('GET', `/pet/${await made(ask, 'Ada')}`)).body) === 'Ada',
  'what is made is listed': async (ask) => {
    await made(ask, 'Bea');
    const { body } = await ask('GET', '/pet/findByStatus?status=pending');
    return Array.isArray(body) && body.some((one) => nameOf(one) === 'Bea');
  },
  'a list is narrowed': async (ask) => {
    await made(ask, 'Cid');
    const { body } = await ask('GET', '/pet/findByStatus?status=sold');
    return Array.isArray(body) && body.every((one) => (one as { status?: unknown }).status === 'sold');
  },
  'what is changed is read': async (ask) => {
    const id = await made(ask, 'Dot');
    await ask('PUT', '/pet', { ...pet('Eva'), id: Number(id) });
    return nameOf((await ask('GET', `/pet/${id}`)).body) === 'Eva';
  },
  'what is deleted is gone': async (ask) => {
    const id = await made(ask, 'Fay');
    await ask('DELETE', `/pet/${id}`);
    return (await ask('GET', `/pet/${id}`)).status === 404;
  },
  'two things are two': async (ask) => (await made(ask, 'Gus')) !== (await made(ask, 'Hal')),
  'what nobody made is not there': async (ask) => (await ask('GET', '/pet/987654321')).status === 404,
  'a body that breaks its schema is refused': async (ask) => {
    const { status } = await ask('POST', '/pet', { name: 7 });
    return status >= 400 && status < 500;
  },
};
