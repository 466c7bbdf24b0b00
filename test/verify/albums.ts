/** A service whose rows belong to who made them, in a field that nobody is shown, and whose rows below them belong to whoever owns those. */
export const albums = `
title: Albums
purpose:
  purpose: Keeps photographs in albums.
  base_url: https://albums.example/v1
  users: { member: Keeps albums., steward: Looks at all of them. }
  functions: { keep: [create album, read album, list album, update album, delete album, close album, reopen album], fill: [create photo, read photo, list photo, update photo] }
resources:
  album:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40 }
      mood: { enum: [calm, loud], default: calm }
      tags: { type: array, items: { type: string, minLength: 1, maxLength: 10 }, maxItems: 3 }
      pages: { type: integer, minimum: 1, maximum: 90 }
      owner: { type: string, readOnly: true, visible: none, set: { create: caller.id } }
      state: { type: string, readOnly: true }
    required: [id, title, mood, owner, state]
    unique: [[owner, title]]
  photo:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      album: { ref: album, onDelete: restrict }
      cover: { ref: album }
      caption: { type: string, minLength: 1, maxLength: 30 }
    required: [id, album, caption]
states:
  album: { field: state, initial: open, states: [open, closed], transitions: { close: { from: open, to: closed, if: "has(resource.pages)" }, reopen: closed -> open } }
  photo: none
endpoints:
  POST /albums: { does: create album }
  GET /albums: { does: list album, parameters: { mood: { in: query } } }
  GET /albums/{id}: { does: read album }
  PATCH /albums/{id}: { does: update album }
  DELETE /albums/{id}: { does: delete album }
  POST /albums/{id}/close: { does: close album }
  POST /albums/{id}/reopen: { does: reopen album }
  POST /albums/{album}/photos: { does: create photo }
  GET /albums/{album}/photos: { does: list photo }
  GET /photos/{id}: { does: read photo }
  PATCH /photos/{id}: { does: update photo }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  public: []
  origins: none
  permissions:
    - { allow: [create album], to: member }
    - { allow: [read album], to: member, if: "resource.owner == caller.id" }
    - { allow: [list album], to: member, if: "resource.owner == caller.id" }
    - { allow: [update album], to: member, if: "resource.owner == caller.id" }
    - { allow: [delete album], to: member, if: "resource.owner == caller.id" }
    - { allow: [close album, reopen album], to: member, if: "resource.owner == caller.id" }
    - { allow: [create photo], to: member, if: "next.album.owner == caller.id" }
    - { allow: [read photo], to: member, if: "resource.album.owner == caller.id" }
    - { allow: [list photo], to: member, if: "resource.album.owner == caller.id" }
    - { allow: [update photo], to: member, if: "resource.album.owner == caller.id" }
    - { allow: [read album, read photo], to: steward }
events: none
errors:
  payload: problem
  codes:
    malformed: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    media: { status: 415, when: request.media }
    unacceptable: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    unknown: { status: 401, when: caller.unknown }
    forbidden: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    method: { status: 405, when: method.unsupported }
    nothing: { status: 422, when: reference.missing }
    taken: { status: 409, when: resource.exists }
    held: { status: 409, when: reference.held }
    wrong_state: { status: 409, when: transition.illegal }
    conflict: { status: 409, when: write.conflict }
    too_large: { status: 413, when: limit.size }
    timed_out: { status: 408, when: limit.time }
    unavailable: { status: 503, when: service.unavailable }
    broken: { status: 500, when: internal }
limits:
  rate: none
  size: { body: 8KiB, url: 2KiB }
  timeout: { request: 5s, idle: 20s }
  pagination: { style: page, page: page, size: size, default: 10, max: 50, over_max: refuse, items: items, total: total }
  quota: none
versioning: none
`;
