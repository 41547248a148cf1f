/** Keys and password of the projects that the tests start. The local stack makes its own at random. */
export const localPassword = 'postgres';

export const localKeys = {
  publishable: 'sb_publishable_of_the_tests',
  secret: 'sb_secret_of_the_tests',
  /** Lite requires at least 32 characters. */
  jwtSecret: 'signs-the-sessions-of-the-projects-of-the-tests',
} as const;
