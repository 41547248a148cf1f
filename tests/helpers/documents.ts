import { root } from '../../scripts/stack/root.ts';
import { documentsBelow } from '../../scripts/check/documents.ts';

/** A block of code of a document. `mark`: why it is not run, from `<!-- not run: … -->` before it. */
export type Block = { document: string; code: string; mark: string | undefined };

/** All blocks of a language in the documents, in their order. */
export async function blocksOf(language: string): Promise<Block[]> {
  const fence = new RegExp(
    `(?:<!-- not run: (?<mark>.*?) -->\\s*)?^(?<indent> *)\`\`\`${language}\\n(?<code>[^]*?)^ *\`\`\`$`,
    'gm',
  );
  const blocks = (await documentsBelow(root)).map(async (path) =>
    [...(await Deno.readTextFile(path)).matchAll(fence)].map(({ groups = {} }) => ({
      document: path.slice(root.length + 1),
      code: (groups.code ?? '').replaceAll(`\n${groups.indent}`, '\n'),
      mark: groups.mark,
    }))
  );
  return (await Promise.all(blocks)).flat();
}
