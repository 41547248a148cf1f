import { Ajv } from 'ajv';

/** A schema of an object that has these properties, all but the optional ones, and no others. */
const object = (properties: Record<string, unknown>, optional: readonly string[] = []) => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
/** The portal refuses an empty list. */
const list = (items: unknown) => ({ type: 'array', items, minItems: 1 });
const one = (item: unknown) => ({ ...list(item), maxItems: 1 });
const text = (pattern: string) => ({ type: 'string', pattern });
const whole = { type: 'integer', minimum: 1 };

/** Rupees with two decimals. */
const amount = { type: 'number', multipleOf: 0.01 };
const positive = { ...amount, exclusiveMinimum: 0 };
const zero = { const: 0 };
const rate = { type: 'number', minimum: 0, maximum: 40, multipleOf: 0.01 };
const date = text('^(0[1-9]|[12][0-9]|3[01])-(0[1-9]|1[0-2])-20[0-9]{2}$');
const number = text('^[A-Za-z0-9/-]{1,16}$');
const gstin = text('^(0[1-9]|[1-3][0-9])[A-Z]{5}[0-9]{4}[A-Z][0-9A-Z]{3}$');
/** 96 is abroad, 97 the sea. */
const place = text('^(0[1-9]|[1-3][0-9]|9[67])$');

const inter = { txval: amount, rt: rate, iamt: amount, csamt: zero };
const intra = { txval: amount, rt: rate, camt: amount, samt: amount, csamt: zero };
const interItem = object({ num: { const: 1 }, itm_det: object(inter) });
const item = { oneOf: [interItem, object({ num: { const: 1 }, itm_det: object(intra) })] };

const invoice = { inum: number, idt: date, val: positive };
const note = { ntty: { const: 'C' }, nt_num: number, nt_dt: date, val: positive };
const registered = { pos: place, rchrg: { const: 'N' }, inv_typ: { const: 'R' }, itms: one(item) };
const export_ = (type: string, taxed: unknown) =>
  object({ exp_typ: { const: type }, inv: list(object({ ...invoice, itms: one(taxed) })) });
const smallRow = (type: string, amounts: Record<string, unknown>) =>
  object({ sply_ty: { const: type }, typ: { const: 'OE' }, pos: place, ...amounts });
const code = object({
  ...{ num: whole, hsn_sc: text('^[0-9]{4}([0-9]{2}){0,2}$'), uqc: { const: 'NA' }, qty: zero },
  ...{ txval: amount, rt: rate, iamt: amount, camt: amount, samt: amount, csamt: zero },
});
const run = { num: whole, from: number, to: number, totnum: whole, cancel: zero, net_issue: whole };

/** The upload of the GST portal, of what this service sells: services, without cess, SEZ and reverse charge. */
const gstr1 = object({
  ...{ gstin, fp: text('^(0[1-9]|1[0-2])20[0-9]{2}$'), version: text('^GST[0-9.]+$'), hash: { const: 'hash' } },
  b2b: list(object({ ctin: gstin, inv: list(object({ ...invoice, ...registered })) })),
  // Strictly above one lakh, of another state.
  b2cl: list(object({
    pos: place,
    inv: list(object({ ...invoice, val: { ...amount, exclusiveMinimum: 100_000 }, itms: one(interItem) })),
  })),
  b2cs: list({ oneOf: [smallRow('INTER', inter), smallRow('INTRA', intra)] }),
  // Without itm_det, and a service has no shipping bill.
  exp: list({ oneOf: [export_('WPAY', object(inter)), export_('WOPAY', object({ ...inter, rt: zero, iamt: zero }))] }),
  cdnr: list(object({ ctin: gstin, nt: list(object({ ...note, ...registered })) })),
  // A note of an export has no place.
  cdnur: list({
    oneOf: [
      object({ typ: { const: 'B2CL' }, ...note, pos: place, itms: one(interItem) }),
      object({ typ: { enum: ['EXPWP', 'EXPWOP'] }, ...note, itms: one(interItem) }),
    ],
  }),
  hsn: { ...object({ hsn_b2b: list(code), hsn_b2c: list(code) }, ['hsn_b2b', 'hsn_b2c']), minProperties: 1 },
  doc_issue: object({ doc_det: list(object({ doc_num: { enum: [1, 5] }, docs: list(object(run)) })) }),
}, ['b2b', 'b2cl', 'b2cs', 'exp', 'cdnr', 'cdnur', 'hsn', 'doc_issue']);

// A sum of paise as a number of rupees is not a multiple of 0.01 in binary.
const validate = new Ajv({ allErrors: true, multipleOfPrecision: 6 }).compile(gstr1);

/** What the GST portal would refuse in a return, as far as its rules are public. Empty: nothing. */
export function gstr1Problems(made: unknown): string[] {
  validate(made);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}
