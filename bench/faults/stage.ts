/** Where a demonstration is played: requests to a running service, a receiver of webhooks, readers of its stream. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningService } from './command.ts';
import type { Act, Heard, Seen, Told } from './demonstration.ts';

export class Stage {
  readonly #service: RunningService;
  readonly #credentials: (who: string) => Readonly<Record<string, string>>;
  readonly #answers: Heard[] = [];
  readonly #told: Told[] = [];
  readonly #kept = new Map<string, string>();
  readonly #closing: (() => void)[] = [];
  #hookStatus = 204;

  constructor(service: RunningService, credentials: (who: string) => Readonly<Record<string, string>>) {
    this.#service = service;
    this.#credentials = credentials;
  }

  seen(): Seen {
    return {
      last: this.#answers.at(-1) ?? { status: 0, headers: {}, body: undefined },
      answers: this.#answers,
      told: this.#told,
      kept: this.#kept,
    };
  }

  close(): void {
    for (const close of this.#closing) close();
  }

  async carryOut(act: Act): Promise<void> {
    if ('wait' in act) await this.#service.clock.advance(act.wait);
    else if ('together' in act) await Promise.all(act.together.map((one) => this.carryOut(one)));
    else if ('hooks' in act) await this.#hooks(act.hooks, act.answer);
    else if ('stream' in act) await this.#stream(act);
    else if ('dawdle' in act) this.#answers.push(await this.#dawdle(act.dawdle));
    else this.#answers.push(await this.#send(act));
  }

  async #send(act: Extract<Act, { send: string }>): Promise<Heard> {
    const [method = 'GET', path = '/'] = this.#filled(act.send).split(' ');
    const isJson = act.body !== undefined && typeof act.body !== 'string';
    const text = act.body === undefined ? undefined : this.#filled(isJson ? JSON.stringify(act.body) : String(act.body));
    const headers = {
      ...(act.as !== undefined && this.#credentials(act.as)),
      ...(isJson && { 'Content-Type': 'application/json' }),
      ...Object.fromEntries(Object.entries(act.headers ?? {}).map(([name, value]) => [name, this.#filled(value)])),
    };
    const heard = await exchange(this.#service.url + path, method, headers, text);
    if (act.keep !== undefined) this.#keep(act.keep, heard);
    return heard;
  }

  #keep(name: string, { body, headers }: Heard): void {
    const row: Record<string, unknown> = typeof body === 'object' && body !== null ? { ...body } : {};
    this.#kept.set(name, String(row.id ?? row.number ?? row.code ?? ''));
    this.#kept.set(`${name}.tag`, String(headers.etag ?? ''));
    this.#kept.set(`${name}.secret`, String(row.secret ?? ''));
    this.#kept.set(`${name}.next`, String(row.next_cursor ?? ''));
    this.#kept.set(`${name}.location`, String(headers.location ?? ''));
  }

  /** `$name` is what was kept; `$hook` the address of a receiver that is opened for it. */
  #filled(text: string): string {
    return text.replace(/\$([a-z]\w*(?:\.[a-z]+)?)/g, (all, name: string) => this.#kept.get(name) ?? all);
  }

  /** Opens the receiver the first time; later waits until so many deliveries have come, or a moment has gone by. */
  async #hooks(count: number, answer = 204): Promise<void> {
    this.#hookStatus = answer;
    if (this.#kept.has('hook')) {
      await until(() => this.#told.length >= count);
      return;
    }
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const { type, id, data } = JSON.parse(text);
      this.#told.push({ kind: type, id, payload: data, headers: request.headers, text });
      response.writeHead(this.#hookStatus).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#kept.set('hook', `http://127.0.0.1:${address.port}/`);
    this.#closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
  }

  /** Reads a stream in the background from now on; a second one waits for what is still to come. */
  async #stream({ stream, as, after, events }: Extract<Act, { stream: string }>): Promise<void> {
    if (stream === '') {
      await until(() => this.#told.length >= events);
      return;
    }
    const headers = {
      ...this.#credentials(as),
      ...(after !== undefined && { 'Last-Event-ID': this.#told[Number(after)]?.id ?? after }),
    };
    const request = send(this.#service.url + stream, { headers });
    request.end();
    const [response] = await once(request, 'response');
    this.#answers.push({ status: response.statusCode, headers: response.headers, body: undefined });
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.#note(text.slice(0, end), response.headers);
        text = text.slice(end + 2);
      }
    });
    response.on('error', () => {});
    request.on('error', () => {});
    this.#closing.push(() => request.destroy());
    await until(() => this.#told.length >= events);
  }

  #note(block: string, headers: Heard['headers']): void {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
    );
    const text = fields.get('data');
    if (text === undefined) return;
    const { payload } = JSON.parse(text);
    this.#told.push({ kind: fields.get('event') ?? '', id: fields.get('id') ?? '', payload, headers, text });
  }

  /** Sends a request whose body never comes, and waits for four seconds. */
  async #dawdle(target: string): Promise<Heard> {
    const [method = 'POST', path = '/', who = ''] = target.split(' ');
    const headers = { ...this.#credentials(who), 'Content-Type': 'application/json', 'Content-Length': '100' };
    const request = send(this.#service.url + path, { method, headers });
    request.on('error', () => {});
    request.write('{');
    const answered = once(request, 'response').then(([response]) => {
      response.resume();
      return { status: Number(response.statusCode), headers: response.headers, body: undefined };
    });
    const late = { status: 0, headers: {}, body: undefined };
    const heard = await Promise.race([answered.catch(() => late), delay(4500, late)]);
    request.destroy();
    return heard;
  }
}

async function exchange(url: string, method: string, headers: Record<string, string>, text: string | undefined): Promise<Heard> {
  const length = text === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(text)) };
  const request = send(url, { method, headers: { ...headers, ...length }, agent: false });
  request.end(text);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const answered = Buffer.concat(chunks).toString();
  return { status: response.statusCode, headers: response.headers, body: parsed(answered) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Waits until something holds, for 300 ms at most: what has not come by then is not on its way. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    await delay(5);
    if (holds()) {
      await delay(30);
      return;
    }
  }
}
