/** The scripts whose letters change with their neighbours: their blocks of Unicode, and their tags in OpenType. */
const scripts = {
  arabic: [0x600, 0x6ff, 'Arab'],
  devanagari: [0x900, 0x97f, 'Deva'],
  bengali: [0x980, 0x9ff, 'Beng'],
  gurmukhi: [0xa00, 0xa7f, 'Guru'],
  gujarati: [0xa80, 0xaff, 'Gujr'],
  oriya: [0xb00, 0xb7f, 'Orya'],
  tamil: [0xb80, 0xbff, 'Taml'],
  telugu: [0xc00, 0xc7f, 'Telu'],
  kannada: [0xc80, 0xcff, 'Knda'],
  malayalam: [0xd00, 0xd7f, 'Mlym'],
} as const;

export type Script = keyof typeof scripts;

const names = Object.keys(scripts) as Script[];

// The joiners belong to the syllable that they are in. Numbers are written from left to right, also in Arabic.
const numbers = '\\u0660-\\u0669\\u06f0-\\u06f9';
const runs = new RegExp(
  `([${numbers}]+|${
    names.map((name) => {
      const [first, last] = scripts[name];
      const block = `(?![${numbers}])[${escape(first)}-${escape(last)}`;
      return `${block}](?:${block}\\u200c\\u200d])*`;
    }).join('|')
  })`,
);

const number = new RegExp(`^[${numbers}]`);

/** The tag of a script in OpenType, as a number. */
export function tagOf(script: Script): number {
  return [...scripts[script][2]].reduce((tag, letter) => tag << 8 | letter.charCodeAt(0), 0);
}

/** Whether a run of the script is written from right to left. */
export function isRightToLeft(script: Script, run: string): boolean {
  return script === 'arabic' && !number.test(run);
}

/** The scripts of a text that need a shaper. */
export function scriptsOf(text: string): Set<Script> {
  if (!/[\u0600-\u0d7f]/.test(text)) return new Set(); // the usual text
  return new Set(splitByScript(text).flatMap((run) => scriptOf(run) ?? []));
}

/** Splits a text into runs of one of the scripts and one direction, and what is between them. */
export function splitByScript(text: string): string[] {
  return text.split(runs).filter((run) => run !== '');
}

/** The script of a run; undefined for one that is drawn letter by letter. */
export function scriptOf(run: string): Script | undefined {
  const first = run.charCodeAt(0);
  return names.find((name) => first >= scripts[name][0] && first <= scripts[name][1]);
}

function escape(codePoint: number): string {
  return `\\u${codePoint.toString(16).padStart(4, '0')}`;
}
