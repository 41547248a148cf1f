/** A statement of a file of SQL. */
export type Statement = {
  /** With the comments before it. */
  readonly text: string;
  /**
   * For patterns: in lower case, without comments and the semicolon at its end, with single spaces. Names lose
   * the quotes that they do not need. Literals and bodies of functions are empty.
   */
  readonly code: string;
};

const token =
  /(?<comment>--[^\n]*|\/\*(?:[^*/]|\*(?!\/)|\/(?!\*)|\/\*[^]*?\*\/)*\*\/)|(?<literal>\$(?<tag>\w*)\$[^]*?\$\k<tag>\$|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')|"(?<name>[^"]*)"|\bbegin\s+atomic\b|\b(?:case|end)\b|;/gi;

/** Splits SQL at the semicolons that end a statement. Knows quotes, dollar quotes, comments and `begin atomic`. */
export function splitStatements(sql: string): Statement[] {
  const statements: Statement[] = [];
  let [start, last, depth, code] = [0, 0, 0, ''];
  const endStatement = (end: number) => {
    const tidy = code.replace(/\s+/g, ' ').trim().toLowerCase();
    if (tidy !== '') statements.push({ text: sql.slice(start, end).trim(), code: tidy });
    [start, code] = [end, ''];
  };
  for (const { 0: found, index, groups = {} } of sql.matchAll(token)) {
    code += sql.slice(last, index);
    last = index + found.length;
    if (groups.comment !== undefined) code += ' ';
    else if (groups.literal !== undefined) code += "''";
    else if (groups.name !== undefined) code += /[^a-z0-9_]/.test(groups.name) ? found : groups.name;
    else if (found === ';' && depth === 0) endStatement(last);
    else {
      code += found;
      // The body of a function in standard SQL has semicolons. Each `case` in it has an `end`.
      if (/^begin/i.test(found) || depth > 0 && /^case/i.test(found)) depth += 1;
      if (depth > 0 && /^end/i.test(found)) depth -= 1;
    }
  }
  code += sql.slice(last);
  endStatement(sql.length);
  return statements;
}

/** What a statement creates: `{ kind: 'function', name: 'billing.clock' }`. Undefined: it creates nothing that has a schema. */
export function createdBy({ code }: Statement): { kind: string; name: string } | undefined {
  const [, kind, name] =
    /^create (?:or replace |unique )*(function|view|table|type|index|trigger) ([\w.]+)/.exec(code) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

/** The statement as one that may replace an earlier function or view. */
export function orReplace({ text }: Statement): string {
  return text.replace(/^create (function|view)/im, 'create or replace $1');
}

/** The names with a schema that a statement mentions outside of literals and bodies. */
export function namesIn({ code }: Statement): string[] {
  return code.match(/\b[a-z_]\w*\.[a-z_]\w*/g) ?? [];
}
