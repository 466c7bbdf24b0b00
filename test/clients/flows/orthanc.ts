import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { type Flow, once, type Place, pages, refused, type Steps, type Vendor } from '../kit.ts';

// biome-ignore lint/suspicious/noExplicitAny: the client has no types of what it answers
type Row = Readonly<Record<string, any>>;
type Log = { readonly Done: boolean; readonly Last: number };
type Change = {
  readonly Seq: number;
  readonly ChangeType: string;
  readonly ID: string;
  readonly ResourceType: string;
  readonly Path: string;
};

/** What resources of all levels have. */
interface Level {
  getAll(): Promise<string[]>;
  get(id: string): Promise<Row>;
  getModule(id: string, simplify?: boolean): Promise<Row>;
  getStatistics(id: string): Promise<Row>;
}
interface Above extends Level {
  getInstances(id: string): Promise<Row[]>;
  getSharedTags(id: string, simplify?: boolean): Promise<Row>;
  getArchive(id: string): Promise<Buffer>;
  getMedia(id: string): Promise<Buffer>;
}
/** The parts of the client that are used here: it has no types of its own. */
interface Orthanc {
  readonly instances: Level & {
    add(file: Buffer): Promise<Row>;
    getContent(id: string, group?: string, element?: string): Promise<unknown>;
    getFile(id: string): Promise<Buffer>;
    getAllFrames(id: string): Promise<number[]>;
    getFrame(id: string, frame: number, format?: string): Promise<Buffer>;
    getImage(id: string, format?: string): Promise<Buffer>;
    getTags(id: string, simplify?: boolean): Promise<Row>;
    getPatient(id: string): Promise<Row>;
    getStudy(id: string): Promise<Row>;
    getSeries(id: string): Promise<Row>;
  };
  readonly series: Above & { getPatient(id: string): Promise<Row>; getStudy(id: string): Promise<Row> };
  readonly studies: Above & {
    getPatient(id: string): Promise<Row>;
    getSeries(id: string): Promise<Row[]>;
    getModulePatient(id: string, simplify?: boolean): Promise<Row>;
  };
  readonly patients: Above & { getSeries(id: string): Promise<Row[]>; getStudies(id: string): Promise<Row[]> };
  readonly tools: { now(): Promise<string>; dicomConformance(): Promise<string>; generateUid(level: string): Promise<string> };
  readonly system: { system(): Promise<Row> };
  readonly changes: {
    getChanges(asked?: { since?: number; limit?: number }): Promise<Log & { readonly Changes: readonly Change[] }>;
    deleteChanges(): Promise<unknown>;
  };
  readonly exports: { getExports(): Promise<Log & { readonly Exports: readonly Row[] }>; deleteExports(): Promise<unknown> };
}
const Client = createRequire(import.meta.url)('orthanc-client') as new (options: object) => Orthanc;

/** The client throws an error that says no more than `404 Not Found`: its status is told too. */
const withStatus = async (answer: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (thrown) {
    const [, status] = /^(\d{3}) /.exec((thrown as Error).message) ?? [];
    throw status === undefined ? thrown : Object.assign(thrown as Error, { status: Number(status) });
  }
};
/** A user and a password, from the form in which they go into the header. */
const connect = (place: Place, token: string): Orthanc => {
  const [user = '', ...rest] = Buffer.from(token, 'base64').toString('latin1').split(':');
  const pass = rest.join(':');
  // The list of series is asked for with the names that nothing else in the client uses.
  const client = new Client({ url: place.base, auth: { user, pass, username: user, password: pass } });
  return new Proxy(client, {
    get: (all, group) => {
      const calls = Reflect.get(all, group);
      if (typeof calls !== 'object' || calls === null) return calls;
      return new Proxy(calls, {
        get: (held, name) => {
          const call = Reflect.get(held, name);
          return typeof call === 'function' ? (...asked: unknown[]) => withStatus(call(...asked)) : call;
        },
      });
    },
  });
};

interface Picture {
  readonly patient: string;
  readonly name?: string;
  readonly study: number;
  readonly series: number;
  readonly instance: number;
}
const root = '1.2.826.0.1.3680043.8.498';
const uids = ({ study, series, instance }: Picture): [string, string, string] => [
  `${root}.${study}`,
  `${root}.${study}.${series}`,
  `${root}.${study}.${series}.${instance}`,
];
/** A DICOM file with a picture of two by two points, in little endian with explicit types. */
const dicom = (picture: Picture): Buffer => {
  const [study, series, instance] = uids(picture);
  const element = (tag: string, type: string, value: string | number | Buffer): Buffer => {
    const raw = typeof value === 'number' ? Buffer.from([value & 255, value >> 8]) : Buffer.from(value as string);
    const bytes = raw.length % 2 === 0 ? raw : Buffer.concat([raw, Buffer.from(type === 'UI' ? '\0' : ' ')]);
    const head = Buffer.alloc(type === 'OB' ? 12 : 8);
    head.writeUInt16LE(Number.parseInt(tag.slice(0, 4), 16), 0);
    head.writeUInt16LE(Number.parseInt(tag.slice(4), 16), 2);
    head.write(type, 4, 'latin1');
    if (type === 'OB') head.writeUInt32LE(bytes.length, 8);
    else head.writeUInt16LE(bytes.length, 6);
    return Buffer.concat([head, bytes]);
  };
  const meta = Buffer.concat([
    element('00020001', 'OB', Buffer.from([0, 1])),
    element('00020002', 'UI', '1.2.840.10008.5.1.4.1.1.7'),
    element('00020003', 'UI', instance),
    element('00020010', 'UI', '1.2.840.10008.1.2.1'),
    element('00020012', 'UI', `${root}.1`),
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(meta.length);
  return Buffer.concat([
    Buffer.alloc(128),
    Buffer.from('DICM'),
    element('00020000', 'UL', size),
    meta,
    element('00080005', 'CS', 'ISO_IR 100'),
    element('00080016', 'UI', '1.2.840.10008.5.1.4.1.1.7'),
    element('00080018', 'UI', instance),
    element('00080020', 'DA', '20240411'),
    element('00080060', 'CS', 'OT'),
    element('00081030', 'LO', `Study ${picture.study}`),
    element('0008103e', 'LO', `Series ${picture.series}`),
    element('00100010', 'PN', picture.name ?? 'Doe^Jane'),
    element('00100020', 'LO', picture.patient),
    element('00100030', 'DA', '19700102'),
    element('00100040', 'CS', 'F'),
    element('0020000d', 'UI', study),
    element('0020000e', 'UI', series),
    element('00200010', 'SH', String(picture.study)),
    element('00200011', 'IS', String(picture.series)),
    element('00200013', 'IS', String(picture.instance)),
    element('00280002', 'US', 1),
    element('00280004', 'CS', 'MONOCHROME2'),
    element('00280010', 'US', 2),
    element('00280011', 'US', 2),
    element('00280100', 'US', 8),
    element('00280101', 'US', 8),
    element('00280102', 'US', 7),
    element('00280103', 'US', 0),
    element('7fe00010', 'OB', Buffer.from([0, 85, 170, 255])),
  ]);
};
/** An identifier of Orthanc: the hash of the identifiers in DICOM, from the patient's down. */
const identifier = (...names: readonly string[]): string =>
  (createHash('sha1').update(names.join('|')).digest('hex').match(/.{8}/g) ?? []).join('-');

const upload = async (o: Orthanc, picture: Picture): Promise<string> => (await o.instances.add(dicom(picture))).ID;
const nobody = '00000000-11111111-22222222-33333333-44444444';
const ids = (rows: readonly Row[]): string[] => rows.map(({ ID }) => ID);
const changes = (o: Orthanc, limit: number, since = 0): Promise<Change[]> =>
  pages(
    (from) => o.changes.getChanges({ since: from === undefined ? since : Number(from), limit }),
    ({ Changes }) => Changes,
    ({ Done, Last }) => (Done ? undefined : String(Last)),
    100,
  );
const png = (file: Buffer): void => assert.equal(file.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
const zip = (file: Buffer): void => assert.equal(file.subarray(0, 2).toString('latin1'), 'PK');

/** What steps of these flows find out for later ones. */
type Held = Record<'id' | 'patient' | 'study' | 'series' | 'one' | 'two' | 'three' | 'last' | 'size' | 'second', string>;
type Told = (o: Orthanc, s: Held, another: (token: string) => Orthanc, place: Place) => Steps;
const held = (flows: Readonly<Record<string, Told>>): Record<string, Flow<Orthanc>> => flows as Record<string, Flow<Orthanc>>;

/** Uploads a picture, and holds the identifiers of what is above it. */
const filed = async (o: Orthanc, s: Held, picture: Picture): Promise<void> => {
  const made = await o.instances.add(dicom(picture));
  [s.id, s.series, s.study, s.patient] = [made.ID, made.ParentSeries, made.ParentStudy, made.ParentPatient];
};

/** Guide: book.orthanc-server.com, "REST API of Orthanc", its cheat sheet, "Orthanc identifiers", "Securing Orthanc"; the client's documentation. */
export const vendor: Vendor<Orthanc> = {
  document: 'orthanc/orthanc-server.com.json',
  header: 'Authorization',
  word: 'Basic',
  made: Buffer.from('alice:alicePassword').toString('base64'),
  client: connect,
  strict: ['a password that is refused'],
  flows: held({
    'an instance is sent': (o, s) => ({
      send: async () => {
        const made = await o.instances.add(dicom({ patient: 'P-100', study: 100, series: 1, instance: 1 }));
        assert.deepEqual([made.Status, made.Path], ['Success', `/instances/${made.ID}`]);
        for (const id of [made.ParentSeries, made.ParentStudy, made.ParentPatient]) assert.equal(typeof id, 'string');
        [s.id, s.series] = [made.ID, made.ParentSeries];
      },
      read: async () => {
        const read = await o.instances.get(s.id);
        assert.deepEqual([read.ID, read.Type, read.ParentSeries], [s.id, 'Instance', s.series]);
      },
      'its main tags': async () => {
        const { MainDicomTags: tags } = await o.instances.get(s.id);
        assert.deepEqual([tags.SOPInstanceUID, tags.InstanceNumber], [`${root}.100.1.1`, '1']);
      },
      'it is listed': async () => once(await o.instances.getAll(), [s.id], 'instances'),
      'send it again': async () => {
        const made = await o.instances.add(dicom({ patient: 'P-100', study: 100, series: 1, instance: 1 }));
        assert.deepEqual([made.ID, made.Status], [s.id, 'AlreadyStored']);
      },
      'it is listed once still': async () => once(await o.instances.getAll(), [s.id], 'instances'),
    }),
    'from an instance upwards': (o, s) => ({
      send: () => filed(o, s, { patient: 'P-110', study: 110, series: 1, instance: 1 }),
      'its series': async () => {
        const read = await o.instances.getSeries(s.id);
        assert.deepEqual([read.ID, read.Type, read.ParentStudy, read.Instances], [s.series, 'Series', s.study, [s.id]]);
      },
      'its study': async () => {
        const read = await o.instances.getStudy(s.id);
        assert.deepEqual([read.ID, read.Type, read.ParentPatient, read.Series], [s.study, 'Study', s.patient, [s.series]]);
      },
      'its patient': async () => {
        const read = await o.instances.getPatient(s.id);
        assert.deepEqual([read.ID, read.Type, read.Studies], [s.patient, 'Patient', [s.study]]);
      },
      'from the series': async () => {
        assert.equal((await o.series.getStudy(s.series)).ID, s.study);
        assert.equal((await o.series.getPatient(s.series)).ID, s.patient);
      },
      'from the study': async () => assert.equal((await o.studies.getPatient(s.study)).ID, s.patient),
    }),
    'from a patient downwards': (o, s) => ({
      'send three of two series': async () => {
        await filed(o, s, { patient: 'P-120', study: 120, series: 1, instance: 1 });
        s.one = s.series;
        await upload(o, { patient: 'P-120', study: 120, series: 1, instance: 2 });
        s.two = (await o.instances.add(dicom({ patient: 'P-120', study: 120, series: 2, instance: 1 }))).ParentSeries;
        assert.notEqual(s.one, s.two);
      },
      studies: async () => assert.deepEqual(ids(await o.patients.getStudies(s.patient)), [s.study]),
      'series of the patient': async () =>
        assert.deepEqual(ids(await o.patients.getSeries(s.patient)).toSorted(), [s.one, s.two].toSorted()),
      'series of the study': async () => {
        const rows = await o.studies.getSeries(s.study);
        assert.deepEqual(ids(rows).toSorted(), [s.one, s.two].toSorted());
        assert.ok(rows.every(({ ParentStudy }) => ParentStudy === s.study));
      },
      'instances of a series': async () => {
        const rows = await o.series.getInstances(s.one);
        assert.deepEqual([rows.length, rows.every(({ ParentSeries }) => ParentSeries === s.one)], [2, true]);
        assert.equal((await o.series.getInstances(s.two)).length, 1);
      },
      'instances of all': async () => {
        assert.equal((await o.studies.getInstances(s.study)).length, 3);
        once(ids(await o.patients.getInstances(s.patient)), [s.id], 'instances');
      },
      'how many there are': async () => {
        const of = await o.patients.getStatistics(s.patient);
        assert.deepEqual([Number(of.CountStudies), Number(of.CountSeries), Number(of.CountInstances)], [1, 2, 3]);
        assert.equal(Number((await o.studies.getStatistics(s.study)).CountSeries), 2);
      },
    }),
    'lists of all levels': (o, s) => ({
      'two patients': async () => {
        await filed(o, s, { patient: 'P-130', study: 130, series: 1, instance: 1 });
        [s.one, s.two, s.three] = [s.patient, s.study, s.series];
        await filed(o, s, { patient: 'P-131', study: 131, series: 1, instance: 1 });
        assert.notEqual(s.patient, s.one);
      },
      patients: async () => once(await o.patients.getAll(), [s.one, s.patient], 'patients'),
      studies: async () => once(await o.studies.getAll(), [s.two, s.study], 'studies'),
      series: async () => {
        // This list alone the client gives back as it came.
        const rows: unknown = await o.series.getAll();
        once(typeof rows === 'string' ? JSON.parse(rows) : rows, [s.three, s.series], 'series');
      },
      'a second study of a patient is no second patient': async () => {
        const made = await o.instances.add(dicom({ patient: 'P-130', study: 132, series: 1, instance: 1 }));
        assert.equal(made.ParentPatient, s.one);
        once(await o.patients.getAll(), [s.one], 'patients');
        assert.deepEqual((await o.patients.get(s.one)).Studies.toSorted(), [s.two, made.ParentStudy].toSorted());
      },
      'each by itself': async () => {
        assert.equal((await o.patients.get(s.patient)).ID, s.patient);
        assert.equal((await o.studies.get(s.study)).ID, s.study);
        assert.equal((await o.series.get(s.series)).ID, s.series);
      },
    }),
    'identifiers are those of the contents': (o, s) => ({
      send: () => filed(o, s, { patient: 'P-140', study: 140, series: 2, instance: 3 }),
      "the patient's": async () => assert.equal(s.patient, identifier('P-140')),
      "the study's": async () => assert.equal(s.study, identifier('P-140', `${root}.140`)),
      "the series'": async () => assert.equal(s.series, identifier('P-140', `${root}.140`, `${root}.140.2`)),
      "the instance's": async () => assert.equal(s.id, identifier('P-140', `${root}.140`, `${root}.140.2`, `${root}.140.2.3`)),
      'so it is found without a search': async () =>
        assert.equal((await o.patients.get(identifier('P-140'))).MainDicomTags.PatientID, 'P-140'),
    }),
    'who the patient is': (o, s) => ({
      send: () => filed(o, s, { patient: 'P-150', name: 'Roe^Richard', study: 150, series: 1, instance: 1 }),
      'main tags of the patient': async () => {
        const { MainDicomTags: tags } = await o.patients.get(s.patient);
        assert.deepEqual(
          [tags.PatientID, tags.PatientName, tags.PatientBirthDate, tags.PatientSex],
          ['P-150', 'Roe^Richard', '19700102', 'F'],
        );
      },
      'main tags of the study': async () => {
        const { MainDicomTags: tags, PatientMainDicomTags: patient } = await o.studies.get(s.study);
        assert.deepEqual(
          [tags.StudyInstanceUID, tags.StudyDate, tags.StudyDescription, tags.StudyID],
          [`${root}.150`, '20240411', 'Study 150', '150'],
        );
        assert.deepEqual([patient.PatientID, patient.PatientName], ['P-150', 'Roe^Richard']);
      },
      'main tags of the series': async () => {
        const { MainDicomTags: tags } = await o.series.get(s.series);
        assert.deepEqual(
          [tags.SeriesInstanceUID, tags.Modality, tags.SeriesNumber, tags.SeriesDescription],
          [`${root}.150.1`, 'OT', '1', 'Series 1'],
        );
      },
      'the module of the patient': async () => {
        const tags = await o.patients.getModule(s.patient, true);
        assert.deepEqual([tags.PatientID, tags.PatientName, tags.StudyInstanceUID], ['P-150', 'Roe^Richard', undefined]);
      },
      'the same, from the study': async () => {
        const tags = await o.studies.getModulePatient(s.study, true);
        assert.deepEqual([tags.PatientID, tags.PatientName], ['P-150', 'Roe^Richard']);
      },
      'and the other way round': async () => {
        const tags = await o.studies.getModule(s.study, true);
        assert.deepEqual([tags.StudyInstanceUID, tags.StudyDescription, tags.PatientID], [`${root}.150`, 'Study 150', undefined]);
      },
    }),
    'tags of an instance': (o, s) => ({
      send: () => filed(o, s, { patient: 'P-160', name: 'Poe^Paula', study: 160, series: 1, instance: 7 }),
      'by their names': async () => {
        const tags = await o.instances.getTags(s.id, true);
        assert.deepEqual(
          [tags.PatientName, tags.PatientID, tags.InstanceNumber, tags.SOPInstanceUID, tags.Rows],
          ['Poe^Paula', 'P-160', '7', `${root}.160.1.7`, '2'],
        );
      },
      'with their numbers': async () => {
        const tags = await o.instances.getTags(s.id);
        assert.deepEqual(tags['0010,0010'], { Name: 'PatientName', Type: 'String', Value: 'Poe^Paula' });
      },
      'all of it as a list': async () => {
        const tags = (await o.instances.getContent(s.id)) as unknown;
        const list = (typeof tags === 'string' ? JSON.parse(tags) : tags) as string[];
        assert.ok(list.includes('0010-0010') && list.includes('7fe0-0010'));
      },
      'one of them, as it is': async () =>
        assert.equal(String(await o.instances.getContent(s.id, '0010', '0010')).trim(), 'Poe^Paula'),
      'the module of the instance': async () => {
        const tags = await o.instances.getModule(s.id, true);
        assert.deepEqual([tags.SOPInstanceUID, tags.InstanceNumber, tags.PatientID], [`${root}.160.1.7`, '7', undefined]);
      },
    }),
    'tags that are shared': (o, s) => ({
      'send two of a series': async () => {
        await filed(o, s, { patient: 'P-170', name: 'Moe^Mary', study: 170, series: 1, instance: 1 });
        await upload(o, { patient: 'P-170', name: 'Moe^Mary', study: 170, series: 1, instance: 2 });
      },
      'of the series': async () => {
        const tags = await o.series.getSharedTags(s.series, true);
        assert.deepEqual([tags.PatientName, tags.SeriesInstanceUID, tags.Modality], ['Moe^Mary', `${root}.170.1`, 'OT']);
        assert.deepEqual([tags.InstanceNumber, tags.SOPInstanceUID], [undefined, undefined]);
      },
      'one more series': async () => {
        await upload(o, { patient: 'P-170', name: 'Moe^Mary', study: 170, series: 2, instance: 1 });
        const tags = await o.studies.getSharedTags(s.study, true);
        assert.deepEqual([tags.StudyInstanceUID, tags.SeriesInstanceUID], [`${root}.170`, undefined]);
      },
      'one more study': async () => {
        await upload(o, { patient: 'P-170', name: 'Moe^Mary', study: 171, series: 1, instance: 1 });
        const tags = await o.patients.getSharedTags(s.patient, true);
        assert.deepEqual([tags.PatientID, tags.StudyInstanceUID], ['P-170', undefined]);
      },
      'with their numbers': async () => assert.equal((await o.patients.getSharedTags(s.patient))['0010,0020'].Value, 'P-170'),
      'the module of the series': async () => {
        const tags = await o.series.getModule(s.series, true);
        assert.deepEqual([tags.SeriesInstanceUID, tags.Modality, tags.PatientID], [`${root}.170.1`, 'OT', undefined]);
      },
    }),
    'files and pictures': (o, s) => ({
      send: () => filed(o, s, { patient: 'P-180', study: 180, series: 1, instance: 1 }),
      'the file, as it was sent': async () => {
        const file = await o.instances.getFile(s.id);
        assert.ok(file.equals(dicom({ patient: 'P-180', study: 180, series: 1, instance: 1 })), `${file.length} bytes, others`);
      },
      'its size': async () => {
        const { length } = dicom({ patient: 'P-180', study: 180, series: 1, instance: 1 });
        const { DicomDiskSize, UncompressedSize } = await o.instances.getStatistics(s.id);
        assert.deepEqual([typeof DicomDiskSize, Number(DicomDiskSize)], ['string', length]);
        assert.ok(Number(UncompressedSize) >= length);
        assert.equal((await o.instances.get(s.id)).FileSize, length);
      },
      'its frames': async () => assert.deepEqual(await o.instances.getAllFrames(s.id), [0]),
      'a picture of it': async () => png(await o.instances.getImage(s.id)),
      'a picture of its frame': async () => png(await o.instances.getFrame(s.id, 0, 'image-uint8')),
      'a frame that it has not': () => refused(o.instances.getFrame(s.id, 5, 'preview'), 400, 404),
    }),
    archives: (o, s) => ({
      'send two': async () => {
        await filed(o, s, { patient: 'P-190', study: 190, series: 1, instance: 1 });
        await upload(o, { patient: 'P-190', study: 190, series: 2, instance: 1 });
      },
      'of the patient': async () => {
        const file = await o.patients.getArchive(s.patient);
        zip(file);
        s.size = String(file.length);
      },
      'of the study': async () => zip(await o.studies.getArchive(s.study)),
      'of one series, which is smaller': async () => {
        const file = await o.series.getArchive(s.series);
        zip(file);
        assert.ok(file.length < Number(s.size), `${file.length} bytes, of ${s.size}`);
      },
      'for a disc, with its directory': async () => {
        const file = await o.studies.getMedia(s.study);
        zip(file);
        assert.ok(file.includes('DICOMDIR'));
      },
      'of none': async () => {
        await refused(o.studies.getArchive(nobody), 404);
        await refused(o.patients.getMedia(nobody), 404);
      },
    }),
    'the log of changes': (o, s) => ({
      'where it ends now': async () => {
        const all = await changes(o, 100);
        s.last = String(Math.max(0, ...all.map(({ Seq }) => Seq)));
      },
      'send two': async () => {
        s.one = await upload(o, { patient: 'P-200', study: 200, series: 1, instance: 1 });
        s.two = await upload(o, { patient: 'P-200', study: 200, series: 1, instance: 2 });
      },
      'both are new instances since then': async () => {
        const since = await changes(o, 100, Number(s.last));
        const made = since.filter(({ ChangeType }) => ChangeType === 'NewInstance');
        assert.deepEqual(
          made.map(({ ID, ResourceType, Path }) => [ID, ResourceType, Path]),
          [s.one, s.two].map((id) => [id, 'Instance', `/instances/${id}`]),
        );
      },
      'one patient, one study, one series': async () => {
        const since = await changes(o, 100, Number(s.last));
        for (const type of ['NewPatient', 'NewStudy', 'NewSeries']) {
          assert.equal(since.filter(({ ChangeType }) => ChangeType === type).length, 1, type);
        }
      },
      'two on a page': async () => {
        const page = await o.changes.getChanges({ since: Number(s.last), limit: 2 });
        assert.deepEqual([page.Changes.length, page.Done, page.Last], [2, false, page.Changes[1]?.Seq]);
      },
      'all pages, in their order': async () => {
        const since = await changes(o, 2, Number(s.last));
        const numbers = since.map(({ Seq }) => Seq);
        assert.deepEqual(
          numbers,
          [...new Set(numbers)].toSorted((a, b) => a - b),
        );
        once(
          since.filter(({ ChangeType }) => ChangeType === 'NewInstance').map(({ ID }) => ID),
          [s.one, s.two],
          'changes',
        );
      },
    }),
    'the log of changes is cleared': (o, s) => ({
      send: async () => {
        s.one = await upload(o, { patient: 'P-210', study: 210, series: 1, instance: 1 });
        assert.ok((await changes(o, 100)).some(({ ID }) => ID === s.one));
      },
      clear: () => o.changes.deleteChanges(),
      'it is empty': async () => {
        const { Changes, Done } = await o.changes.getChanges();
        assert.deepEqual([Changes, Done], [[], true]);
      },
      'the instance is there still': async () => assert.equal((await o.instances.get(s.one)).ID, s.one),
      'only what comes then is in it': async () => {
        s.two = await upload(o, { patient: 'P-210', study: 210, series: 1, instance: 2 });
        const made = (await changes(o, 100)).filter(({ ChangeType }) => ChangeType === 'NewInstance');
        assert.deepEqual(
          made.map(({ ID }) => ID),
          [s.two],
        );
      },
      'the log of exports, likewise': async () => {
        await o.exports.deleteExports();
        const { Exports, Done } = await o.exports.getExports();
        assert.deepEqual([Exports, Done], [[], true]);
      },
    }),
    'the server itself': (o, s) => ({
      'what it is': async () => {
        const system = await o.system.system();
        assert.deepEqual(
          [typeof system.Version, typeof system.Name, typeof system.DicomAet, typeof system.ApiVersion, typeof system.DicomPort],
          ['string', 'string', 'string', 'number', 'number'],
        );
      },
      'what time it is there': async () => assert.match(await o.tools.now(), /^\d{8}T\d{6}$/),
      'what it conforms to': async () => assert.match(await o.tools.dicomConformance(), /DICOM/i),
      'a new identifier': async () => {
        s.one = await o.tools.generateUid('study');
        assert.match(s.one, /^[0-9]+(\.[0-9]+)+$/);
        assert.ok(s.one.length <= 64);
      },
      'another each time': async () => {
        s.two = await o.tools.generateUid('study');
        assert.notEqual(s.two, s.one);
      },
      'for the other levels': async () => {
        for (const level of ['series', 'instance']) assert.match(await o.tools.generateUid(level), /^[0-9]+(\.[0-9]+)+$/);
        assert.ok((await o.tools.generateUid('patient')).length > 0);
      },
    }),
    'what is wrong': (o, s) => ({
      'what was there': async () => {
        s.last = String((await o.instances.getAll()).length);
      },
      'a file that is not DICOM': () => refused(o.instances.add(Buffer.from('this is no picture')), 400),
      'a picture of another kind': () => refused(o.instances.add(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')), 400),
      'neither was kept': async () => assert.equal(String((await o.instances.getAll()).length), s.last),
      'none of any level': async () => {
        await refused(o.instances.get(nobody), 404);
        await refused(o.series.get(nobody), 404);
        await refused(o.studies.get(nobody), 404);
        await refused(o.patients.get(nobody), 404);
      },
      'what none has': async () => {
        await refused(o.instances.getTags(nobody), 404);
        await refused(o.instances.getFile(nobody), 404);
        await refused(o.studies.getStatistics(nobody), 404);
      },
      'an identifier of another level': async () => {
        await filed(o, s, { patient: 'P-220', study: 220, series: 1, instance: 1 });
        await refused(o.studies.get(s.patient), 404);
      },
    }),
    'a password that is refused': (o, s, another) => ({
      'the right one': async () => assert.ok(Array.isArray(await o.patients.getAll())),
      'a wrong one': () => refused(another(Buffer.from('alice:guessed').toString('base64')).patients.getAll(), 401),
      'an unknown user': () => refused(another(Buffer.from('nobody:nothing').toString('base64')).system.system(), 401),
      'nothing can be sent with it': () =>
        refused(
          upload(another(Buffer.from('alice:guessed').toString('base64')), {
            patient: 'P-230',
            study: 230,
            series: 1,
            instance: 1,
          }),
          401,
        ),
      'nothing was': async () => assert.ok(!(await o.patients.getAll()).includes(identifier('P-230'))),
      'nor can the log be cleared': async () => {
        s.one = await upload(o, { patient: 'P-231', study: 231, series: 1, instance: 1 });
        await refused(another(Buffer.from('alice:guessed').toString('base64')).changes.deleteChanges(), 401);
        assert.ok((await changes(o, 100)).some(({ ID }) => ID === s.one));
      },
    }),
  }),
};
