/**
 * The scripts whose letters change with their neighbours: the first character of their block of Unicode, which has 128,
 * and their tags in OpenType.
 */
const scripts = {
  devanagari: [0x900, 'Deva'],
  bengali: [0x980, 'Beng'],
  gurmukhi: [0xa00, 'Guru'],
  gujarati: [0xa80, 'Gujr'],
  oriya: [0xb00, 'Orya'],
  tamil: [0xb80, 'Taml'],
  telugu: [0xc00, 'Telu'],
  kannada: [0xc80, 'Knda'],
  malayalam: [0xd00, 'Mlym'],
} as const;

export type Script = keyof typeof scripts;

const names = Object.keys(scripts) as Script[];

// The joiners belong to the syllable that they are in.
const runs = new RegExp(
  `(${
    names.map((name) => {
      const block = `${escape(scripts[name][0])}-${escape(scripts[name][0] + 127)}`;
      return `[${block}][${block}\\u200c\\u200d]*`;
    }).join('|')
  })`,
);

/** The tag of a script in OpenType, as a number. */
export function tagOf(script: Script): number {
  return [...scripts[script][1]].reduce((tag, letter) => tag << 8 | letter.charCodeAt(0), 0);
}

/** The scripts of a text that need a shaper. */
export function scriptsOf(text: string): Set<Script> {
  return new Set(splitByScript(text).flatMap((run) => scriptOf(run) ?? []));
}

/** Splits a text into runs of one of the scripts, and what is between them. */
export function splitByScript(text: string): string[] {
  return text.split(runs).filter((run) => run !== '');
}

/** The script of a run; undefined for one that is drawn letter by letter. */
export function scriptOf(run: string): Script | undefined {
  const first = run.charCodeAt(0);
  return names.find((name) => first >= scripts[name][0] && first < scripts[name][0] + 128);
}

function escape(codePoint: number): string {
  return `\\u${codePoint.toString(16).padStart(4, '0')}`;
}
