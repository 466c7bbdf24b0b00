import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toJsonSchema } from '../../src/parts/schemas.ts';
import type { Spec } from '../../src/parts/spec.ts';
import { createValidator } from '../../src/serve/http/ajv.ts';
import { parseJson, toJson } from '../../src/serve/http/json.ts';
import type { Validate } from '../../src/serve/http/validation.ts';
import {
  doubtfulField,
  doubtfulStatus,
  type Generated,
  type GeneratedField,
  type GeneratedResource,
} from './generated-document.ts';
import { drawQuestion, type Fields, type Page, readPage } from './generated-lists.ts';
import { type Draw, pick, type Value } from './generated-values.ts';
import type { Answered, Tried } from './tried.ts';

/** A row as it was last read. */
interface Seen {
  readonly id: string;
  readonly fields: Fields;
  readonly text: string;
  readonly tag: string;
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly value?: Value;
  readonly body?: string | Uint8Array;
}

/** Plays requests made up on the way against a service, and holds every answer to what was answered before. */
export class Play {
  /** What was sent and what came back, for whoever reads a failure. */
  readonly log: string[] = [];
  readonly #draw: Draw;
  readonly #tried: Tried;
  readonly #resources: readonly GeneratedResource[];
  readonly #shown = new Map<string, Validate>();
  /** Rows in the order of their creation. */
  readonly #rows = new Map<string, Map<string, Seen>>();
  /** Every tag that a row ever had, with the text that it stood for. */
  readonly #tags = new Map<string, string>();
  #made = 0;

  constructor(draw: Draw, { resources }: Generated, tried: Tried, spec: Spec) {
    this.#draw = draw;
    this.#tried = tried;
    this.#resources = resources;
    const validator = createValidator();
    for (const { name } of resources) {
      this.#rows.set(name, new Map());
      this.#shown.set(name, validator.compile(toJsonSchema(spec, { resource: name }, 'shown')));
    }
  }

  async step(): Promise<void> {
    this.#tried.clock.advance(1000);
    const resource = pick(this.#draw, this.#resources);
    const acts = [
      this.#create, this.#create, this.#create, this.#update, this.#update, this.#replace, this.#fire, this.#list, this.#list,
      this.#read, this.#delete, this.#misfit, this.#break, this.#break, this.#together, this.#again, this.#createUnder, this.#listUnder,
    ]; // biome-ignore format: a table
    await pick(this.#draw, acts).call(this, resource);
  }

  /** In the end every row is where it should be. */
  async settle(): Promise<void> {
    for (const resource of this.#resources) {
      await this.#list(resource);
      for (const { id } of this.#rowsOf(resource)) await this.#check(resource, id);
    }
  }

  async #create(resource: GeneratedResource): Promise<void> {
    const body = this.#body(resource, undefined);
    const answer = await this.#send('POST', resource.path, { value: body });
    if (answer.status === 409) return this.#unchanged();
    if (isDoubted(resource, body)) {
      await this.#madeAllTheSame(resource, body, answer);
      return;
    }
    assert.equal(answer.status, 201, 'a row that fits is not made');
    const fields = this.#parse(answer) as Fields;
    this.#demandSent(resource, body, fields, undefined);
    const seen = await this.#observe(resource, String(fields.id), answer);
    assert.equal(
      decodeURIComponent((answer.headers.location ?? '').split('/').at(-1) ?? ''),
      seen.id,
      'Location leads elsewhere',
    );
  }

  /** A row below another: the path says which, and the body says nothing else. */
  async #createUnder(resource: GeneratedResource): Promise<void> {
    const [parent, above] = this.#anyParent(resource);
    if (!parent) return;
    const body = this.#body(resource, undefined);
    delete body[parent.field.name];
    const target = parent.path.replace(/\{.*\}/, encodeURIComponent(above?.id ?? 'nowhere'));
    const answer = await this.#send('POST', target, { value: body });
    if (answer.status === 409 && above) return this.#unchanged();
    if (above && isDoubted(resource, body)) {
      // A field may be called `constructor`: a copy of the body has no prototype either.
      body[parent.field.name] = above.fields.id;
      await this.#madeAllTheSame(resource, body, answer);
      return;
    }
    assert.equal(answer.status, above ? 201 : 404, 'a path leads to another end');
    if (!above) return this.#unchanged();
    const fields = this.#parse(answer) as Fields;
    body[parent.field.name] = above.fields.id;
    this.#demandSent(resource, body, fields, undefined);
    await this.#observe(resource, String(fields.id), answer);
    const other = await this.#send('POST', target, {
      value: { ...this.#body(resource, undefined), [parent.field.name]: 'another' },
    });
    assert.equal(other.status, 422, 'body and path disagree, and nobody minds');
  }

  /** What is made and refused is there, once, as it was sent, and in the state that it was refused in. */
  async #madeAllTheSame(resource: GeneratedResource, body: Fields, answer: Answered): Promise<Seen> {
    assert.equal(answer.status, doubtfulStatus, 'what is to be made and refused is not');
    const known = this.#rows.get(resource.name) as Map<string, Seen>;
    const others = (await this.#listedIds(resource)).filter((id) => !known.has(id));
    assert.equal(others.length, 1, `what was made and refused is there: ${others.length}`);
    const id = others[0] as string;
    const read = await this.#send('GET', targetOf(resource, id));
    const fields = this.#parse(read) as Fields;
    // Whoever is refused was told of no secret.
    const isTold = ({ isSecret }: GeneratedField): boolean => !isSecret;
    this.#demandSent({ ...resource, fields: resource.fields.filter(isTold) }, body, fields, undefined);
    assert.equal(fields.status, resource.machine?.doubt?.made, 'what was made and refused began in another state');
    return this.#observe(resource, id, read);
  }

  async #listUnder(resource: GeneratedResource): Promise<void> {
    const [parent, above] = this.#anyParent(resource);
    if (!parent) return;
    const target = parent.path.replace(/\{.*\}/, encodeURIComponent(above?.id ?? 'nowhere'));
    if (!above) assert.equal((await this.#send('GET', target)).status, 404, 'a list below nothing');
    else {
      const expected = this.#rowsOf(resource).filter(({ fields }) => fields[parent.field.name] === above.fields.id);
      assert.deepEqual((await this.#listedIds(resource, target)).toSorted(), expected.map(({ id }) => id).toSorted());
    }
  }

  #anyParent(resource: GeneratedResource): [GeneratedResource['parents'][number] | undefined, Seen | undefined] {
    if (resource.parents.length === 0) return [undefined, undefined];
    const parent = pick(this.#draw, resource.parents);
    const isLost = this.#draw(fc.nat, { max: 4 }) === 0;
    return [parent, isLost ? undefined : this.#anyRow(this.#resources.find(({ name }) => name === parent.target)!)];
  }

  /** The same key twice makes one row. */
  async #again(resource: GeneratedResource): Promise<void> {
    this.#made++;
    const body = this.#body(resource, undefined);
    const sent = { value: body, headers: { 'Idempotency-Key': `key ${this.#made}` } };
    const first = await this.#send('POST', resource.path, sent);
    if (first.status === doubtfulStatus) {
      await this.#madeAllTheSame(resource, body, first);
      const again = await this.#send('POST', resource.path, sent);
      assert.equal(again.status, doubtfulStatus, 'the same key is refused otherwise');
      return this.#unchanged();
    }
    if (first.status !== 201) return this.#unchanged();
    await this.#observe(resource, String((this.#parse(first) as Fields).id), first);
    const second = await this.#send('POST', resource.path, sent);
    const secrets = resource.fields.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    const [told, again] = [this.#parse(first), this.#parse(second)] as [Fields, Fields];
    assert.deepEqual(
      [second.status, canonical(again)],
      [201, canonical(without(told, secrets))],
      'the same key gives another answer',
    );
    await this.#unchanged();
  }

  async #read(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    if (!row) return;
    const target = targetOf(resource, row.id);
    const got = await this.#check(resource, row.id);
    const head = await this.#send('HEAD', target);
    const { 'content-length': _length, ...rest } = got.headers;
    const { 'content-length': _headLength, ...headRest } = head.headers;
    assert.deepEqual([head.status, headRest, head.text], [200, rest, ''], 'HEAD is not as GET');
    const fresh = await this.#send('GET', target, { headers: { 'If-None-Match': row.tag } });
    assert.deepEqual([fresh.status, fresh.text], [304, ''], 'what is known is sent anew');
  }

  async #update(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    if (!row) return;
    const patch: Record<string, Value> = Object.create(null);
    for (const field of resource.fields) {
      if (!field.isSent || field.isImmutable || this.#draw(fc.boolean)) continue;
      const value = !field.required && this.#draw(fc.nat, { max: 3 }) === 0 ? null : this.#valueOf(field);
      // In a patch a null takes away, which a required field refuses even where it may be null.
      if (value !== undefined && !(value === null && field.required)) patch[field.name] = value;
    }
    const answer = await this.#send('PATCH', targetOf(resource, row.id), {
      value: patch,
      headers: this.#condition(resource, row),
    });
    if (answer.status === 409) return this.#unchanged();
    // A union that is patched with another branch may be neither.
    const isMerged = Object.values(patch).some((value) => typeof value === 'object' && value !== null && !Array.isArray(value));
    if (answer.status === 422 && isMerged) return this.#unchanged();
    assert.equal(answer.status, 200, 'a patch that fits is refused');
    const merged = merge(row.fields, patch) as Fields;
    const after = this.#parse(answer) as Fields;
    for (const field of resource.fields) if (field.isShown) this.#same(field.name, merged[field.name], after[field.name]);
    const seen = await this.#observe(resource, row.id, answer);
    const again = await this.#send('PATCH', targetOf(resource, row.id), {
      value: patch,
      headers: this.#condition(resource, seen),
    });
    assert.deepEqual(
      [again.status, again.text, again.headers.etag],
      [200, answer.text, answer.headers.etag],
      'the same patch changes twice',
    );
    await this.#check(resource, row.id);
  }

  async #replace(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    const isNew = resource.identifier.isClient && this.#draw(fc.nat, { max: 2 }) === 0;
    const id = isNew ? this.#newId() : row?.id;
    if (id === undefined) return;
    const before = isNew ? undefined : row;
    const body = this.#body(resource, before?.fields);
    delete body.id;
    const headers = before ? this.#condition(resource, before) : resource.ifMatch === 'none' ? {} : { 'If-None-Match': '*' };
    const answer = await this.#send('PUT', targetOf(resource, id), { value: body, headers });
    if (answer.status === 409) return this.#unchanged();
    if (!before && isDoubted(resource, body)) {
      const made = await this.#madeAllTheSame(resource, Object.assign(Object.create(null), body, { id }), answer);
      return assert.equal(made.id, id, 'what was put and refused is another one');
    }
    assert.equal(answer.status, before ? 200 : 201, 'a row that fits does not take the place');
    const after = this.#parse(answer) as Fields;
    this.#demandSent(resource, body, after, before?.fields);
    await this.#observe(resource, id, answer);
  }

  async #fire(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    if (!row || !resource.machine) return;
    const transition = pick(this.#draw, resource.machine.transitions);
    const answer = await this.#send('POST', `${targetOf(resource, row.id)}/${transition}`);
    if (answer.status === 409) return this.#unchanged();
    const isMovedAndRefused = transition === 'doubt' && isDoubted(resource, row.fields);
    assert.equal(answer.status, isMovedAndRefused ? doubtfulStatus : 200);
    // What was moved and refused is read where it is.
    const shown = isMovedAndRefused ? await this.#send('GET', targetOf(resource, row.id)) : answer;
    const after = this.#parse(shown) as Fields;
    if (transition === 'doubt') assert.equal(after.status, isMovedAndRefused ? resource.machine.doubt?.moved : 'new');
    for (const field of resource.fields) if (field.isShown) this.#same(field.name, row.fields[field.name], after[field.name]);
    await this.#observe(resource, row.id, shown);
  }

  async #delete(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    if (!row) return;
    const headers = resource.ifMatch === 'none' || this.#draw(fc.boolean) ? {} : { 'If-Match': row.tag };
    // A weak tag never matches.
    const answer = await this.#send('DELETE', targetOf(resource, row.id), { headers });
    if (answer.status === 409) return this.#unchanged();
    assert.deepEqual([answer.status, answer.text], [204, '']);
    this.#rows.get(resource.name)?.delete(row.id);
    assert.equal((await this.#send('GET', targetOf(resource, row.id))).status, 404, 'what was deleted is still there');
    await this.#resync();
  }

  /** One value that does not fit: refused, and named. */
  async #misfit(resource: GeneratedResource): Promise<void> {
    const fields = resource.fields.filter(({ isSent, ref }) => isSent && !ref);
    if (fields.length === 0) return;
    const field = pick(this.#draw, fields);
    const body = this.#body(resource, undefined);
    body[field.name] = field.kind.wrong(this.#draw);
    const answer = await this.#send('POST', resource.path, { value: body });
    assert.equal(answer.status, 422, 'what does not fit is taken');
    const { violations = [] } = answer.json as { violations?: { path: string }[] };
    const place = `/${field.name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    assert.ok(
      violations.some(({ path }) => path === place || path.startsWith(`${place}/`)),
      `nothing is said of ${place}`,
    );
    await this.#unchanged();
  }

  /** Something that is no request of this service, or happens to be one. */
  async #break(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    const id = pick<string>(this.#draw, [
      row?.id ?? 'x',
      'x',
      '__proto__',
      '0',
      '-1',
      '9'.repeat(30),
      ' ',
      'a/b',
      '%',
      '1e3',
      '01',
    ]);
    const target = targetOf(resource, id);
    const query = this.#draw(fc.boolean) ? '' : `?${this.#brokenQuery(resource)}`;
    const method = pick(this.#draw, ['POST', 'GET', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'BREW']);
    const path = this.#draw(fc.boolean) ? resource.path : target;
    const isBodiless = method === 'GET' || method === 'HEAD';
    const sent = { headers: this.#brokenHeaders(), ...(!isBodiless && this.#brokenBody(resource)) };
    const answer = await this.#send(method, path + query, sent);
    const isKept = answer.status === doubtfulStatus;
    if ((answer.status >= 300 && !isKept) || isBodiless || method === 'OPTIONS') await this.#unchanged();
    else await this.#resync();
  }

  /** Requests at once: each gets an answer of its own, and what is stored is of one piece. */
  async #together(resource: GeneratedResource): Promise<void> {
    const row = this.#anyRow(resource);
    const created = { value: this.#body(resource, undefined) };
    if (!row) {
      await Promise.all([this.#send('POST', resource.path, created), this.#send('GET', resource.path)]);
      return this.#resync();
    }
    const target = targetOf(resource, row.id);
    const headers = this.#condition(resource, row);
    // A row that is deleted may be made anew by what comes after: what was made then is known by its place in the list alone.
    const isDeleting = this.#draw(fc.boolean);
    const other = isDeleting ? this.#send('DELETE', target) : this.#send('POST', resource.path, created);
    const replaced = this.#send('PUT', target, { value: this.#body(resource, row.fields), headers });
    const sending = [other, this.#send('PATCH', target, { value: {}, headers }), replaced];
    const [first] = await Promise.all(sending);
    if (isDeleting && first?.status === 204) this.#rows.get(resource.name)?.delete(row.id);
    await this.#resync();
  }

  /** Pages through a list, forth and sometimes back, and sometimes while rows are made: each row once, in order. */
  async #list(resource: GeneratedResource): Promise<void> {
    const before = this.#rowsOf(resource);
    const question = drawQuestion(
      this.#draw,
      resource,
      before.map(({ fields }) => fields),
    );
    const mayGrow = (resource.pages.style === 'cursor' || resource.pages.style === 'after') && this.#draw(fc.boolean);
    // No more than a few: where a page has one row, a row for each page would be a list that grows as fast as it is read.
    let growsBy = mayGrow ? 3 : 0;
    const first = `${resource.path}${question.query.length > 0 ? '?' : ''}${question.query.join('&')}`;
    const pages: Page[] = [];
    for (let target: string | undefined = first; target !== undefined; ) {
      const page: Page = await this.#page(resource, target);
      if (resource.pages.style !== 'none') assert.ok(page.rows.length <= question.size, 'a page is larger than asked for');
      pages.push(page);
      assert.ok(pages.length < 200, 'a list that never ends');
      target = page.next;
      if (growsBy === 0 || target === undefined || this.#draw(fc.boolean)) continue;
      await this.#create(resource);
      growsBy--;
    }
    const found = pages.flatMap(({ rows }) => rows);
    this.#demandList(
      resource,
      found,
      before.filter(({ fields }) => question.keeps(fields)),
      question.compare,
      mayGrow,
    );
    const total = pages[0]?.total;
    if (total !== undefined && !mayGrow) assert.equal(total, found.length, 'the total is not how many there are');
    if (!mayGrow) await this.#walkBack(resource, pages);
  }

  async #walkBack(resource: GeneratedResource, pages: readonly Page[]): Promise<void> {
    for (let at = pages.length - 1; at > 0; at--) {
      const { previous } = pages[at] as Page;
      assert.ok(previous !== undefined, 'nothing leads back from a page');
      const page = await this.#page(resource, previous);
      assert.deepEqual(idsOf(page.rows), idsOf((pages[at - 1] as Page).rows), 'the way back is another one');
    }
    if (pages.length > 0) assert.equal(pages[0]?.previous, undefined, 'something is said to come before the first page');
  }

  #demandList(
    resource: GeneratedResource,
    found: readonly Fields[],
    expected: readonly Seen[],
    compare: (one: Fields, other: Fields) => number,
    mayGrow: boolean,
  ): void {
    const ids = idsOf(found);
    assert.equal(new Set(ids).size, ids.length, `a row comes twice: ${ids}`);
    const wanted = expected.map(({ id }) => id);
    if (mayGrow)
      assert.deepEqual(
        wanted.filter((id) => !ids.includes(id)),
        [],
        `a row is skipped: ${ids}`,
      );
    else assert.deepEqual(ids.toSorted(), wanted.toSorted(), 'other rows than there are');
    const rows = this.#rows.get(resource.name) as Map<string, Seen>;
    const created = [...rows.keys()];
    for (const [index, row] of found.entries()) {
      assert.equal(canonical(row), canonical(rows.get(String(row.id))?.fields), 'a list shows a row otherwise');
      const next = found[index + 1];
      if (!next) continue;
      const compared = compare(row, next);
      assert.ok(compared <= 0, `out of order: ${ids}`);
      if (compared === 0 && !this.#mayTie(resource, row, next))
        assert.ok(created.indexOf(String(row.id)) < created.indexOf(String(next.id)), `ties are not by creation: ${ids}`);
    }
  }

  /** A row without the value that orders may stand anywhere among the others. */
  #mayTie({ sorts, order }: GeneratedResource, one: Fields, other: Fields): boolean {
    const fields = [...sorts, ...(order ? [order.field] : [])];
    return fields.some(({ name }) => one[name] === undefined || other[name] === undefined);
  }

  async #page(resource: GeneratedResource, target: string): Promise<Page> {
    const answer = await this.#send('GET', target);
    assert.equal(answer.status, 200, 'a page that was offered is refused');
    return readPage({ value: this.#parse(answer), link: answer.headers.link }, resource, target);
  }

  /** Reads everything anew where nobody can know what came of it. */
  async #resync(): Promise<void> {
    for (const resource of this.#resources) {
      const rows = this.#rows.get(resource.name) as Map<string, Seen>;
      for (const id of [...rows.keys()]) {
        const answer = await this.#send('GET', targetOf(resource, id));
        if (answer.status === 404) rows.delete(id);
        else await this.#observe(resource, id, answer);
      }
      for (const id of await this.#listedIds(resource))
        if (!rows.has(id)) await this.#observe(resource, id, await this.#send('GET', targetOf(resource, id)));
    }
    this.#demandReferences();
  }

  async #listedIds(resource: GeneratedResource, path = resource.path): Promise<string[]> {
    const ids: string[] = [];
    for (let target: string | undefined = path; target !== undefined; ) {
      const page: Page = await this.#page(resource, target);
      ids.push(...idsOf(page.rows));
      target = page.next;
    }
    return ids;
  }

  /** Nothing refers to what is not there, whatever was deleted. */
  #demandReferences(): void {
    for (const resource of this.#resources) {
      for (const { id, fields } of this.#rowsOf(resource)) {
        for (const { name, ref } of resource.fields) {
          const value = ref && fields[name];
          if (ref && value !== undefined)
            assert.ok(this.#rows.get(ref.target)?.has(String(value)), `${resource.name} ${id} refers to nothing`);
        }
      }
    }
  }

  /** What was refused has changed nothing. */
  async #unchanged(): Promise<void> {
    for (const resource of this.#resources) {
      const ids = await this.#listedIds(resource);
      assert.deepEqual(
        ids.toSorted(),
        this.#rowsOf(resource)
          .map(({ id }) => id)
          .toSorted(),
        'a refused request made or took a row',
      );
      const row = this.#anyRow(resource);
      if (row) await this.#check(resource, row.id);
    }
  }

  /** Reads a row, which has to be as it was last seen. */
  async #check(resource: GeneratedResource, id: string): Promise<Answered> {
    const answer = await this.#send('GET', targetOf(resource, id));
    const seen = this.#rows.get(resource.name)?.get(id) as Seen;
    assert.deepEqual([answer.status, answer.text, answer.headers.etag], [200, seen.text, seen.tag], 'a row is not as it was');
    return answer;
  }

  /** Takes down what an answer shows of a row, after reading it back. */
  async #observe(resource: GeneratedResource, id: string, answer: Answered): Promise<Seen> {
    const read = await this.#send('GET', targetOf(resource, id));
    assert.equal(read.status, 200, 'what was answered cannot be read back');
    const fields = this.#parse(read) as Fields;
    const secrets = resource.fields.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    for (const name of secrets) assert.ok(!Object.hasOwn(fields, name), 'a secret is told again');
    assert.equal(
      canonical(without(this.#parse(answer) as Fields, secrets)),
      canonical(fields),
      'what is read back is not what was answered',
    );
    assert.equal(read.headers.etag, answer.headers.etag, 'what is read back has another tag');
    assert.deepEqual(this.#shown.get(resource.name)?.(this.#parse(read)), [], 'an answer that does not fit its resource');
    const tag = read.headers.etag ?? '';
    const known = this.#tags.get(`${resource.name} ${id} ${tag}`);
    if (known !== undefined) assert.equal(read.text, known, 'one tag stands for two texts');
    this.#tags.set(`${resource.name} ${id} ${tag}`, read.text);
    if (resource.machine) assert.ok(resource.machine.states.includes(String(fields.status)), `no state: ${fields.status}`);
    const seen: Seen = { id, fields, text: read.text, tag };
    this.#rows.get(resource.name)?.set(id, seen);
    return seen;
  }

  /** What was sent and is shown came back as it was sent; what was left out is absent, its default, or kept. */
  #demandSent(resource: GeneratedResource, body: Fields, after: Fields, before: Fields | undefined): void {
    for (const field of resource.fields) {
      if (!field.isShown) {
        if (field.isSecret) assert.equal(Object.hasOwn(after, field.name), before === undefined, 'a secret is told once');
        else if (!field.isSent) this.#same(field.name, undefined, after[field.name]);
        continue;
      }
      const kept = field.isImmutable ? before?.[field.name] : undefined;
      this.#same(
        field.name,
        body[field.name] ?? (body[field.name] === null ? null : (field.default?.value ?? kept)),
        after[field.name],
      );
    }
    for (const { name, isShown, isSecret } of resource.fields)
      if (!isShown && !isSecret) assert.ok(!Object.hasOwn(after, name), `${name} is shown`);
  }

  #same(name: string, expected: Value, found: Value): void {
    assert.equal(canonical(found), canonical(expected), `${name} is not as it was sent`);
  }

  /** A body that fits; for a replacement, immutable fields as they are. */
  #body(resource: GeneratedResource, before: Fields | undefined): Record<string, Value> {
    const body: Record<string, Value> = Object.create(null);
    if (resource.identifier.isClient) body.id = before?.id ?? this.#newId();
    for (const field of resource.fields) {
      if (!field.isSent) continue;
      if (field.isImmutable && before) {
        if (before[field.name] !== undefined) body[field.name] = before[field.name];
        continue;
      }
      if (!field.required && this.#draw(fc.boolean)) continue;
      const value = this.#valueOf(field);
      if (value !== undefined) body[field.name] = value;
    }
    return body;
  }

  #valueOf({ kind, ref }: GeneratedField): Value {
    if (!ref) return kind.valid(this.#draw);
    const target = this.#resources.find(({ name }) => name === ref.target) as GeneratedResource;
    const row = this.#anyRow(target);
    return row?.fields.id;
  }

  #newId(): string {
    this.#made++;
    return `${pick(this.#draw, ['new ', 'a/b?', 'é#', "o'", '%41', '__proto__', '..', '\u{1F600}'])}${this.#made}`;
  }

  #condition({ ifMatch }: GeneratedResource, { tag }: Seen): Readonly<Record<string, string>> {
    if (ifMatch === 'required' || (ifMatch === 'accepted' && this.#draw(fc.boolean))) return { 'If-Match': tag };
    return {};
  }

  #brokenQuery({ filters, pages }: GeneratedResource): string {
    const names = [
      ...filters.map(({ parameter }) => parameter),
      `p_${pages.style}`,
      'p_size',
      'sort',
      'p_before',
      'id',
      '__proto__',
      'x',
    ];
    const values = [
      '',
      '0',
      '-1',
      '1e999',
      'NaN',
      '%00',
      '%zz',
      '%ff',
      '9'.repeat(40),
      'true',
      'null',
      '{}',
      '[1]',
      "'",
      'a,b',
      '%F0%9F%98%80',
    ];
    return Array.from(
      { length: 1 + this.#draw(fc.nat, { max: 2 }) },
      () => `${pick(this.#draw, names)}=${pick(this.#draw, values)}`,
    ).join('&');
  }

  #brokenHeaders(): Readonly<Record<string, string>> {
    const names = ['If-Match', 'If-None-Match', 'Idempotency-Key', 'Accept', 'X-Odd', 'Cookie', 'Range', 'Content-Type'];
    const values = [
      '*',
      '"',
      'W/"1-0"',
      '"1-0"',
      ',',
      'a'.repeat(300),
      'application/json',
      'text/plain',
      '\u00ff',
      'x;q=9',
      'bytes=0-0',
    ];
    return Object.fromEntries(
      names.filter(() => this.#draw(fc.nat, { max: 4 }) === 0).map((name) => [name, pick(this.#draw, values)]),
    );
  }

  #brokenBody(resource: GeneratedResource): Sent {
    const texts = [
      '{',
      '[]',
      'null',
      '1',
      '"x"',
      '{"a":1,"a":2}',
      '{"__proto__":{"x":1}}',
      '[[[[',
      '{"id":1e999}',
      '\ufeff{}',
      '{}',
    ];
    const sort = this.#draw(fc.nat, { max: 3 });
    if (sort === 0) return { body: pick(this.#draw, texts) };
    if (sort === 1) return { value: this.#draw(fc.jsonValue, { maxDepth: 3 }) };
    if (sort === 2) return { body: this.#draw(fc.uint8Array, { maxLength: 20 }) };
    const names = ['id', 'status', 'count', 'touched', 'nobody', '__proto__', ...resource.fields.map(({ name }) => name)];
    const value = { ...this.#body(resource, undefined), [pick(this.#draw, names)]: this.#draw(fc.jsonValue, { maxDepth: 2 }) };
    return { value };
  }

  #rowsOf({ name }: GeneratedResource): Seen[] {
    return [...(this.#rows.get(name) as Map<string, Seen>).values()];
  }

  #anyRow(resource: GeneratedResource): Seen | undefined {
    const rows = this.#rowsOf(resource);
    return rows.length === 0 ? undefined : pick(this.#draw, rows);
  }

  async #send(method: string, target: string, { headers = {}, value, body }: Sent = {}): Promise<Answered> {
    const sent = body ?? (value === undefined ? undefined : toJson(value));
    const answer = await this.#tried.send(method, target, { headers, ...(sent !== undefined && { body: sent }) });
    this.log.push(
      `${method} ${target} ${JSON.stringify(headers)} ${typeof sent === 'string' ? sent : Buffer.from(sent ?? '').toString('hex')}`,
    );
    this.log.push(`  ${answer.status} ${JSON.stringify(answer.headers)} ${answer.text}`);
    assert.ok(answer.status < 500, 'a failure of ours');
    assert.deepEqual(this.#tried.failures, [], 'something failed inside');
    if (answer.status >= 400 && method !== 'HEAD') {
      assert.equal(answer.headers['content-type'], 'application/problem+json');
      assert.equal((answer.json as { status: number }).status, answer.status, 'a problem tells another status');
    }
    return answer;
  }

  /** Integers past 2^53 come back exactly. */
  #parse({ text }: Answered): unknown {
    const parsed = parseJson(Buffer.from(text));
    assert.ok('value' in parsed, `an answer that is no JSON: ${text}`);
    return bare(parsed.value);
  }
}

/** A JSON value whose objects inherit nothing, so that a field named `constructor` is absent where it is not there. */
function bare(value: Value): Value {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, Value> = Object.create(null);
  for (const [name, entry] of Object.entries(value)) out[name] = bare(entry);
  return out;
}

/** Whether a row is made, or moved by `doubt`, and who asked is told of an error. */
function isDoubted({ machine }: GeneratedResource, fields: Fields): boolean {
  return machine?.doubt !== undefined && fields[doubtfulField] === true;
}

function without(fields: Fields, names: readonly string[]): Fields {
  const rest: Record<string, Value> = Object.assign(Object.create(null), fields);
  for (const name of names) delete rest[name];
  return rest;
}

function targetOf({ path }: GeneratedResource, id: string): string {
  return `${path}/${encodeURIComponent(id)}`;
}

function idsOf(rows: readonly Fields[]): string[] {
  return rows.map(({ id }) => String(id));
}

/** RFC 7396, written once more. */
function merge(target: Value, patch: Value): Value {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const merged = new Map(Object.entries(isObject ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name), value));
  }
  const out: Record<string, Value> = Object.create(null);
  for (const [name, value] of merged) out[name] = value;
  return out;
}

/** A text that is the same for the same JSON value: keys in order, 1 and 1n alike. */
function canonical(value: Value): string {
  if (value === undefined) return 'nothing';
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : toJson(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, entry]) => `${JSON.stringify(name)}:${canonical(entry)}`).join()}}`;
}
