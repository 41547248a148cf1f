const ENTER = ['\r', '\n'];
const ERASE = ['\b', '\x7f'];

/** Asks on stderr, and reads a line from stdin without showing it. @throws Error at the end of the input */
export async function readPassword(question: string): Promise<string> {
  const show = (text: string) => Deno.stderr.writeSync(new TextEncoder().encode(text));
  show(question);
  const isTerminal = Deno.stdin.isTerminal();
  if (isTerminal) Deno.stdin.setRaw(true, { cbreak: true });
  let typed = '';
  try {
    for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
      for (const key of text) {
        if (ENTER.includes(key)) return typed;
        typed = ERASE.includes(key) ? typed.slice(0, -1) : typed + key;
      }
    }
  } finally {
    if (isTerminal) Deno.stdin.setRaw(false);
    show('\n');
  }
  throw new Error('No password was given');
}
