/** Entity tags: of what this caller would read, in this version. */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Row } from './database.ts';
import { type House, Refused } from './house.ts';

export function tagOf(told: Row, { faults }: House): string {
  // The time of the last change is the same within a second.
  const told2 = faults.has('tag-of-the-second') ? String(told.changed_at).slice(0, 16) : JSON.stringify(told);
  const tag = createHash('sha256').update(told2).digest('base64url').slice(0, 22);
  return faults.has('tag-is-weak') ? `W/"${tag}"` : `"${tag}"`;
}

/** Answers with a tag, or with 304 where the client has it already. */
export function tagged(house: House, request: FastifyRequest, reply: FastifyReply, told: Row): Row | FastifyReply {
  const tag = tagOf(told, house);
  reply.header('ETag', tag);
  const known = request.headers['if-none-match'];
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead || known === undefined || house.faults.has('if-none-match-ignored')) return told;
  return known.trim() === '*' || tags(known).some((one) => bare(one) === bare(tag)) ? reply.code(304).send() : told;
}

/** Holds a change to what its client has read: strongly, so a weak tag never fits (RFC 9110 section 13.1.1). */
export function holdToTag(house: House, request: FastifyRequest, told: Row, isRequired: boolean): void {
  const wanted = request.headers['if-match'];
  if (wanted === undefined) {
    if (isRequired && !house.faults.has('if-match-not-needed')) throw new Refused('IF_MATCH_NEEDED');
    return;
  }
  if (wanted.trim() === '*' || house.faults.has('if-match-ignored')) return;
  if (!tags(wanted).includes(tagOf(told, house))) throw new Refused('CHANGED_MEANWHILE');
}

function tags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

function bare(tag: string): string {
  return tag.replace(/^W\//, '');
}
