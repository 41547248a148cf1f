import type pg from 'pg';
import { type Months, readRows } from './database.ts';

export type Amounts = { txval: number; rt: number; iamt?: number; camt?: number; samt?: number };
export type Code = Amounts & { hsn_sc: string };
type Run = { from: string; to: string; totnum: number; cancel: number };
/** The parts of the return that are sums, not documents. */
export type Gstr1Sums = {
  b2cs: Amounts & { pos: string };
  hsn: { hsn_b2b?: Code[]; hsn_b2c?: Code[] };
  doc_issue: { doc_det: { doc_num: 1 | 5; docs: Run[] }[] };
};
type Others = 'gstin' | 'fp' | 'version' | 'hash' | 'b2b' | 'b2cl' | 'exp' | 'cdnr' | 'cdnur';
/** A part of the return: one element of a list, or a value that is none. */
export type Gstr1Part =
  & { readonly is_list: boolean }
  & (
    | { [Key in keyof Gstr1Sums]: { readonly key: Key; readonly value: Gstr1Sums[Key] } }[keyof Gstr1Sums]
    | { readonly key: Others; readonly value: unknown }
  );

/** The return of the months, in parts and in its order. */
export function readGstr1(client: pg.Client, { month, count }: Months): AsyncGenerator<Gstr1Part> {
  return readRows<Gstr1Part>(
    client,
    `select json_build_object('key', k.key, 'is_list', k.is_list, 'value', e.value)
     from (
       select k.*, json_typeof(k.value) = 'array' as is_list
       from json_each(billing.gstr1('${month}', ${count})) with ordinality k (key, value, place)
     ) k
     cross join lateral json_array_elements(
       case when k.is_list then k.value else json_build_array(k.value) end
     ) with ordinality e (value, place)
     order by k.place, e.place`,
  );
}
