import { hash } from 'node:crypto';
import { CommitFailed } from '../failures.ts';
import { shownAddress } from '../postgres/connection.ts';
import { type AskedRate, type AskedRates, type DecidedRates, type SharedRates, WaitingRates } from '../sharing.ts';

/** What is asked of a client. */
interface Client {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  sendCommand(words: string[]): Promise<unknown>;
  destroy(): void;
}

/** How long Redis is waited for: whoever is counted is answered soon, whatever becomes of it. */
const waitMs = 1000;

/**
 * Rates in Redis or Valkey, `redis://user:password@host:port/database?prefix=ninefold`, or `rediss://`. A batch is one call of a script. It is
 * connected to when something is first counted, and anew with the next batch after it was lost: what cannot be counted is refused, never let through.
 * @param rules How each kind counts, in Lua.
 * @throws where the address is none.
 */
export function openRedisRates(address: string, rules: ReadonlyMap<string, string>): SharedRates {
  const { url, prefix } = readRedisAddress(address);
  const script = scriptOf(rules);
  return new RedisRates({
    url,
    name: shownAddress(address),
    prefix,
    script,
    hash: hash('sha1', script, 'hex'),
  });
}

/** Parts what is ours from an address. @throws where it is none */
export function readRedisAddress(address: string): { readonly url: string; readonly prefix: string } {
  const url = URL.parse(address);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new Error(
      `${shownAddress(address)} is no address of Redis; write redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT`,
    );
  const prefix = url.searchParams.get('prefix') ?? 'ninefold';
  for (const name of url.searchParams.keys())
    if (name !== 'prefix') throw new Error(`${shownAddress(address)} knows no ${name}: only prefix stands behind its ?`);
  if (!/^[\w.:-]{1,100}$/.test(prefix)) throw new Error(`prefix=${prefix}: take letters, digits and . : - _`);
  url.search = '';
  return { url: url.href, prefix };
}

interface RedisMeans {
  readonly url: string;
  /** Its address as it may be shown. */
  readonly name: string;
  readonly prefix: string;
  readonly script: string;
  /** What the script is called by where it is known. */
  readonly hash: string;
}

class RedisRates implements SharedRates {
  readonly #means: RedisMeans;
  readonly #waiting = new WaitingRates((asked) => this.#batch(asked));
  #client: Client | undefined;

  constructor(means: RedisMeans) {
    this.#means = means;
  }

  count(asked: AskedRates): Promise<DecidedRates> {
    return this.#waiting.add(asked);
  }

  async close(): Promise<void> {
    await this.#waiting.drain();
    this.#lose();
  }

  async #batch(asked: readonly AskedRates[]): Promise<readonly DecidedRates[]> {
    const { prefix, name } = this.#means;
    const places = new Map<string, number>();
    const placeOf = (key: string) => {
      const place = places.get(key) ?? places.size + 1;
      places.set(key, place);
      return place;
    };
    const batch = asked.map(({ rates, back, nowMs }) => [
      rates.map((rate) => written(rate, placeOf)),
      back.map((taken) => [...written(taken, placeOf), taken.atMs, taken.before]),
      nowMs ?? false,
    ]);
    // One slot of a cluster, by what stands in the braces.
    const keys = [...places.keys()].map((key) => `{${prefix}}${key}`);
    try {
      return readAnswer(await this.#called([String(keys.length), ...keys, JSON.stringify(batch)]));
    } catch (error) {
      this.#lose();
      throw new CommitFailed(name, error);
    }
  }

  async #called(given: readonly string[]): Promise<string> {
    const client = await this.#connected();
    const { hash, script } = this.#means;
    const known = client.sendCommand(['EVALSHA', hash, ...given]).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return client.sendCommand(['EVAL', script, ...given]);
      throw error;
    });
    return String(await inTime(known));
  }

  async #connected(): Promise<Client> {
    if (this.#client?.isReady) return this.#client;
    this.#lose();
    const { createClient } = await import('@redis/client');
    const socket = { connectTimeout: waitMs, reconnectStrategy: false } as const;
    const client = createClient({ url: this.#means.url, socket, disableOfflineQueue: true });
    // Whoever asks is told.
    client.on('error', () => {});
    this.#client = client;
    await inTime(client.connect());
    return client;
  }

  #lose(): void {
    if (this.#client?.isOpen) this.#client.destroy();
    this.#client = undefined;
  }
}

function written({ key, kind, facts, cost, memoryMs }: AskedRate, placeOf: (key: string) => number): (string | number)[] {
  return [placeOf(key), kind, facts.limit, facts.windowMs, facts.capacity, cost, memoryMs];
}

function readAnswer(text: string): DecidedRates[] {
  return text.split('\n').map((line) => {
    const [atMs = Number.NaN, ...numbers] = line.split(' ').map(readNumber);
    const rates = [];
    for (let at = 0; at < numbers.length; at += 5) {
      const [isAllowed, remaining = 0, moreMs = 0, waitMs = 0, before = 0] = numbers.slice(at, at + 5);
      rates.push({ isAllowed: isAllowed === 1, remaining, moreMs, waitMs, before });
    }
    return { atMs, rates };
  });
}

function readNumber(text: string): number {
  return text === 'inf' ? Number.POSITIVE_INFINITY : Number(text);
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${waitMs} ms`)), waitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}

/**
 * The script that counts a batch of requests inside Redis, where nothing else runs meanwhile. Its keys are what is counted; its first argument
 * is the batch as JSON, a list of `[rates, back, now]` with `[key's place, kind, limit, window, capacity, cost, memory]` for each rate, and when
 * and before what it was counted behind it where it is given back. It answers a line for each request: when it was decided, and five numbers for each rate.
 * @param rules How each kind counts, by its word: the body of a Lua function that returns `decide` and `giveBack`.
 */
function scriptOf(rules: ReadonlyMap<string, string>): string {
  const kinds = [...rules].map(([word, body]) => `[${JSON.stringify(word)}] = (function() ${body} end)()`);
  return `local kinds = {${kinds.join(',\n')}}
${counting}`;
}

const counting = `
local time = redis.call('TIME')
local machine = time[1] * 1000 + math.floor(time[2] / 1000)
local uses, memories = {}, {}
local function text(number) return string.format('%.17g', number) end
local function useOf(place)
  if not uses[place] then
    local use = {}
    for number in string.gmatch(redis.call('GET', KEYS[place]) or '', '%S+') do use[#use + 1] = tonumber(number) end
    uses[place] = use
  end
  return uses[place]
end
local function factsOf(rate) return { limit = rate[3], window = rate[4], capacity = rate[5] } end
local function keep(rate, use)
  uses[rate[1]] = use
  memories[rate[1]] = rate[7]
end
local lines = {}
for _, asked in ipairs(cjson.decode(ARGV[1])) do
  local now = asked[3] or machine
  local line, tried, isAllowed = { text(now) }, {}, #asked[1] > 0
  for at, rate in ipairs(asked[1]) do
    local use = {}
    for place, number in ipairs(useOf(rate[1])) do use[place] = number end
    local fits, remaining, more, wait, before = kinds[rate[2]].decide(factsOf(rate), use, now, rate[6])
    tried[at] = use
    isAllowed = isAllowed and fits
    line[#line + 1] = table.concat({ fits and '1' or '0', text(remaining), text(more), text(wait), text(before) }, ' ')
  end
  if isAllowed then
    for at, rate in ipairs(asked[1]) do keep(rate, tried[at]) end
  else
    for _, rate in ipairs(asked[2]) do
      local use = useOf(rate[1])
      kinds[rate[2]].giveBack(factsOf(rate), use, now, rate[8], rate[6], rate[9])
      keep(rate, use)
    end
  end
  lines[#lines + 1] = table.concat(line, ' ')
end
for place, memory in pairs(memories) do
  local use, texts = uses[place], {}
  for at, number in ipairs(use) do texts[at] = text(number) end
  if #use == 0 then
    redis.call('DEL', KEYS[place])
  else
    redis.call('SET', KEYS[place], table.concat(texts, ' '), 'PX', math.ceil(memory))
  end
end
return table.concat(lines, '\\n')`;
