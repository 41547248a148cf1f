const mit = /Permission is hereby granted, free of charge, to any person obtaining a copy/;

/** The accepted licences, by name, each with a sentence of its text. */
const permissive: Readonly<Record<string, RegExp>> = {
  MIT: mit,
  'MIT-0': mit,
  'MIT AND OFL-1.1': /SIL Open Font License, Version 1\.1/i,
  ISC: /Permission to use, copy, modify, and(?:\/or)? distribute this software .*provided that the above copyright/,
  '0BSD': /Permission to use, copy, modify, and\/or distribute this software .*with or without fee is hereby granted\./,
  'BSD-2-Clause': /Redistribution and use in source and binary forms, with or without modification, are permitted/,
  'BSD-3-Clause': /Neither the name of/,
  'Apache-2.0': /Apache License,? Version 2\.0/,
  'BlueOak-1.0.0': /Blue Oak Model License/,
  Unlicense: /This is free and unencumbered software released into the public domain/,
};

/** A text that adds a condition of these is not permissive. */
const restricted = /General Public Licen[cs]e|Commons Clause/i;

/** Packages without a usual licence file: where the text is. Checked by hand for this version. */
const elsewhere: Readonly<Record<string, string>> = {
  // Licences of the fonts; the other one is of code that is not used.
  '@expo-google-fonts/noto-sans@0.4.2': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-arabic@0.4.3': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-bengali@0.4.4': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-gujarati@0.4.2': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-gurmukhi@0.4.1': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-kannada@0.4.3': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-malayalam@0.4.2': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-oriya@0.4.2': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-tamil@0.4.3': 'LICENSE_FONT',
  '@expo-google-fonts/noto-sans-telugu@0.4.2': 'LICENSE_FONT',
  'pg-types@2.2.0': 'README.md',
  'pgpass@1.0.5': 'README.md',
  'standardwebhooks@1.1.1': 'https://github.com/standard-webhooks/standard-webhooks/blob/main/libraries/LICENSE',
};

/** Whether a licence of this name is permissive. */
export function isPermissive(name: string): boolean {
  return Object.hasOwn(permissive, name);
}

/**
 * Reads the licence of an installed package.
 * @param id `<name>@<version>`
 * @param stated the licence that the package states
 * @returns where its text is, or what is wrong with it.
 */
export async function readLicence(
  folder: string,
  id: string,
  stated: string,
): Promise<{ place: string } | { problem: string }> {
  if (!isPermissive(stated)) return { problem: `${id} states the licence ${stated}, which is not permissive` };
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).toSorted();
  const place = elsewhere[id] ?? names.find((name) => /^(?:licen[cs]e|copying)\b/i.test(name));
  if (place === undefined) return { problem: `${id} has no licence file` };
  if (place.startsWith('https:')) return { place };
  const text = (await Deno.readTextFile(`${folder}/${place}`)).replace(/\s+/g, ' ');
  const isAsStated = permissive[stated]?.test(text) && !restricted.test(text);
  return isAsStated ? { place } : { problem: `${place} of ${id} is not the licence ${stated} that it states` };
}
