import type { TestDatabase } from '../database/test-database.ts';

/** The personal data of a customer, as the gateway's events, the mails and the profile contain it. */
export type Person = {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly vpa: string;
  readonly name: string;
};

/** The fields of a payment entity with the customer's data, for UPI and card. */
export function personalFields({ email, phone, vpa, name }: Person) {
  return {
    email,
    contact: phone,
    vpa,
    description: `Plan for ${name}`,
    card: { entity: 'card', name, last4: '5558' },
    upi: { payer_account_type: 'bank_account', vpa },
    bank_account: { name, account_number: '916010082985661' },
    customer_details: { name, email, contact: phone },
    notes: { customer: name, email },
  };
}

/** The columns of our tables that contain a person's data: `schema.table.column`, sorted. */
export async function columnsNaming(
  database: Pick<TestDatabase, 'query'>,
  { id, email, phone, vpa, name }: Person,
): Promise<string[]> {
  const columns = await database.query(
    `select format('%I.%I', c.table_schema, c.table_name) as "table", quote_ident(c.column_name) as "column"
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema in ('public', 'private')
       and t.table_type = 'BASE TABLE'
     order by 1, c.ordinal_position`,
  );
  const found = [];
  for (const { table, column } of columns) {
    // The cast to text covers every type: jsonb, arrays and uuid are searched in the same way.
    const [row] = await database.query(
      `select from ${table} t where exists (select from unnest($1::text[]) w where strpos(lower(t.${column}::text), lower(w)) > 0) limit 1`,
      [[id, email, phone, vpa, name]],
    );
    if (row) found.push(`${table}.${column}`);
  }
  return found.sort();
}
