import type pg from 'pg';

/** A function of schema public as its callers see it. */
export type Rpc = {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly type: string; readonly isOptional: boolean }[];
  readonly returns: string;
  /** The API's roles that may call it. */
  readonly callers: readonly string[];
};

/** Reads the functions of schema public. */
export async function readRpcs(client: Pick<pg.Client, 'query'>): Promise<Rpc[]> {
  const { rows } = await client.query<Rpc>(`
    select
      p.proname as name,
      pg_get_function_result(p.oid) as returns,
      coalesce(
        (
          select json_agg(
            json_build_object(
              'name', p.proargnames[a.position],
              'type', format_type(a.type, null),
              'isOptional', a.position > p.pronargs - p.pronargdefaults
            )
            order by a.position
          )
          from unnest(p.proargtypes) with ordinality a (type, position)
        ),
        '[]'
      ) as parameters,
      array(
        select role
        from unnest(array['anon', 'authenticated', 'service_role']) role
        where has_function_privilege(role, p.oid, 'execute')
      ) as callers
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
    order by p.proname, p.oid`);
  return rows;
}

/**
 * Compares the functions of a release with the current ones. A function of that release still runs against a database
 * that was upgraded, and an app has its own calls: what they call must stay. @returns one sentence for each change that
 * is not additive
 */
export function breakingChanges(released: readonly Rpc[], current: readonly Rpc[]): string[] {
  return released.flatMap((before) => {
    const name = `public.${before.name}`;
    const [after, ...others] = current.filter((rpc) => rpc.name === before.name);
    if (after === undefined) return [`${name} was removed`];
    // A call names its parameters, so it could mean each of them.
    if (others.length > 0) return [`${name} exists more than once: drop the one with the old parameters`];
    return [
      ...before.parameters.flatMap((parameter) => parameterChange(name, parameter, after)),
      ...(isForPolicies(before) && after.parameters.length > before.parameters.length
        ? [`${name} has a new parameter: policies of apps call it, and Postgres can't replace it then`]
        : []),
      ...after.parameters
        .filter(({ name, isOptional }) => !isOptional && !before.parameters.some((known) => known.name === name))
        .map((added) => `${name} has the new parameter ${added.name} without a default`),
      ...(before.returns === after.returns ? [] : [`${name} returns ${after.returns} instead of ${before.returns}`]),
      ...before.callers.filter((role) => !after.callers.includes(role)).map((role) => `${role} may not call ${name}`),
    ];
  });
}

/** Whether an app's policies may call a function: another list of parameters needs a drop, which a policy prevents. */
function isForPolicies({ callers }: Rpc): boolean {
  return callers.includes('authenticated');
}

function parameterChange(name: string, before: Rpc['parameters'][number], { parameters }: Rpc): string[] {
  const after = parameters.find((parameter) => parameter.name === before.name);
  if (after === undefined) return [`${name} has no parameter ${before.name} any more`];
  if (after.type !== before.type) {
    return [`The parameter ${before.name} of ${name} is ${after.type} instead of ${before.type}`];
  }
  return before.isOptional && !after.isOptional ? [`The parameter ${before.name} of ${name} has lost its default`] : [];
}
