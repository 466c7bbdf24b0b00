import assert from 'node:assert/strict';
import { PayrollAuApi } from 'xero-node';
import {
  CalendarType,
  DeductionTypeCalculationType,
  EarningsRateCalculationType,
  EarningsType,
  Employee,
  EmployeeStatus,
  EmploymentBasis,
  type LeaveApplication,
  type PayItem,
  type PayRun,
  PayRunStatus,
  type PayrollCalendar,
  RateType,
  State as Region,
  type SuperFund,
  SuperFundType,
  type Timesheet,
  TimesheetStatus,
} from 'xero-node/dist/gen/model/payroll-au/models.js';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Client = PayrollAuApi;
const connect = (place: Place, token: string): Client => {
  const api = new PayrollAuApi(place.base);
  api.accessToken = token;
  return api;
};

/** The organisation's id comes from Xero's connections. */
const tenant = '45e4708e-d862-4111-ab3a-dd8cd03913e1';
const nowhere = '00000000-dead-4000-8000-00000000beef';

/** The body of an answer. What the client throws is the text of an object that holds the answer: it is made an error with its status. */
const ok = async <B>(call: Promise<{ body: B }>): Promise<B> => {
  try {
    return (await call).body;
  } catch (thrown) {
    if (typeof thrown !== 'string') throw thrown;
    const { response } = JSON.parse(thrown) as { response: { statusCode: number; body: unknown } };
    throw Object.assign(new Error(JSON.stringify(response.body)), { status: response.statusCode });
  }
};

/** Dates go as the guide's examples have them; the client gives one that comes so as a `Date`, and another as the text it is. */
const ms = (day: string): string => `/Date(${Date.parse(day)}+0000)/`;
const day = (date: unknown): string => new Date(given(date, 'date') as string).toISOString().slice(0, 10);

const person = (firstName: string, lastName: string, more: Partial<Employee> = {}): Employee => ({
  firstName,
  lastName,
  dateOfBirth: ms('1990-02-05'),
  homeAddress: { addressLine1: '101 Green St', city: 'Island Bay', region: Region.NSW, postalCode: '6023', country: 'AUSTRALIA' },
  ...more,
});
const hire = async (x: Client, ...people: Employee[]): Promise<string[]> => {
  const { employees } = await ok(x.createEmployee(tenant, people));
  assert.equal(employees?.length, people.length);
  return given(employees, 'employees').map(({ employeeID }) => given(employeeID, 'EmployeeID'));
};
const employee = async (x: Client, id: string): Promise<Employee> => {
  const { employees } = await ok(x.getEmployee(tenant, id));
  assert.equal(employees?.length, 1);
  return given(employees?.[0], 'employee');
};
const change = async (x: Client, id: string, more: Partial<Employee>): Promise<Employee> =>
  given((await ok(x.updateEmployee(tenant, id, [more as Employee]))).employees?.[0], 'employee');
const all = (x: Client, where?: string, order?: string, since?: Date): Promise<Employee[]> =>
  numbered(async (page) => (await ok(x.getEmployees(tenant, since, where, order, page))).employees ?? []);
const ids = (rows: readonly Employee[]): string[] => rows.map(({ employeeID }) => given(employeeID, 'EmployeeID'));

const hours = { name: 'Site hours', accountCode: '477', typeOfUnits: 'Hours', isExemptFromTax: false, isExemptFromSuper: false };
const rate = { ...hours, earningsType: EarningsType.ORDINARYTIMEEARNINGS, rateType: RateType.RATEPERUNIT, ratePerUnit: '38.00' };
const leave = { name: 'Study leave', typeOfUnits: 'Hours', isPaidLeave: true, showOnPayslip: true, normalEntitlement: 38 };
const items = async (x: Client): Promise<PayItem> => given((await ok(x.getPayItems(tenant))).payItems, 'pay items');
/** An earnings rate and a type of leave: the state has their ids. They are added to what there is. */
const stock = async (x: Client, s: State): Promise<void> => {
  const { earningsRates = [], leaveTypes = [] } = await items(x);
  await ok(x.createPayItem(tenant, { earningsRates: [...earningsRates, rate], leaveTypes: [...leaveTypes, leave] } as PayItem));
  const now = await items(x);
  s.rate = given(now.earningsRates?.find(({ name }) => name === rate.name)?.earningsRateID, 'EarningsRateID');
  s.leave = given(now.leaveTypes?.find(({ name }) => name === leave.name)?.leaveTypeID, 'LeaveTypeID');
};

const calendar = async (x: Client, name: string, more: Partial<PayrollCalendar> = {}): Promise<string> => {
  const weekly = { name, calendarType: CalendarType.WEEKLY, startDate: ms('2027-01-04'), paymentDate: ms('2027-01-15'), ...more };
  const { payrollCalendars } = await ok(x.createPayrollCalendar(tenant, [weekly]));
  return given(payrollCalendars?.[0]?.payrollCalendarID, 'PayrollCalendarID');
};
const draft = async (x: Client, payrollCalendarID: string): Promise<string> => {
  const run: PayRun = {
    payrollCalendarID,
    payRunPeriodStartDate: ms('2027-01-04'),
    payRunPeriodEndDate: ms('2027-01-10'),
    payRunStatus: PayRunStatus.DRAFT,
    paymentDate: ms('2027-01-15'),
  };
  return given((await ok(x.createPayRun(tenant, [run]))).payRuns?.[0]?.payRunID, 'PayRunID');
};
const payRun = async (x: Client, id: string): Promise<PayRun> =>
  given((await ok(x.getPayRun(tenant, id))).payRuns?.[0], 'pay run');
const runs = (x: Client, where?: string): Promise<PayRun[]> =>
  numbered(async (page) => (await ok(x.getPayRuns(tenant, undefined, where, undefined, page))).payRuns ?? []);

const units = [2, 10, 0, 0, 5, 0, 5];
const sheetOf = (s: State, employeeID: string, more: Partial<Timesheet> = {}): Timesheet => ({
  employeeID,
  startDate: ms('2027-01-04'),
  endDate: ms('2027-01-10'),
  status: TimesheetStatus.DRAFT,
  timesheetLines: [{ earningsRateID: s.rate, numberOfUnits: units }],
  ...more,
});
const sheet = async (x: Client, what: Timesheet): Promise<string> =>
  given((await ok(x.createTimesheet(tenant, [what]))).timesheets?.[0]?.timesheetID, 'TimesheetID');
const timesheet = async (x: Client, id: string): Promise<Timesheet> =>
  given((await ok(x.getTimesheet(tenant, id))).timesheet, 'timesheet');
const sheets = async (x: Client, where?: string): Promise<string[]> => {
  const ask = async (page: number): Promise<Timesheet[]> =>
    (await ok(x.getTimesheets(tenant, undefined, where, undefined, page))).timesheets ?? [];
  return (await numbered(ask)).map(({ timesheetID }) => given(timesheetID, 'TimesheetID'));
};
/** An employee who is paid weekly at an hourly rate; the state has what was made. */
const worker = async (x: Client, s: State, lastName: string): Promise<void> => {
  await stock(x, s);
  s.calendar = await calendar(x, `Weekly of ${lastName}`);
  const line = { earningsRateID: s.rate, calculationType: EarningsRateCalculationType.USEEARNINGSRATE, normalNumberOfUnits: 38 };
  const paid = { payrollCalendarID: s.calendar, ordinaryEarningsRateID: s.rate, payTemplate: { earningsLines: [line] } };
  s.id = given((await hire(x, person('Rubeus', lastName, { startDate: ms('2020-02-03'), ...paid })))[0], 'id');
};

const smsf = (name: string): SuperFund => ({
  type: SuperFundType.SMSF,
  name,
  aBN: '53004085616',
  bSB: '324324',
  accountNumber: '234234234',
  accountName: 'My Checking',
  employerNumber: '9876543',
  electronicServiceAddress: 'FG48739',
});
const fund = async (x: Client, what: SuperFund): Promise<string> =>
  given((await ok(x.createSuperfund(tenant, [what]))).superFunds?.[0]?.superFundID, 'SuperFundID');
const superFund = async (x: Client, id: string): Promise<SuperFund> =>
  given((await ok(x.getSuperfund(tenant, id))).superFunds?.[0], 'fund');
const funds = async (x: Client, where?: string): Promise<string[]> => {
  const ask = async (page: number): Promise<SuperFund[]> =>
    (await ok(x.getSuperfunds(tenant, undefined, where, undefined, page))).superFunds ?? [];
  return (await numbered(ask)).map(({ superFundID }) => given(superFundID, 'SuperFundID'));
};
const applications = async (x: Client, where?: string): Promise<string[]> => {
  const ask = async (page: number): Promise<LeaveApplication[]> =>
    (await ok(x.getLeaveApplications(tenant, undefined, where, undefined, page))).leaveApplications ?? [];
  return (await numbered(ask)).map(({ leaveApplicationID }) => given(leaveApplicationID, 'LeaveApplicationID'));
};
const application = async (x: Client, id: string): Promise<LeaveApplication> =>
  given((await ok(x.getLeaveApplication(tenant, id))).leaveApplications?.[0], 'application');
/** An employee and two days of leave; the state has both ids. */
const away = async (x: Client, s: State, lastName: string, title: string): Promise<void> => {
  await worker(x, s, lastName);
  const two = { employeeID: s.id, leaveTypeID: s.leave, title, startDate: ms('2027-01-05'), endDate: ms('2027-01-06') };
  const { leaveApplications } = await ok(x.createLeaveApplication(tenant, [two]));
  s.application = given(leaveApplications?.[0]?.leaveApplicationID, 'LeaveApplicationID');
};

/** Guide: developer.xero.com/documentation/api/payrollau, and xero-node's own. Nothing here is ever deleted. */
export const vendor: Vendor<Client> = {
  document: 'xero-payroll-au/xero-payroll-au.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJSUzI1NiJ9.made-up',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'an employee, from the first to the last day': (x, s) => ({
      hired: async () => {
        const albus = person('Albus', 'Dumbledore', {
          middleNames: 'Percival',
          startDate: ms('2020-02-03'),
          email: 'albus39608@hogwarts.edu',
          gender: Employee.GenderEnum.M,
          phone: '444-2323',
          isAuthorisedToApproveLeave: true,
          jobTitle: 'Regional Manager',
        });
        s.id = given((await hire(x, albus))[0], 'id');
      },
      read: async () => {
        const found = await employee(x, s.id);
        assert.partialDeepStrictEqual(
          { ...found },
          {
            employeeID: s.id,
            firstName: 'Albus',
            middleNames: 'Percival',
            lastName: 'Dumbledore',
            email: 'albus39608@hogwarts.edu',
          },
        );
        assert.deepEqual([found.gender, found.phone, found.jobTitle], ['M', '444-2323', 'Regional Manager']);
        assert.deepEqual([day(found.dateOfBirth), day(found.startDate)], ['1990-02-05', '2020-02-03']);
        assert.equal(found.isAuthorisedToApproveLeave, true);
      },
      'where he lives': async () =>
        assert.partialDeepStrictEqual(
          { ...(await employee(x, s.id)).homeAddress },
          { addressLine1: '101 Green St', city: 'Island Bay', region: Region.NSW, postalCode: '6023', country: 'AUSTRALIA' },
        ),
      'is in the list, as one who works': async () => {
        const rows = await all(x);
        once(ids(rows), [s.id], 'employees');
        assert.equal(rows.find(({ employeeID }) => employeeID === s.id)?.status, EmployeeStatus.ACTIVE);
      },
      'a name is changed': async () => {
        const now = await change(x, s.id, { middleNames: 'Frank' });
        assert.deepEqual([now.employeeID, now.middleNames], [s.id, 'Frank']);
      },
      'the rest stays': async () => {
        const { firstName, middleNames, lastName, email, jobTitle } = await employee(x, s.id);
        assert.deepEqual([firstName, middleNames, lastName], ['Albus', 'Frank', 'Dumbledore']);
        assert.deepEqual([email, jobTitle], ['albus39608@hogwarts.edu', 'Regional Manager']);
      },
      'let go': async () => {
        await change(x, s.id, { status: EmployeeStatus.TERMINATED, terminationDate: ms('2026-06-30') });
        const { status, terminationDate } = await employee(x, s.id);
        assert.deepEqual([status, day(terminationDate)], [EmployeeStatus.TERMINATED, '2026-06-30']);
      },
      'no longer among those who work': async () => assert.ok(!ids(await all(x, 'Status=="ACTIVE"')).includes(s.id), 'he is'),
      'but among those who do not': async () => once(ids(await all(x, 'Status=="TERMINATED"')), [s.id], 'employees'),
    }),

    'more than a hundred employees': (x, s) => ({
      'hired together': async () => {
        const people = Array.from({ length: 105 }, (_, n) => person(`First${n}`, `Bulk${String(n).padStart(3, '0')}`));
        s.made = (await hire(x, ...people)).join();
      },
      'no more than a hundred on a page': async () => {
        const { employees } = await ok(x.getEmployees(tenant, undefined, undefined, undefined, 1));
        assert.equal(employees?.length, 100);
      },
      'the second goes on after the first': async () => {
        const first = ids(given((await ok(x.getEmployees(tenant, undefined, undefined, undefined, 1))).employees, 'employees'));
        const second = ids(given((await ok(x.getEmployees(tenant, undefined, undefined, undefined, 2))).employees, 'employees'));
        assert.ok(second.length >= 5, `${second.length} on the second`);
        assert.deepEqual(
          first.filter((id) => second.includes(id)),
          [],
        );
      },
      'all of them, each once': async () => {
        const rows = ids(await all(x));
        once(rows, s.made.split(','), 'employees');
        assert.equal(new Set(rows).size, rows.length);
      },
    }),

    'looked for and put in order': (x, s) => ({
      'three sisters, and one more': async () => {
        const names = ['Bellatrix', 'Narcissa', 'Andromeda'].map((first) => person(first, 'Blackwell', { jobTitle: 'Cook' }));
        s.made = (await hire(x, ...names, person('Sirius', 'Whitewell'))).join();
      },
      'by their last name': async () => {
        const rows = await all(x, 'LastName=="Blackwell"');
        assert.deepEqual(rows.map(({ firstName }) => firstName).toSorted(), ['Andromeda', 'Bellatrix', 'Narcissa']);
        for (const { lastName } of rows) assert.equal(lastName, 'Blackwell');
      },
      'by both names': async () => {
        const rows = await all(x, 'LastName=="Blackwell" AND FirstName=="Narcissa"');
        assert.deepEqual(
          rows.map(({ firstName, lastName }) => [firstName, lastName]),
          [['Narcissa', 'Blackwell']],
        );
      },
      'in the order of their first names': async () => {
        const rows = await all(x, 'LastName=="Blackwell"', 'FirstName ASC');
        assert.deepEqual(
          rows.map(({ firstName }) => firstName),
          ['Andromeda', 'Bellatrix', 'Narcissa'],
        );
      },
      'and backwards': async () => {
        const rows = await all(x, 'LastName=="Blackwell"', 'FirstName DESC');
        assert.deepEqual(
          rows.map(({ firstName }) => firstName),
          ['Narcissa', 'Bellatrix', 'Andromeda'],
        );
      },
      'nobody has that name': async () => assert.deepEqual(await all(x, 'LastName=="Nobodywell"'), []),
      'not by what an employee has not': () => refused(ok(x.getEmployees(tenant, undefined, 'hi=="there"')), 400),
    }),

    'what has changed since': (x, s) => ({
      'one, and later another': async () => {
        s.old = given((await hire(x, person('Molly', 'Earlier')))[0], 'id');
        s.since = given((await employee(x, s.old)).updatedDateUTC, 'UpdatedDateUTC').toISOString();
        await new Promise((done) => setTimeout(done, 2500));
        s.young = given((await hire(x, person('Ginny', 'Later')))[0], 'id');
      },
      'only the later one is new': async () => {
        const rows = ids(await all(x, undefined, undefined, new Date(Date.parse(s.since) + 1200)));
        once(rows, [s.young], 'employees');
        assert.ok(!rows.includes(s.old), 'the earlier one is there too');
      },
      'until the earlier one is changed': async () => {
        await change(x, s.old, { jobTitle: 'Head Cook' });
        once(ids(await all(x, undefined, undefined, new Date(Date.parse(s.since) + 1200))), [s.old, s.young], 'employees');
      },
      'both have changed since long ago': async () =>
        once(ids(await all(x, undefined, undefined, new Date('2020-02-06T12:17:43Z'))), [s.old, s.young], 'employees'),
    }),

    'taxes, banks and a fund of an employee': (x, s) => ({
      'a fund': async () => {
        s.fund = await fund(x, smsf('Fund of Hagrid'));
      },
      'an employee with all of it': async () => {
        const bank = { statementText: 'Salary', accountName: 'Savings', bSB: '122344', accountNumber: '345678', remainder: true };
        const taxDeclaration = {
          employmentBasis: EmploymentBasis.FULLTIME,
          taxFileNumber: '123123123',
          taxFreeThresholdClaimed: true,
          hasHELPDebt: false,
        };
        const superMemberships = [{ superFundID: s.fund, employeeNumber: '1234' }];
        const more = { bankAccounts: [bank], taxDeclaration, superMemberships } as Partial<Employee>;
        s.id = given((await hire(x, person('Rubeus', 'Groundskeeper', more)))[0], 'id');
      },
      'the bank': async () => {
        const { bankAccounts } = await employee(x, s.id);
        assert.equal(bankAccounts?.length, 1);
        assert.partialDeepStrictEqual(
          { ...bankAccounts?.[0] },
          { accountName: 'Savings', bSB: '122344', accountNumber: '345678' },
        );
      },
      'the taxes': async () => {
        const { taxDeclaration } = await employee(x, s.id);
        assert.deepEqual([taxDeclaration?.employmentBasis, taxDeclaration?.taxFreeThresholdClaimed], ['FULLTIME', true]);
      },
      'the fund, of which he is a member now': async () => {
        const { superMemberships } = await employee(x, s.id);
        assert.deepEqual([superMemberships?.[0]?.superFundID, superMemberships?.[0]?.employeeNumber], [s.fund, '1234']);
      },
    }),

    'a calendar of pay': (x, s) => ({
      made: async () => {
        s.id = await calendar(x, 'Fortnightly Calendar', { calendarType: CalendarType.FORTNIGHTLY });
      },
      read: async () => {
        const { payrollCalendars } = await ok(x.getPayrollCalendar(tenant, s.id));
        assert.equal(payrollCalendars?.length, 1);
        const found = given(payrollCalendars?.[0], 'calendar');
        assert.deepEqual(
          [found.payrollCalendarID, found.name, found.calendarType],
          [s.id, 'Fortnightly Calendar', 'FORTNIGHTLY'],
        );
        assert.deepEqual([day(found.startDate), day(found.paymentDate)], ['2027-01-04', '2027-01-15']);
      },
      'is in the list': async () => {
        const rows = (await ok(x.getPayrollCalendars(tenant))).payrollCalendars ?? [];
        once(
          rows.map(({ payrollCalendarID }) => String(payrollCalendarID)),
          [s.id],
          'calendars',
        );
      },
      'by its name': async () => {
        await calendar(x, 'Another Calendar');
        const rows = (await ok(x.getPayrollCalendars(tenant, undefined, 'Name=="Fortnightly Calendar"'))).payrollCalendars;
        assert.deepEqual(
          rows?.map(({ payrollCalendarID }) => payrollCalendarID),
          [s.id],
        );
      },
      'an employee is paid by it': async () => {
        s.employee = given((await hire(x, person('Filius', 'Fortnight', { payrollCalendarID: s.id })))[0], 'id');
        assert.equal((await employee(x, s.employee)).payrollCalendarID, s.id);
      },
    }),

    'items of pay': (x, s) => ({
      'four of them': async () => {
        const now = await items(x);
        const reimbursement = { name: 'Taxi rides', accountCode: '493' };
        const deduction = { name: 'Union fee', accountCode: '850', reducesTax: false, reducesSuper: false };
        await ok(
          x.createPayItem(tenant, {
            earningsRates: [...(now.earningsRates ?? []), { ...rate, name: 'Night hours' }],
            leaveTypes: [...(now.leaveTypes ?? []), { ...leave, name: 'Night leave' }],
            deductionTypes: [...(now.deductionTypes ?? []), deduction],
            reimbursementTypes: [...(now.reimbursementTypes ?? []), reimbursement],
          } as PayItem),
        );
      },
      'each is in its list, once': async () => {
        const now = await items(x);
        const names = (rows: readonly { readonly name?: string }[] | undefined): string[] =>
          (rows ?? []).map(({ name }) => String(name));
        once(names(now.earningsRates), ['Night hours'], 'rates');
        once(names(now.leaveTypes), ['Night leave'], 'leaves');
        once(names(now.deductionTypes), ['Union fee'], 'deductions');
        once(names(now.reimbursementTypes), ['Taxi rides'], 'reimbursements');
      },
      'the rate': async () => {
        const found = given(
          (await items(x)).earningsRates?.find(({ name }) => name === 'Night hours'),
          'rate',
        );
        s.rate = given(found.earningsRateID, 'EarningsRateID');
        assert.deepEqual([found.earningsType, found.rateType], ['ORDINARYTIMEEARNINGS', 'RATEPERUNIT']);
        assert.deepEqual([found.accountCode, found.typeOfUnits, Number(found.ratePerUnit)], ['477', 'Hours', 38]);
      },
      'the leave': async () => {
        const found = given(
          (await items(x)).leaveTypes?.find(({ name }) => name === 'Night leave'),
          'leave',
        );
        given(found.leaveTypeID, 'LeaveTypeID');
        assert.deepEqual([found.typeOfUnits, found.isPaidLeave, found.showOnPayslip], ['Hours', true, true]);
        assert.equal(found.normalEntitlement, 38);
      },
      'the rate is raised': async () => {
        const now = await items(x);
        const earningsRates = (now.earningsRates ?? []).map((one) =>
          one.earningsRateID === s.rate ? { ...one, ratePerUnit: '42.00' } : one,
        );
        await ok(x.createPayItem(tenant, { ...now, earningsRates } as PayItem));
        const found = (await items(x)).earningsRates?.filter(({ name }) => name === 'Night hours');
        assert.deepEqual(
          found?.map(({ earningsRateID, ratePerUnit }) => [earningsRateID, Number(ratePerUnit)]),
          [[s.rate, 42]],
        );
      },
    }),

    'a fund that manages itself': (x, s) => ({
      made: async () => {
        s.id = await fund(x, smsf('Clive Monk Superannuation Fund'));
        s.other = await fund(x, smsf('Another Superannuation Fund'));
      },
      read: async () => {
        const found = { ...(await superFund(x, s.id)) };
        assert.partialDeepStrictEqual(found, { superFundID: s.id, ...smsf('Clive Monk Superannuation Fund') });
      },
      'is in the list': async () => once(await funds(x), [s.id, s.other], 'funds'),
      'by its name': async () => assert.deepEqual(await funds(x, 'Name=="Clive Monk Superannuation Fund"'), [s.id]),
      'called something else': async () => {
        await ok(x.updateSuperfund(tenant, s.id, [{ ...smsf('Nice23534'), superFundID: s.id }]));
        const { name, aBN, accountName } = await superFund(x, s.id);
        assert.deepEqual([name, aBN, accountName], ['Nice23534', '53004085616', 'My Checking']);
      },
      'no longer by its old name': async () => assert.deepEqual(await funds(x, 'Name=="Clive Monk Superannuation Fund"'), []),
    }),

    'a regulated fund, and products': (x, s) => ({
      'made by its USI': async () => {
        s.id = await fund(x, {
          type: SuperFundType.REGULATED,
          uSI: 'PTC0133AU',
          accountNumber: 'FB36350',
          accountName: 'Foo38428',
        });
      },
      read: async () => {
        const found = await superFund(x, s.id);
        assert.deepEqual([found.superFundID, found.type, found.uSI], [s.id, SuperFundType.REGULATED, 'PTC0133AU']);
      },
      'products of that USI only': async () => {
        const { superFundProducts } = await ok(x.getSuperfundProducts(tenant, undefined, 'PTC0133AU'));
        for (const { uSI } of given(superFundProducts, 'SuperFundProducts')) assert.equal(uSI, 'PTC0133AU');
      },
      'or of an ABN': async () => {
        const { superFundProducts } = await ok(x.getSuperfundProducts(tenant, '24248426878'));
        for (const { aBN } of given(superFundProducts, 'SuperFundProducts')) assert.equal(aBN, '24248426878');
      },
    }),

    'days off': (x, s) => ({
      'applied for': () => away(x, s, 'Leaver', 'Hello World'),
      read: async () => {
        const found = await application(x, s.application);
        assert.deepEqual([found.leaveApplicationID, found.employeeID, found.leaveTypeID], [s.application, s.id, s.leave]);
        assert.deepEqual([found.title, day(found.startDate), day(found.endDate)], ['Hello World', '2027-01-05', '2027-01-06']);
      },
      'is in the list': async () => once(await applications(x), [s.application], 'applications'),
      'described, for a day more': async () => {
        const more = { startDate: ms('2027-01-05'), endDate: ms('2027-01-07'), description: 'My updated Description' };
        const what = { employeeID: s.id, leaveTypeID: s.leave, ...more };
        const { leaveApplications } = await ok(x.updateLeaveApplication(tenant, s.application, [what]));
        assert.equal(leaveApplications?.[0]?.leaveApplicationID, s.application);
      },
      'so it is': async () => {
        const found = await application(x, s.application);
        assert.deepEqual([found.title, found.description], ['Hello World', 'My updated Description']);
        assert.equal(day(found.endDate), '2027-01-07');
      },
      'by its title': async () => assert.deepEqual(await applications(x, 'Title=="Hello World"'), [s.application]),
    }),

    'a sheet of hours': (x, s) => ({
      'an employee and a week': async () => {
        await worker(x, s, 'Hourly');
        s.sheet = await sheet(x, sheetOf(s, s.id));
      },
      read: async () => {
        const found = await timesheet(x, s.sheet);
        assert.deepEqual([found.timesheetID, found.employeeID, found.status], [s.sheet, s.id, TimesheetStatus.DRAFT]);
        assert.deepEqual([day(found.startDate), day(found.endDate)], ['2027-01-04', '2027-01-10']);
        const lines = found.timesheetLines?.map(({ earningsRateID, numberOfUnits }) => [earningsRateID, numberOfUnits]);
        assert.deepEqual(lines, [[s.rate, units]]);
      },
      'added up': async () => assert.equal((await timesheet(x, s.sheet)).hours, 22),
      'is in the list': async () => once(await sheets(x), [s.sheet], 'sheets'),
      approved: async () => {
        const what = sheetOf(s, s.id, { timesheetID: s.sheet, status: TimesheetStatus.APPROVED });
        const { timesheets } = await ok(x.updateTimesheet(tenant, s.sheet, [what]));
        assert.deepEqual([timesheets?.[0]?.timesheetID, timesheets?.[0]?.status], [s.sheet, TimesheetStatus.APPROVED]);
        assert.equal((await timesheet(x, s.sheet)).status, TimesheetStatus.APPROVED);
      },
      'among those approved': async () => once(await sheets(x, 'Status=="APPROVED"'), [s.sheet], 'sheets'),
      'and not among the drafts': async () => assert.ok(!(await sheets(x, 'Status=="DRAFT"')).includes(s.sheet), 'it is'),
    }),

    'a run of pay': (x, s) => ({
      'a calendar and its first run': async () => {
        s.calendar = await calendar(x, 'Weekly of runs');
        s.id = await draft(x, s.calendar);
      },
      read: async () => {
        const found = await payRun(x, s.id);
        assert.deepEqual([found.payRunID, found.payrollCalendarID, found.payRunStatus], [s.id, s.calendar, PayRunStatus.DRAFT]);
        const days = [found.payRunPeriodStartDate, found.payRunPeriodEndDate, found.paymentDate].map(day);
        assert.deepEqual(days, ['2027-01-04', '2027-01-10', '2027-01-15']);
      },
      'is in the list, among the drafts': async () => {
        once(
          (await runs(x)).map(({ payRunID }) => String(payRunID)),
          [s.id],
          'runs',
        );
        once(
          (await runs(x, 'PayRunStatus=="DRAFT"')).map(({ payRunID }) => String(payRunID)),
          [s.id],
          'drafts',
        );
      },
      posted: async () => {
        const { payRuns } = await ok(x.updatePayRun(tenant, s.id, [{ payRunStatus: PayRunStatus.POSTED } as PayRun]));
        assert.deepEqual([payRuns?.[0]?.payRunID, payRuns?.[0]?.payRunStatus], [s.id, PayRunStatus.POSTED]);
      },
      'it stays so': async () => {
        const found = await payRun(x, s.id);
        assert.deepEqual([found.payRunStatus, found.payrollCalendarID], [PayRunStatus.POSTED, s.calendar]);
      },
      'no draft any more': async () => {
        const drafts = (await runs(x, 'PayRunStatus=="DRAFT"')).map(({ payRunID }) => payRunID);
        assert.ok(!drafts.includes(s.id), 'it is');
      },
    }),

    'the slip of an employee': (x, s) => ({
      'who is paid weekly, in a run': async () => {
        await worker(x, s, 'Slip');
        s.run = await draft(x, s.calendar);
      },
      'the run has one for him': async () => {
        const slips = given((await payRun(x, s.run)).payslips, 'Payslips').filter(({ employeeID }) => employeeID === s.id);
        assert.deepEqual(
          slips.map(({ firstName, lastName }) => [firstName, lastName]),
          [['Rubeus', 'Slip']],
        );
        s.slip = given(slips[0]?.payslipID, 'PayslipID');
      },
      'read, with the lines of his template': async () => {
        const { payslip } = await ok(x.getPayslip(tenant, s.slip));
        assert.deepEqual([payslip?.payslipID, payslip?.employeeID, payslip?.lastName], [s.slip, s.id, 'Slip']);
        assert.ok(
          payslip?.earningsLines?.some(({ earningsRateID }) => earningsRateID === s.rate),
          'no line of his rate',
        );
      },
      'a type of deduction, and a line of it': async () => {
        const { deductionTypes = [] } = await items(x);
        const type = { name: 'Slip fee', accountCode: '850', reducesTax: false, reducesSuper: false };
        await ok(x.createPayItem(tenant, { deductionTypes: [...deductionTypes, type] } as PayItem));
        s.type = given(
          (await items(x)).deductionTypes?.find(({ name }) => name === type.name)?.deductionTypeID,
          'DeductionTypeID',
        );
        const line = { deductionTypeID: s.type, calculationType: DeductionTypeCalculationType.FIXEDAMOUNT, amount: 4 };
        await ok(x.updatePayslip(tenant, s.slip, [{ deductionLines: [line] }]));
      },
      'is on the slip': async () => {
        const { payslip } = await ok(x.getPayslip(tenant, s.slip));
        const lines = payslip?.deductionLines?.filter(({ deductionTypeID }) => deductionTypeID === s.type);
        assert.deepEqual(
          lines?.map(({ amount, calculationType }) => [amount, calculationType]),
          [[4, 'FIXEDAMOUNT']],
        );
      },
    }),

    'what is set': (x) => ({
      'how long a year is': async () => {
        const settings = given((await ok(x.getSettings(tenant))).settings, 'Settings');
        assert.ok([364, 365, 366].includes(Number(settings.daysInPayrollYear)), String(settings.daysInPayrollYear));
      },
      'which accounts there are': async () => {
        const settings = given((await ok(x.getSettings(tenant))).settings, 'Settings');
        for (const { accountID, code, name } of given(settings.accounts, 'Accounts'))
          assert.deepEqual([typeof accountID, typeof code, typeof name], ['string', 'string', 'string']);
      },
      'it is the same when asked again': async () =>
        assert.deepEqual(await ok(x.getSettings(tenant)), await ok(x.getSettings(tenant))),
    }),

    'a token that is refused': (x, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await ok(x.getEmployees(tenant))).employees)),
      'a wrong one is not, for a list': () => refused(ok(another('wrong').getEmployees(tenant)), 401),
      'nor for a write': () => refused(ok(another('wrong').createEmployee(tenant, [person('Tom', 'Stolen')])), 401),
      'nothing was written': async () => assert.deepEqual(await all(x, 'LastName=="Stolen"'), []),
      'nor for settings': () => refused(ok(another('wrong').getSettings(tenant)), 401),
    }),

    'what is not there, and what is not right': (x) => ({
      'no such employee': () => refused(ok(x.getEmployee(tenant, nowhere)), 404),
      'no such sheet, nor run, nor fund': async () => {
        await refused(ok(x.getTimesheet(tenant, nowhere)), 404);
        await refused(ok(x.getPayRun(tenant, nowhere)), 404);
        await refused(ok(x.getSuperfund(tenant, nowhere)), 404);
      },
      'no such calendar': () => refused(ok(x.getPayrollCalendar(tenant, nowhere)), 400, 404),
      'an employee has a last name': () =>
        refused(ok(x.createEmployee(tenant, [{ firstName: 'Tom', dateOfBirth: ms('1990-02-05') } as Employee])), 400),
      'and a gender that there is': () =>
        refused(ok(x.createEmployee(tenant, [person('Tom', 'Riddle', { gender: 'X' as unknown as Employee.GenderEnum })])), 400),
      'a sheet has an end': () =>
        refused(ok(x.createTimesheet(tenant, [{ employeeID: nowhere, startDate: ms('2027-01-04') } as Timesheet])), 400),
      'a run has a calendar': () => refused(ok(x.createPayRun(tenant, [{ payRunStatus: PayRunStatus.DRAFT } as PayRun])), 400),
      'a fund has a type': () => refused(ok(x.createSuperfund(tenant, [{ name: 'Typeless' } as SuperFund])), 400),
    }),
  },
};
