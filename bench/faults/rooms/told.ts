/** How rows look to a caller, in the version that it speaks; and what older versions mean in the newest. */
import type { Row } from './database.ts';
import type { House, User, Version } from './house.ts';

export function tellRoom(row: Row, user: User, version: Version, { faults }: House): Row {
  const { remark, seats, ...rest } = row;
  const shown = { ...rest, ...(remark !== undefined && (user === 'host' || faults.has('remark-shown-to-all')) && { remark }) };
  if (version === 'v3') return { ...shown, seats };
  return {
    ...shown,
    ...(faults.has('seats-not-renamed') ? { seats } : { places: seats }),
    rate: faults.has('rate-in-new-unit') ? row.rate : Number(row.rate) / 100,
    kind: row.kind === 'lecture' ? 'theatre' : row.kind,
  };
}

export function tellBooking(row: Row, version: Version, { faults }: House): Row {
  const { pin, ...rest } = row;
  const told: Row = {
    ...rest,
    ...(faults.has('pin-shown') && pin !== undefined && { pin }),
    ...(faults.has('price-null-until-confirmed') && row.price === undefined && { price: null }),
    ...(faults.has('people-as-text') && { people: String(row.people) }),
  };
  if (version === 'v3') return told;
  const { colour, ...older } = told;
  const status = row.status === 'requested' && !faults.has('requested-in-old-version') ? 'pending' : row.status;
  return { ...older, ...(faults.has('colour-in-old-version') && { colour }), status };
}

export function tellKey(row: Row, isNew: boolean, { faults }: House): Row {
  const { code, ...rest } = row;
  return isNew || faults.has('code-told-again') ? { ...rest, code } : rest;
}

/** What was sent in an older version, as the newest has it. */
export function raised(sent: Row, version: Version, { faults }: House): Row {
  if (version === 'v3') return sent;
  const { places, ...rest } = sent;
  return {
    ...rest,
    ...(places !== undefined && !('seats' in rest) && { seats: places }),
    ...(typeof sent.rate === 'number' && {
      rate: faults.has('rate-cut-not-rounded') ? Math.trunc(sent.rate * 100) : Math.round(sent.rate * 100),
    }),
    ...(sent.kind === 'theatre' && { kind: 'lecture' }),
  };
}
