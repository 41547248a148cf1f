import { Buffer } from 'node:buffer';
import { inflateSync } from 'node:zlib';
import { buildReceiptFonts } from '../generate/receipt-fonts.ts';
import { root } from '../stack/root.ts';

/** Checks that the fonts of receipts and their shaper are those of the packages. @returns one line for each that is not. */
export async function checkReceiptFonts(): Promise<string[]> {
  const problems: string[] = [];
  for (const [file, text] of await buildReceiptFonts()) {
    if (inflated(await Deno.readTextFile(file)) !== inflated(text)) {
      problems.push(`${file.slice(root.length + 1)} does not match its packages: run \`npm run generate\``);
    }
  }
  return problems;
}

/** The compression is not the same on all systems. */
function inflated(module: string): string {
  return module.replace(/(?<== ')[^']+/g, (base64) => inflateSync(Buffer.from(base64, 'base64')).toString('latin1'));
}
