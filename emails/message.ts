/** What a mail says. Its HTML and its plain text are both made from this, so that they can't say different things. */
export type Message = {
  readonly subject: string;
  /** What an inbox shows beside the subject. */
  readonly preview: string;
  readonly heading: string;
  /** May be empty. */
  readonly displayName: string;
  readonly body: string;
  readonly details: readonly Detail[];
  /** The one thing to do next; `url` is absolute, http or https. */
  readonly action: { readonly label: string; readonly url: string };
  /** Said last, in small print. */
  readonly note: string;
};

/** A fact and its name. */
export type Detail = { readonly label: string; readonly value: string };
