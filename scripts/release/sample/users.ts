/** The users of the sample. The other files of this folder have their acts. */
const names = [
  'asha',
  'bela',
  'chand',
  'dev',
  'esha',
  'farid',
  'gita',
  'hari',
  'isha',
  'jaya',
  'kiran',
  'lata',
  'mohan',
  'nora',
  'omar',
  'pia',
  'qadir',
  'rhea',
  'sara',
  'tara',
  'uma',
  'vani',
  'wali',
  'xena',
  'yash',
  'zara',
  'zoya',
] as const;

export type UserName = (typeof names)[number];

/** The id of a user, the same in every release. */
export function userId(name: UserName): string {
  return `aaaaaaaa-0000-4000-8000-${String(names.indexOf(name) + 1).padStart(12, '0')}`;
}

/** The e-mail address of a user. */
export function emailOf(name: UserName): string {
  return `${name}@example.com`;
}
