/** What an address says besides where the database is. */
export interface Settings {
  /** The schema in which the store lies. */
  readonly schema: string;
  /** Whether statements are prepared; poolers that share sessions between transactions may not keep them. */
  readonly prepares: boolean;
  /** Where to listen, if it is not the same address: poolers pass no notices on. */
  readonly listenUrl: string | undefined;
  /** Whether the database is asked for nothing but what others that speak its protocol have too. */
  readonly isPlain: boolean;
  /** How long the database may take to answer what is quick, in milliseconds, before the way to it counts as cut. */
  readonly answerMs: number;
}

const ownParameters = ['schema', 'prepare', 'listen', 'plain', 'answer_timeout'];

/** Parts our own parameters from an address, `postgres://user:password@host:port/database?schema=ninefold`. @throws where it is none. */
export function readAddress(address: string): { readonly url: string; readonly name: string; readonly settings: Settings } {
  const url = URL.parse(address);
  if (!url || url.pathname.length < 2)
    throw new Error(`${shownAddress(address)} is no address of a database; write postgres://USER@HOST:PORT/DATABASE`);
  const own = new URLSearchParams(
    ownParameters.flatMap((name) => url.searchParams.getAll(name).map((value): [string, string] => [name, value])),
  );
  for (const name of ownParameters) url.searchParams.delete(name);
  const schema = own.get('schema') ?? 'ninefold';
  if (!/^[A-Za-z_][\w-]{0,62}$/.test(schema))
    throw new Error(`${schema} cannot be the name of a schema; take letters, digits and _`);
  const isTrue = (parameter: string, usual: boolean) => {
    const said = own.get(parameter) ?? String(usual);
    if (said !== 'true' && said !== 'false') throw new Error(`${parameter} is true or false, not ${said}`);
    return said === 'true';
  };
  const answerSeconds = own.get('answer_timeout') ?? '30';
  if (!/^[1-9]\d{0,3}$/.test(answerSeconds))
    throw new Error(`answer_timeout is a number of seconds from 1 to 9999, not ${answerSeconds}`);
  return {
    url: url.href,
    name: shownAddress(address),
    settings: {
      schema,
      prepares: isTrue('prepare', true),
      listenUrl: own.get('listen') ?? undefined,
      isPlain: isTrue('plain', false),
      answerMs: Number(answerSeconds) * 1000,
    },
  };
}

/** An address as it may be shown: without its password, wherever and however that is written, even where the address is none. */
export function shownAddress(address: string): string {
  return address.replace(/^([a-z]+:\/\/[^:@]*):.*@/is, '$1:…@').replace(/\?.*$/s, '');
}
