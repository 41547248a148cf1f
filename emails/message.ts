/** The content of a mail. HTML and plain text are both rendered from it, so they can't differ. */
export type Message = {
  readonly subject: string;
  /** What an inbox shows beside the subject. */
  readonly preview: string;
  readonly heading: string;
  /** May be empty. */
  readonly displayName: string;
  readonly body: string;
  readonly details: readonly Detail[];
  /** The mail's only button; `url` is absolute, http or https. */
  readonly action: { readonly label: string; readonly url: string };
  /** The last paragraph, in small print. */
  readonly note: string;
};

/** A row of the table of facts. */
export type Detail = { readonly label: string; readonly value: string };
